/** Notices to a webhook when a migration has stopped. */
import { randomBytes } from 'node:crypto';
import { Secret } from '../../../security';
import {
  startMisbehavingService,
  json,
  failing,
  type MisbehavingService,
} from '../../company-data-client/misbehaving-service';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestrator();
let receiver: MisbehavingService;
beforeAll(async () => {
  receiver = await startMisbehavingService();
  receiver.answer(failing(503, 'later'), json(200, {}));
  const target = { url: receiver.url, secret: new Secret(randomBytes(32).toString('base64')) };
  await orchestrator.startWorker({ webhook: { target } });
});
afterAll(() => receiver.close());

const notices = () =>
  receiver.arrived.map(({ body, headers }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { waitingFor: string[]; step: string } };
    return { type, step: data.step, waitingFor: data.waitingFor, id: headers['webhook-id'] };
  });

test('the notice of a migration that pauses itself is retried even after the migration has been resumed', async () => {
  const migration = await startTestMigration(orchestrator, 'reminded', ['sbx-other-application.reminded']);
  await migration.readyToMove();
  await migration.until(({ pause }) => pause?.stopReason === 'application-refused');
  expect(await migration.send('resume', { ...SUPPORT })).toBe('applied');
  await until(() => notices().length >= 2);
  const [first, again] = notices();
  expect(first).toMatchObject({ type: 'tokenferry.stopped', step: 'migrate-first-company', waitingFor: ['support'] });
  // The id stays the same, so that a receiver can recognize the repetition.
  expect(again?.id).toBe(first?.id);
});
