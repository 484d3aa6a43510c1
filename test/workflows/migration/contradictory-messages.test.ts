/**
 * Decisions that contradict one another and reach their migration in one moment: they were sent while no worker ran, and
 * the next one takes them together, in their order.
 */
import { readOutcome } from '../../../store';
import { until } from '../../support/conditions';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import type { RunningWorker } from '../../../worker';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import type { Started } from '../running-migration';
import { CLIENT, started, SUPPORT } from '../running-migration';

let orchestrator: Orchestrator;
let worker: RunningWorker;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  worker = await orchestrator.startWorker();
});
afterAll(() => orchestrator.close());

/** Temporal waits some seconds for the worker that is gone. */
const APPLIED_WITHIN_MS = 40_000;

type Sent = readonly [message: DecisionMessage, fields: Readonly<Record<string, unknown>>];

/** Sends them while no worker runs, and gives whether each was applied once one does, and what was said. */
async function atOnce({ id }: Started, ...sent: readonly Sent[]): Promise<readonly (readonly [boolean, string])[]> {
  const handle = orchestrator.ferry.temporal.workflow.getHandle(id);
  // What a worker that stops was about to do is given to the next one only after minutes.
  await until(async () => ((await handle.describe()).raw.pendingActivities ?? []).length === 0);
  await worker.stop();
  for (const [index, [message, fields]] of sent.entries()) {
    await handle.signal(message, { decisionId: `${id}/${sent.length}/${index}`, ...fields });
  }
  worker = await orchestrator.startWorker();
  const answers: (readonly [boolean, string])[] = [];
  for (const index of sent.keys()) {
    await until(async () => {
      const outcome = await readOutcome(orchestrator.ferry.db, id, `${id}/${sent.length}/${index}`);
      if (outcome) answers.push([outcome.applied, outcome.text]);
      return outcome !== null;
    }, APPLIED_WITHIN_MS);
  }
  return answers;
}

const applied = (answers: readonly (readonly [boolean, string])[]): readonly boolean[] => answers.map(([was]) => was);
const result = ({ id }: Started): Promise<unknown> => orchestrator.ferry.temporal.workflow.getHandle(id).result();
const cancel: Sent = ['cancel', { ...SUPPORT, reason: 'the client has changed its mind' }];

/** At step 2, with a time that support has approved already. */
async function proposed(client: string): Promise<Started> {
  const migration = await started(orchestrator, client, [`sbx-ok-1.${client}`]);
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: '2099-01-01T00:00Z', ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  return migration;
}

const TIME_APPROVED: Sent = ['approve', { step: 'schedule', ...CLIENT }];
const TIME_REJECTED: Sent = ['reject', { step: 'schedule', ...SUPPORT, reason: 'not that week' }];

test('the last approval of a time, and then its rejection: another time is proposed', async () => {
  const migration = await proposed('approve-reject');
  expect(applied(await atOnce(migration, TIME_APPROVED, TIME_REJECTED))).toEqual([true, true]);
  const { step, proposal } = await migration.until(({ waitingFor }) => waitingFor.what === 'propose a time to start');
  expect([step, proposal]).toEqual(['schedule', null]);
  // A later approval is a new decision, of what is proposed then.
  await migration.send('proposeTime', { startAt: '2099-01-02T00:00Z', ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  expect(await migration.send('approve', { step: 'schedule', ...CLIENT })).toBe('applied');
  await migration.until(({ step: now }) => now === 'update-application');
}, 120_000);

test('the rejection of a time, and then its approval: there is nothing to approve', async () => {
  const migration = await proposed('reject-approve');
  const [, approval] = await atOnce(migration, TIME_REJECTED, TIME_APPROVED);
  expect(approval).toEqual([false, 'no time has been proposed yet']);
  expect((await migration.until(() => true)).step).toBe('schedule');
}, 120_000);

test('paused and resumed, resumed and paused: what was said last counts', async () => {
  const migration = await proposed('pause-resume');
  const pause: Sent = ['pause', { ...CLIENT, reason: 'tea' }];
  const resume: Sent = ['resume', CLIENT];
  expect(applied(await atOnce(migration, pause, resume))).toEqual([true, true]);
  await migration.until(({ state }) => state === 'waiting');
  expect(applied(await atOnce(migration, resume, pause, resume, pause))).toEqual([false, true, true, true]);
  await migration.until(({ state }) => state === 'paused');
  const { paused } = await orchestrator.ferry.db
    .selectFrom('migrations')
    .select('paused')
    .where('id', '=', migration.id)
    .executeTakeFirstOrThrow();
  expect(paused).toBe(true);
}, 120_000);

/** At step 5, its first company moved; the second one waits. */
async function proven(client: string): Promise<Started> {
  const migration = await started(orchestrator, client, [`sbx-ok-1.${client}`, `sbx-ok-1.${client}2`]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'proven');
  return migration;
}

const FIRST_APPROVED: Sent = ['approve', { step: 'migrate-first-company', ...SUPPORT }];
const ANOTHER: Sent = [
  'reject',
  { step: 'migrate-first-company', next: 'another-company', company: 'R-9', reason: 'too small', ...SUPPORT },
];

test.each([
  ['approved, then rejected', [FIRST_APPROVED, ANOTHER], [true, true]],
  ['rejected, then approved', [ANOTHER, FIRST_APPROVED], [true, false]],
])(
  'the first company %s: the rest is not moved',
  async (order, sent, became) => {
    const migration = await proven(order.startsWith('approved') ? 'first-ar' : 'first-ra');
    expect(applied(await atOnce(migration, ...sent))).toEqual(became);
    const held = await migration.until(({ waitingFor }) => waitingFor.what.includes('R-9'));
    expect(held).toMatchObject({ step: 'migrate-first-company', counts: { migrated: 1, waiting: 1 } });
  },
  60_000,
);

test.each([
  ['cancelled after the last signature', false, [true, true]],
  ['cancelled before the last signature', true, [true, false]],
])(
  '%s, before anybody acted on it: it is cancelled, as was answered',
  async (when, first, became) => {
    const migration = await started(orchestrator, first ? 'cancel-sign' : 'sign-cancel', [`sbx-ok-1.${first}`]);
    await migration.readyToMove();
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'proven');
    await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    await migration.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
    await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
    const signature: Sent = ['approve', { step: 'complete-migration', ...CLIENT }];
    const both = first ? [cancel, signature] : [signature, cancel];
    expect([when, applied(await atOnce(migration, ...both))]).toEqual([when, became]);
    expect(await result(migration)).toMatchObject({ ending: 'cancelled', counts: { migrated: 1 } });
  },
  60_000,
);

test('a decision that waited for a worker until it was no longer valid is refused; one that is still valid counts', async () => {
  const migration = await proposed('lapsed');
  const inSoManyMs = (ms: number) => ({ validUntil: new Date(Date.now() + ms).toISOString() });
  const lapses = inSoManyMs(1);
  const [lapsed, counted] = await atOnce(
    migration,
    ['approve', { step: 'schedule', ...CLIENT, ...lapses }],
    ['approve', { step: 'schedule', ...CLIENT, ...inSoManyMs(600_000) }],
  );
  expect(lapsed).toEqual([false, expect.stringMatching(/^it was valid until .* and could not be applied before$/)]);
  expect(counted).toEqual([true, 'schedule approved by client']);
}, 120_000);
