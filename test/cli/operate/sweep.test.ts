/** Tests `ferry sweep`, which cleans up after migrations that were terminated with Temporal's own tools. */
import { scheduleIdOf } from '../../../domain/migration/temporal-names';
import { readDecisions, readMigration } from '../../../store';
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/conditions';
import { rowsWithCredential, readRow } from '../../support/ledger';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
});
afterAll(() => orchestrator.close());

test('sweep reports a terminated migration, and --close closes it like a cancelled one', async () => {
  const migration = await startTestMigration(orchestrator, 'swept', ['sbx-ok-1.sw1', 'sbx-ok-1.sw2']);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).terminate('a test');

  expect(await runJson(orchestrator, 'sweep')).toMatchObject({
    exitCode: 0,
    json: { open: [migration.id], closed: [] },
  });
  const { db } = orchestrator.ferry;
  expect(await readMigration(db, migration.id)).toMatchObject({ state: 'open', vaultDestroyedAt: null });
  expect(await rowsWithCredential(db, migration.id)).toEqual([2]);

  expect((await ferry(['sweep'], undefined, orchestrator.env)).out).toContain('ferry sweep --close');
  expect(await runJson(orchestrator, 'sweep', '--close', '--by', 'Sam')).toMatchObject({
    exitCode: 0,
    json: { open: [], closed: [migration.id] },
  });
  expect(await readMigration(db, migration.id)).toMatchObject({
    ...{ state: 'closed', ending: 'cancelled' },
    vaultDestroyedAt: expect.any(Date) as Date,
  });
  expect(await rowsWithCredential(db, migration.id)).toEqual([]);
  expect((await ferry(['report', migration.id], undefined, orchestrator.env)).out).toMatch(
    /Destroyed[^\n]* was erased/,
  );
  expect((await readDecisions(db, migration.id)).at(-1)).toMatchObject({
    decision: { kind: 'cancel', by: 'Tokenferry', reason: expect.stringMatching(/named Sam$/) as string },
  });
  expect(await readRow(db, migration.id, 1)).toMatchObject({ state: 'moved' });
  expect(await runJson(orchestrator, 'sweep', '--close')).toMatchObject({ json: { open: [], closed: [] } });
});

test("sweep keeps another program's Schedule, even if its id looks like a migration's", async () => {
  const { schedule } = orchestrator.ferry.temporal;
  const foreignSchedule = await schedule.create({
    scheduleId: scheduleIdOf('foreign.quickbooks-online'),
    spec: {},
    action: { type: 'startWorkflow', workflowType: 'foreign', taskQueue: 'foreign', args: [] },
  });
  try {
    await until(async () => {
      for await (const { scheduleId } of schedule.list()) if (scheduleId === foreignSchedule.scheduleId) return true;
      return false;
    });
    expect(await runJson(orchestrator, 'sweep')).toMatchObject({ exitCode: 0, json: { schedulesDeleted: [] } });
    expect((await foreignSchedule.describe()).scheduleId).toBe(foreignSchedule.scheduleId);
  } finally {
    await foreignSchedule.delete();
  }
});
