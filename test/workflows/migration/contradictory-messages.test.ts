/**
 * Contradictory decisions that reach a migration together. They are sent while no worker is running, so that the next
 * worker gets them all in one workflow task, in order.
 */
import { readOutcome } from '../../../store';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import type { RunningWorker } from '../../../worker';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const orchestrator = useOrchestrator();
let worker: RunningWorker;
beforeAll(async () => {
  worker = await orchestrator.startWorker();
});

/** Temporal waits a few seconds for the stopped worker before it gives the task to the new worker. */
const APPLIED_WITHIN_MS = 40_000;

type Sent = readonly [message: DecisionMessage, fields: Readonly<Record<string, unknown>>];

/**
 * Sends decisions while no worker is running, and then starts a worker.
 *
 * @returns whether each decision was applied, and its text
 */
async function sendTogether(
  { id }: TestMigration,
  ...sent: readonly Sent[]
): Promise<readonly (readonly [boolean, string])[]> {
  const handle = orchestrator.ferry.temporal.workflow.getHandle(id);
  // Waits for pending activities, because an activity whose worker is stopped would be retried only minutes later.
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
const result = ({ id }: TestMigration): Promise<unknown> => orchestrator.ferry.temporal.workflow.getHandle(id).result();
const cancel: Sent = ['cancel', { ...SUPPORT, reason: 'the client has changed its mind' }];

/** Returns a migration in step 2, with a proposed start that support has approved. */
async function withProposedStart(client: string): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: '2099-01-01T00:00Z', ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  return migration;
}

const TIME_APPROVED: Sent = ['approve', { step: 'schedule', ...CLIENT }];
const TIME_REJECTED: Sent = ['reject', { step: 'schedule', ...SUPPORT, reason: 'not that week' }];

test('a start that is approved and then rejected must be proposed again', async () => {
  const migration = await withProposedStart('approve-reject');
  expect(applied(await sendTogether(migration, TIME_APPROVED, TIME_REJECTED))).toEqual([true, true]);
  const { step, proposal } = await migration.until(({ waitingFor }) => waitingFor.what === 'propose a start time');
  expect([step, proposal]).toEqual(['schedule', null]);
  // A later approval applies to the new proposal.
  await migration.send('proposeTime', { startAt: '2099-01-02T00:00Z', ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  expect(await migration.send('approve', { step: 'schedule', ...CLIENT })).toBe('applied');
  await migration.until(({ step: now }) => now === 'update-application');
});

test('a start that has been rejected cannot be approved', async () => {
  const migration = await withProposedStart('reject-approve');
  const [, approval] = await sendTogether(migration, TIME_REJECTED, TIME_APPROVED);
  expect(approval).toEqual([false, 'there is no start time to approve; propose one first']);
  expect((await migration.until(() => true)).step).toBe('schedule');
});

test('the last of several pauses and resumes takes effect', async () => {
  const migration = await withProposedStart('pause-resume');
  const pause: Sent = ['pause', { ...CLIENT, reason: 'tea' }];
  const resume: Sent = ['resume', CLIENT];
  expect(applied(await sendTogether(migration, pause, resume))).toEqual([true, true]);
  await migration.until(({ state }) => state === 'waiting');
  expect(applied(await sendTogether(migration, resume, pause, resume, pause))).toEqual([false, true, true, true]);
  await migration.until(({ state }) => state === 'paused');
  const { paused } = await orchestrator.ferry.db
    .selectFrom('migrations')
    .select('paused')
    .where('id', '=', migration.id)
    .executeTakeFirstOrThrow();
  expect(paused).toBe(true);
});

/** Returns a migration in step 5 whose first company has been moved and whose second company is waiting. */
async function withFirstCompanyMoved(client: string): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`, `sbx-ok-1.${client}2`]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
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
])('the other companies are not moved if the first company is %s', async (order, sent, wereApplied) => {
  const migration = await withFirstCompanyMoved(order.startsWith('approved') ? 'first-ar' : 'first-ra');
  expect(applied(await sendTogether(migration, ...sent))).toEqual(wereApplied);
  const held = await migration.until(({ waitingFor }) => waitingFor.what.includes('R-9'));
  expect(held).toMatchObject({ step: 'migrate-first-company', counts: { moved: 1, waiting: 1 } });
});

test.each([
  ['after the last sign-off', false, [true, true]],
  ['before the last sign-off', true, [true, false]],
])(
  'a migration that is cancelled %s, in the same workflow task, ends as cancelled',
  async (when, cancelFirst, wereApplied) => {
    const migration = await startTestMigration(orchestrator, cancelFirst ? 'cancel-sign' : 'sign-cancel', [
      `sbx-ok-1.${cancelFirst}`,
    ]);
    await migration.readyToMove();
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
    await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    await migration.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
    await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
    const signature: Sent = ['approve', { step: 'complete-migration', ...CLIENT }];
    const both = cancelFirst ? [cancel, signature] : [signature, cancel];
    expect([when, applied(await sendTogether(migration, ...both))]).toEqual([when, wereApplied]);
    expect(await result(migration)).toMatchObject({ ending: 'cancelled', counts: { moved: 1 } });
  },
);

test('a decision that expires before a worker is running is refused', async () => {
  const migration = await withProposedStart('lapsed');
  const validForMs = (ms: number) => ({ validUntil: new Date(Date.now() + ms).toISOString() });
  const [expired, valid] = await sendTogether(
    migration,
    ['approve', { step: 'schedule', ...CLIENT, ...validForMs(1) }],
    ['approve', { step: 'schedule', ...CLIENT, ...validForMs(600_000) }],
  );
  expect(expired).toEqual([
    false,
    expect.stringMatching(/^this decision expired at .*, before a worker could apply it$/),
  ]);
  expect(valid).toEqual([true, 'step 2 (schedule the migration) approved by client']);
});
