/**
 * Notices to a webhook when a migration has stopped or has waited for the client, and the waits that they are about.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { Secret } from '../../../security';
import {
  startMisbehavingService,
  json,
  failing,
  type MisbehavingService,
} from '../../company-data-client/misbehaving-service';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT, timerSummaries } from '../running-migration';

const orchestrator = useOrchestrator();
let receiver: MisbehavingService;
beforeAll(async () => {
  receiver = await startMisbehavingService();
  receiver.answer(failing(503, 'later'), json(200, {}));
  const target = { url: receiver.url, secret: new Secret(randomBytes(32).toString('base64')) };
  await orchestrator.startWorker({ webhook: { target } });
});
afterAll(() => receiver.close());

const HOUR_MS = 3_600_000;

interface Data {
  readonly step: string;
  readonly waitingFor: readonly string[];
  readonly since: string;
}

const notices = () =>
  receiver.arrived.map(({ body, headers }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: Data };
    return { type, ...data, id: headers['webhook-id'] };
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

test('a decision in self-service neither ends the wait nor restarts its reminders', async () => {
  const limits = { remindWhileStale: { firstAfterMs: 5000, everyMs: HOUR_MS, escalateAfterMs: HOUR_MS } };
  const options = { route: 'self-service', limits } as const;
  const migration = await startTestMigration(orchestrator, 'waited', ['sbx-ok-1.waited'], null, options);
  const { waitingSince } = await migration.until(({ waitingFor }) => waitingFor.roles.includes('client'));
  expect(waitingSince).not.toBeNull();
  expect(await migration.send('resume', CLIENT)).toMatch(/^refused: /);
  expect(await migration.until((progress) => progress.waitingSince !== null)).toMatchObject({ waitingSince });
  expect(await timerSummaries(orchestrator, migration.id)).toEqual(['Until a reminder is due']);

  // The reminder becomes due while a decision cannot be recorded. It is sent once the decision has been recorded.
  const { db, temporal } = orchestrator.ferry;
  const isReminded = (): boolean => notices().some(({ type }) => type === 'tokenferry.reminder');
  const sent = await db.transaction().execute(async (transaction) => {
    await sql`lock table decisions in exclusive mode`.execute(transaction);
    const answer = migration.send('resume', CLIENT);
    await until(async () => {
      const { events } = await temporal.workflow.getHandle(migration.id).fetchHistory();
      return (events ?? []).some(({ timerFiredEventAttributes }) => timerFiredEventAttributes);
    });
    await migration.until(({ waitingFor }) => waitingFor.roles.length === 0);
    expect(isReminded()).toBe(false);
    return { answer };
  });
  expect(await sent.answer).toMatch(/^refused: /);
  await until(isReminded);
  const reminder = notices().find(({ type }) => type === 'tokenferry.reminder');
  expect(reminder).toMatchObject({ step: 'self-service', waitingFor: ['client'], since: waitingSince });
});
