import { createHmac, randomBytes } from 'node:crypto';
import { createNotifier } from '../../../activities';
import type { ActivityDeps } from '../../../activities/deps';
import { noticeActivities } from '../../../activities/migration/notices';
import type { Notice } from '../../../domain/progress/notices';
import { Secret } from '../../../security';
import { activityEnvironment } from '../../support/migrations/company-import';
import { createMovableMigration, manifestRows, useLedger } from '../../support/migrations/ledger';
import { json, startMisbehavingService } from '../../company-data-client/misbehaving-service';

const ledger = useLedger();
const KEY = randomBytes(32);
const SECRET = new Secret(`whsec_${KEY.toString('base64')}`);
const NOTICE: Notice = {
  kind: 'escalation',
  migrationId: 'acme.quickbooks-online',
  step: 'schedule',
  waitingFor: ['client'],
  what: 'approve the start',
  since: '2026-03-02T12:00:00.000Z',
};

function recordingLog() {
  const lines: unknown[][] = [];
  return {
    lines,
    info: (...line: unknown[]) => lines.push(['info', ...line]),
    warn: (...line: unknown[]) => lines.push(['warn', ...line]),
  };
}

test('a notice reaches the webhook with a signature of its id, time and body', async () => {
  const receiver = await startMisbehavingService();
  receiver.answer(json(200, {}));
  await createNotifier(recordingLog(), { url: receiver.url, secret: SECRET }).post(NOTICE, 'run.7');
  const [arrived] = receiver.arrived;
  const { body = '', headers = {} } = arrived ?? {};
  expect(JSON.parse(body)).toEqual({ type: 'tokenferry.escalation', data: NOTICE });
  const timestamp = String((headers as Record<string, unknown>)['webhook-timestamp']);
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(30);
  const expected = createHmac('sha256', KEY).update(`run.7.${timestamp}.${body}`).digest('base64');
  expect(headers).toMatchObject({ 'webhook-id': 'run.7', 'webhook-signature': `v1,${expected}` });
  await receiver.close();
});

test('the delivery of a notice fails if the webhook refuses it, so that it is retried', async () => {
  const receiver = await startMisbehavingService();
  receiver.answer(json(503, {}));
  const notifier = createNotifier(recordingLog(), { url: receiver.url, secret: SECRET });
  await expect(notifier.post(NOTICE, 'run.7')).rejects.toThrow('the webhook responded with status 503');
  await receiver.close();
});

test('notices go to the log if there is no webhook, urgent ones as warnings', async () => {
  const log = recordingLog();
  const notifier = createNotifier(log, undefined);
  await notifier.post(NOTICE, '1');
  await notifier.post({ ...NOTICE, kind: 'reminder' }, '2');
  expect(log.lines).toEqual([
    ['warn', NOTICE, 'notice: escalation'],
    ['info', { ...NOTICE, kind: 'reminder' }, 'notice: reminder'],
  ]);
});

test('a notice about a migration that is not in the ledger is not delivered', async () => {
  const delivered: Notice[] = [];
  const notices = { post: async (notice: Notice) => void delivered.push(notice) };
  const activities = noticeActivities({ db: ledger.db, notices } as unknown as ActivityDeps);
  const send = (notice: Notice) => activityEnvironment().run(() => activities.sendNotice(notice));
  await expect(send(NOTICE)).rejects.toThrow(/is not in the ledger/);
  const { id: migrationId } = await createMovableMigration(ledger, manifestRows(1));
  await send({ ...NOTICE, migrationId });
  expect(delivered).toMatchObject([{ migrationId }]);
});
