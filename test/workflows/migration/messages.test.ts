import { WorkflowUpdateFailedError } from '@temporalio/client';
import { sql } from 'kysely';
import { readDecisions, readOutcome, readTrail } from '../../../store';
import type { Outcome } from '../../../domain/migration/decision';
import { progressQuery } from '../../../workflows/messages';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

test('an update returns the outcome of a decision, even a refusal, and rejects a malformed message', async () => {
  const migration = await startTestMigration(orchestrator, 'updated', ['sbx-ok-1.updated']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const update = (input: unknown) => handle.executeUpdate<Outcome, [unknown]>('approve', { args: [input] });

  await expect(update({ step: 'schedule', ...SUPPORT })).resolves.toMatchObject({
    applied: false,
    text: 'step 2 (schedule the migration) is not open yet: the migration is at step 1 (supply details)',
  });
  await expect(update({ step: 'supply-details', role: 'boss', by: 'Sam' })).rejects.toThrow(WorkflowUpdateFailedError);
  await expect(update({ step: 'supply-details', ...SUPPORT })).resolves.toMatchObject({ applied: true });
});

test('a decision is in the ledger before its sender gets the outcome', async () => {
  const migration = await startTestMigration(orchestrator, 'recorded-first', ['sbx-ok-1.recorded']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  for (let times = 0; times < 5; times += 1) {
    const { decisionId } = await handle.executeUpdate<Outcome, [unknown]>('pause', { args: [SUPPORT] });
    expect(await readOutcome(orchestrator.ferry.db, migration.id, decisionId)).toMatchObject({ applied: true });
    await handle.executeUpdate<Outcome, [unknown]>('resume', { args: [SUPPORT] });
  }
});

test('the sender gets an answer even while the ledger cannot be written, and the decision is recorded later', async () => {
  const { db, temporal } = orchestrator.ferry;
  const migration = await startTestMigration(orchestrator, 'locked-ledger', ['sbx-ok-1.locked']);
  await migration.until(({ preflight }) => preflight !== null);
  const began = Date.now();
  await db.transaction().execute(async (transaction) => {
    await sql`lock table decisions in exclusive mode`.execute(transaction);
    expect(await migration.send('pause', { reason: 'ledger', ...SUPPORT })).toMatch(/is not in the ledger yet/);
    expect(await readDecisions(db, migration.id)).toEqual([]);
  });
  expect(Date.now() - began).toBeLessThan(10_000);
  await expect(
    temporal.workflow.getHandle(migration.id).executeUpdate<Outcome, [unknown]>('resume', { args: [SUPPORT] }),
  ).resolves.toMatchObject({ applied: true });
  expect((await readDecisions(db, migration.id)).map(({ decision }) => decision.kind)).toEqual(['pause', 'resume']);
});

test('a malformed message is refused under its id, and the migration continues', async () => {
  const migration = await startTestMigration(orchestrator, 'malformed', ['sbx-ok-1.malformed']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  for (const nonsense of [
    null,
    'approve',
    7,
    [],
    { decisionId: 'd-1', step: 'supply-details', role: 'boss', by: 'x' },
  ]) {
    await handle.signal('approve', nonsense);
  }
  const outcome = await handle.query<Outcome | null, [unknown]>('outcome', { decisionId: 'd-1' });
  expect(outcome).toMatchObject({ applied: false, text: 'role must be client or support' });
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});

test('the migration continues after undecodable and unknown messages', async () => {
  const migration = await startTestMigration(orchestrator, 'undecodable', ['sbx-ok-1.undecodable']);
  const { temporal, db } = orchestrator.ferry;
  await migration.until(({ preflight }) => preflight !== null);
  const signal = (signalName: string, encoding: string, data: string) =>
    temporal.workflowService.signalWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId: migration.id },
      signalName,
      input: { payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }] },
    });
  await signal('approve', 'json/plain', '{"step": "supply-det');
  await signal('approve', 'binary/unheard-of', '\u0000\u0001');
  await signal('cancel', 'binary/null', '');
  await signal('batchProgress', 'json/plain', '"all done"');
  await signal('approveEverything', 'json/plain', '{}');

  const unreadable = await readUntil(async () => {
    const trail = [];
    for await (const { decision, outcome } of readTrail(db, migration.id))
      trail.push({ ...decision, text: outcome.text });
    return trail.length === 3 ? trail : null;
  });
  expect(unreadable.map(({ kind, by, text }) => ({ kind, by, text }))).toEqual([
    { kind: 'unreadable', by: null, text: 'the message cannot be decoded' },
    { kind: 'unreadable', by: null, text: 'the message cannot be decoded' },
    { kind: 'unreadable', by: null, text: 'the message must be an object' },
  ]);
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
});

test('a message that was copied from another migration is refused', async () => {
  const [source, target] = await Promise.all(
    ['copied-from', 'copied-to'].map((name) => startTestMigration(orchestrator, name, [`sbx-ok-1.${name}`])),
  );
  if (!source || !target) throw new Error('no migrations');
  const { temporal, db } = orchestrator.ferry;
  await target.until(({ preflight }) => preflight !== null);
  await temporal.workflow.getHandle(source.id).signal('pause', { reason: 'tea', ...SUPPORT });
  // A signal that arrives during a workflow task appears in the history when the task has ended.
  const input = await readUntil(async () => {
    const { events } = await temporal.workflow.getHandle(source.id).fetchHistory();
    const signals = events?.map((event) => event.workflowExecutionSignaledEventAttributes);
    return signals?.find((signal) => signal?.signalName === 'pause')?.input ?? null;
  });
  await temporal.workflowService.signalWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId: target.id },
    signalName: 'pause',
    input,
  });
  expect(await kindsInTrail(target.id, 1)).toEqual(['unreadable']);
  for await (const { outcome } of readTrail(db, target.id))
    expect(outcome.text).toMatch(/copied from another migration/);
  expect((await target.until(() => true)).state).toBe('waiting');
});

test('a message that is too large is refused, and the migration continues', async () => {
  const migration = await startTestMigration(orchestrator, 'oversized', ['sbx-ok-1.oversized']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const references = Array.from({ length: 100_000 }, (_, index) => `company-${index}-of-a-very-long-list`);
  await expect(handle.signal('confirmSyncDisabled', { companies: references, ...CLIENT })).rejects.toThrow();
  await handle.signal('confirmSyncDisabled', { decisionId: 'd-1', companies: references.slice(0, 1_001), ...CLIENT });
  await handle.signal('pause', { decisionId: 'd-2', reason: 'x'.repeat(1_000_000), ...CLIENT });
  const answer = (decisionId: string) => handle.query<Outcome | null, [unknown]>('outcome', { decisionId });
  expect(await answer('d-1')).toMatchObject({
    applied: false,
    text: '"companies" must be a list of at most 1,000 references; split it into several messages',
  });
  expect(await answer('d-2')).toMatchObject({
    applied: false,
    text: 'reason must be text that is not blank, at most 2,000 characters, without invisible control characters',
  });
  expect((await migration.until(({ preflight }) => preflight !== null)).state).toBe('waiting');
});

/** Waits until the audit trail contains this many decisions, and returns their kinds. */
async function kindsInTrail(id: string, decisions: number): Promise<readonly string[]> {
  return readUntil(async () => {
    const trail: string[] = [];
    for await (const { decision } of readTrail(orchestrator.ferry.db, id)) trail.push(decision.kind);
    return trail.length === decisions ? trail : null;
  });
}

test('values that cannot be stored or processed are refused, and the migration continues', async () => {
  const migration = await startTestMigration(orchestrator, 'unstorable', ['sbx-ok-1.unstorable']);
  await migration.until(({ preflight }) => preflight !== null);
  const onMars = { days: ['mon'], from: '22:00', to: '05:00', timeZone: 'Mars/Base' };
  for (const [message, sent] of [
    ['pause', { reason: 'a NUL: \0', ...SUPPORT }],
    ['pause', { role: 'support', by: 'Sam\0' }],
    ['exclude', { companies: ['R-1', '\ud83d'], reason: 'sold', ...CLIENT }],
    ['adjust', { limits: { '\0': 1 }, ...SUPPORT }],
    ['adjust', { limits: { windows: [onMars] }, ...SUPPORT }],
    ['proposeTime', { startAt: '2099-01-01T00:00Z', windows: [onMars], ...SUPPORT }],
  ] as const) {
    expect(await migration.send(message, sent)).toMatch(/^refused: /);
  }
  // Even a start in a thousand years is accepted.
  expect(await migration.send('proposeTime', { startAt: '3026-01-01T00:00Z', ...SUPPORT })).toBe('applied');
  expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
  await migration.until(({ step }) => step === 'schedule');
  expect(await kindsInTrail(migration.id, 8)).toEqual([
    ...Array.from({ length: 6 }, () => 'unreadable'),
    'time',
    'step',
  ]);
});

test('a message that is corrected under the same id is applied, and the audit trail contains both', async () => {
  const migration = await startTestMigration(orchestrator, 'corrected', ['sbx-ok-1.corrected']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  await handle.signal('pause', { decisionId: 'p-1', role: 'boss', by: 'Sam' });
  await handle.signal('pause', { decisionId: 'p-1', ...SUPPORT });
  await migration.until(({ state }) => state === 'paused');
  expect((await kindsInTrail(migration.id, 2)).toSorted()).toEqual(['pause', 'unreadable']);
});

test('a decision that is sent twice is applied and recorded once', async () => {
  const migration = await startTestMigration(orchestrator, 'twice', ['sbx-ok-1.twice']);
  const { temporal, db } = orchestrator.ferry;
  const handle = temporal.workflow.getHandle(migration.id);
  const pause = { decisionId: 'pause-1', reason: 'tea', ...SUPPORT };
  await handle.signal('pause', pause);
  await handle.signal('pause', pause);
  await migration.until(({ state }) => state === 'paused');
  await expect(readUntil(() => readOutcome(db, migration.id, 'pause-1'))).resolves.toMatchObject({ applied: true });
  const trail = await db
    .selectFrom('decisions')
    .select('decision_id')
    .where('migration_id', '=', migration.id)
    .execute();
  expect(trail).toHaveLength(1);
});

test('the descriptions of decisions that only the client makes in self-service say so', async () => {
  const migration = await startTestMigration(orchestrator, 'explained', ['sbx-ok-1.explained']);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const { definition } = await handle.query<{
    definition: { updateDefinitions: readonly { name: string; description: string }[] };
  }>('__temporal_workflow_metadata');
  const inSelfService = definition.updateDefinitions.filter(({ description }) =>
    description.includes('in self-service "client"'),
  );
  expect(inSelfService.map(({ name }) => name).toSorted()).toEqual(['adjust', 'exclude', 'relink', 'retry', 'skip']);
});

test('current details and search attributes show who has to act', async () => {
  const migration = await startTestMigration(orchestrator, 'described', ['sbx-ok-1.described']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toContain('**Waiting for:** support, since ');
  expect(metadata.currentDetails).toContain('accept the supplied details');
  await handle.query(progressQuery);
  const described = await readUntil(async () => {
    const { searchAttributes } = await handle.describe();
    return searchAttributes['FerryCompaniesTotal']?.[0] === 1 ? searchAttributes : null;
  });
  expect(described).toMatchObject({
    FerryStep: ['supply-details'],
    FerryState: ['waiting'],
    FerryWaitingFor: ['support'],
    FerryCompaniesTotal: [1],
  });
});

/** Reads until the result is not null, and returns the result. */
async function readUntil<T>(read: () => Promise<T | null>): Promise<T> {
  let value: T | null = null;
  await until(async () => (value = await read()) !== null);
  if (value === null) throw new Error('`until` returned too early');
  return value;
}
