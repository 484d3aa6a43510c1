import { WorkflowUpdateFailedError } from '@temporalio/client';
import { readOutcome } from '../../store';
import type { Outcome } from '../../domain/decision';
import { progressQuery } from '../../workflows/messages';
import { until } from '../support/conditions';
import type { Orchestrator } from '../support/orchestrator';
import { startOrchestrator } from '../support/orchestrator';
import { started, SUPPORT } from './started';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
});
afterAll(() => orchestrator.close());

test('an update answers with what became of the decision, a refusal included, and rejects what is malformed', async () => {
  const migration = await started(orchestrator, 'updated', ['sbx-ok-1.updated']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const update = (input: unknown) => handle.executeUpdate<Outcome, [unknown]>('approve', { args: [input] });

  await expect(update({ step: 'schedule', ...SUPPORT })).resolves.toMatchObject({
    applied: false,
    text: 'schedule is not open yet: the migration is at step 1, supply-details',
  });
  await expect(update({ step: 'supply-details', role: 'boss', by: 'Sam' })).rejects.toThrow(WorkflowUpdateFailedError);
  await expect(update({ step: 'supply-details', ...SUPPORT })).resolves.toMatchObject({ applied: true });
});

test('a message that nobody can read is refused under its id, and the migration lives on', async () => {
  const migration = await started(orchestrator, 'malformed', ['sbx-ok-1.malformed']);
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

test('a decision sent twice counts once, and stands once in the audit trail', async () => {
  const migration = await started(orchestrator, 'twice', ['sbx-ok-1.twice']);
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

test('current details say who is waited for, and search attributes follow', async () => {
  const migration = await started(orchestrator, 'described', ['sbx-ok-1.described']);
  await migration.until(({ preflight }) => preflight !== null);
  const handle = orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toContain('**Waiting for:** support: accept the supplied details');
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

/** What `read` gives once it is no longer null. */
async function readUntil<T>(read: () => Promise<T | null>): Promise<T> {
  let value: T | null = null;
  await until(async () => (value = await read()) !== null);
  if (value === null) throw new Error('until came back too early');
  return value;
}
