/** Tests `ferry sweep`, which cleans up after migrations that were terminated with Temporal's own tools. */
import type { UpdateObject } from 'kysely';
import { closeWorkflowIdOf, scheduleIdOf } from '../../../domain/migration/temporal-names';
import { readDecisions, readMigration } from '../../../store';
import type { Tables } from '../../../store/database/tables';
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { rowsWithCredential, readRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();

test('sweep reports a terminated migration, and --close closes it like a cancelled one', async () => {
  const migration = await startTestMigration(orchestrator, 'swept', ['sbx-ok-1.sw1', 'sbx-ok-1.sw2']);
  await migration.firstCompanyMoved();
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).terminate('a test');

  expect(await runJson(orchestrator, 'sweep')).toMatchObject({
    exitCode: 0,
    json: { open: [migration.id], closed: [] },
  });
  const { db } = orchestrator.ferry;
  expect(await readMigration(db, migration.id)).toMatchObject({ state: 'open', vaultDestroyedAt: null });
  expect(await rowsWithCredential(db, migration.id)).toEqual([2]);

  expect((await ferry(['sweep'], undefined, orchestrator.env)).out).toContain(
    `first run: ferry reconcile ${migration.id}\nTo close every open migration that is no longer running in Temporal, as if it had been cancelled, run: ferry sweep --close\n`,
  );
  const unconfirmed = await ferry(['sweep', '--close', '--by', 'Sam'], undefined, orchestrator.env);
  expect(unconfirmed.exitCode).toBe(1);
  expect(unconfirmed.err).toContain(
    `1 migration (${migration.id}) will be closed as if cancelled, and all credentials that are still stored for it will be destroyed; companies that have moved stay connected; nothing was closed or deleted; if you agree`,
  );
  expect(await readMigration(db, migration.id)).toMatchObject({ state: 'open' });
  expect(await runJson(orchestrator, 'sweep', '--close', '--yes', '--by', 'Sam')).toMatchObject({
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
    decision: { kind: 'cancel', by: 'Tokenferry', reason: expect.stringContaining('at the request of Sam') as string },
  });
  expect(await readRow(db, migration.id, 1)).toMatchObject({ state: 'moved' });
  expect(await runJson(orchestrator, 'sweep', '--close', '--yes')).toMatchObject({ json: { open: [], closed: [] } });
});

test('sweep --close with a migration closes only this migration', async () => {
  const [first, second] = [
    (await startTestMigration(orchestrator, 'closed-alone', ['sbx-ok-1.ca1'])).id,
    (await startTestMigration(orchestrator, 'kept-open', ['sbx-ok-1.ca2'])).id,
  ];
  const { db, temporal } = orchestrator.ferry;
  const run = (...args: string[]) => ferry(['sweep', ...args], undefined, orchestrator.env);
  for (const id of [first, second]) await until(async () => (await readMigration(db, id))?.state === 'open');
  expect((await run('--close', first, '--yes')).err).toBe(
    `ferry: ${first} is still running in Temporal; to see its state, run: ferry show ${first}\n`,
  );
  for (const id of [first, second]) await temporal.workflow.getHandle(id).terminate('a test');
  expect((await run(first)).out).toContain(`run: ferry sweep --close ${first}\n`);
  expect((await run('--close', `${first}x`, '--yes')).err).toContain(`there is no migration ${first}x; `);
  expect(await runJson(orchestrator, 'sweep', '--close', first, '--yes')).toMatchObject({
    json: { open: [], closed: [first] },
  });
  expect((await run(first)).err).toContain(
    `${first} is already closed; to see its outcome, run: ferry report ${first}`,
  );
  const set = (columns: UpdateObject<Tables, 'migrations'>) =>
    db.updateTable('migrations').set(columns).where('id', '=', second).execute();
  await set({ namespace: 'elsewhere' });
  expect((await run(second)).err).toContain(
    `${second} is in another namespace of Temporal: elsewhere; set TEMPORAL_NAMESPACE to elsewhere, and run`,
  );
  await set({ namespace: temporal.options.namespace, state: 'supplied' });
  expect((await run(second)).err).toContain(`no worker has begun ${second}, so there is nothing to close; `);
  await set({ state: 'open' });
  expect(await runJson(orchestrator, 'sweep')).toMatchObject({ json: { open: [second] } });
  expect(await runJson(orchestrator, 'sweep', '--close', '--yes')).toMatchObject({ json: { closed: [second] } });
});

test('sweep of one migration finishes its interrupted closing, and deletes the Schedule of a closed one', async () => {
  const { db, temporal } = orchestrator.ferry;
  const { id } = await startTestMigration(orchestrator, 'closing-interrupted', ['sbx-ok-1.ci1']);
  await until(async () => (await readMigration(db, id))?.state === 'open');
  await temporal.workflow.getHandle(id).terminate('a test');
  await db.updateTable('migrations').set({ state: 'closed', ending: 'completed' }).where('id', '=', id).execute();
  expect((await ferry(['sweep', id], undefined, orchestrator.env)).out).toBe(
    `${id} has ended, but its closing was interrupted: its organizations can join another migration, but its credentials have not been destroyed.\nTo destroy the credentials, run: ferry sweep --close ${id}\n`,
  );
  expect((await ferry(['sweep', '--close', id], undefined, orchestrator.env)).err).toContain(
    `the closing of 1 migration (${id}) will be finished, which does not change its outcome, and all credentials that are still stored for it will be destroyed; `,
  );
  expect(await runJson(orchestrator, 'sweep', '--close', id, '--yes')).toMatchObject({ json: { closed: [id] } });
  expect(await readMigration(db, id)).toMatchObject({
    ...{ ending: 'completed', vaultDestroyedAt: expect.any(Date) as Date },
  });

  const scheduleId = scheduleIdOf(id);
  await temporal.schedule.create({
    scheduleId,
    spec: {},
    action: { type: 'startWorkflow', workflowType: 'openWindow', taskQueue: 'nobody', args: [] },
  });
  await until(async () => {
    for await (const listed of temporal.schedule.list()) if (listed.scheduleId === scheduleId) return true;
    return false;
  });
  expect(await runJson(orchestrator, 'sweep', id)).toMatchObject({ json: { schedulesDeleted: [id], open: [] } });
});

test('sweep --close names the workflow that occupies the id of the closing workflow', async () => {
  const { workflow } = orchestrator.ferry.temporal;
  const { id } = await startTestMigration(orchestrator, 'occupied-closing', ['sbx-ok-1.oc1']);
  const { id: free } = await startTestMigration(orchestrator, 'unoccupied', ['sbx-ok-1.oc2']);
  for (const each of [id, free]) {
    await until(async () => (await readMigration(orchestrator.ferry.db, each))?.state === 'open');
    await workflow.getHandle(each).terminate('a test');
  }
  expect((await ferry(['sweep'], undefined, orchestrator.env)).out).toContain(
    `first reconcile each migration, beginning with: ferry reconcile ${id}\n`,
  );
  await orchestrator.ferry.db
    .updateTable('migrations')
    .set({ state: 'closed', ending: 'completed' })
    .where('id', '=', free)
    .execute();
  const listed = (await ferry(['sweep'], undefined, orchestrator.env)).out;
  expect(listed).toContain(`was restored or lost, first run: ferry reconcile ${id}\n`);
  expect(listed).toContain(
    'To close every open migration that is no longer running in Temporal, as if it had been cancelled, and to finish interrupted closings, run: ferry sweep --close\n',
  );
  expect((await ferry(['sweep', '--close'], undefined, orchestrator.env)).err).toContain(
    `1 migration (${id}) will be closed as if cancelled; the closing of 1 migration (${free}) will be finished, which does not change its outcome, and all credentials that are still stored for them will be destroyed; `,
  );
  const occupant = await workflow.start('x', { workflowId: closeWorkflowIdOf(id), taskQueue: 'nobody' });
  const { exitCode, out } = await ferry(['sweep', '--close', '--yes'], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain(`temporal workflow terminate --workflow-id ${id}.closing`);
  // The occupied id does not prevent the other migration from being closed.
  expect(out).toContain(`Closed ${free}.`);
  await occupant.terminate('a test');
  expect(await runJson(orchestrator, 'sweep', '--close', '--yes')).toMatchObject({ json: { closed: [id] } });
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

test('sweep says that the address can be wrong if Temporal does not have a migration that is open in the ledger', async () => {
  const { db, temporal } = orchestrator.ferry;
  const { id } = await startTestMigration(orchestrator, 'lost', ['sbx-ok-1.lo1']);
  await until(async () => (await readMigration(db, id))?.state === 'open');
  const { namespace } = temporal.options;
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId: id } });
  const swept = async (...options: string[]) => ferry(['sweep', ...options], undefined, orchestrator.env);
  await until(async () => (await swept()).out.includes(`The ledger has ${id}, but Temporal does not`));
  expect((await swept()).out).toContain(
    `The ledger has ${id}, but Temporal does not: its organizations cannot join another migration, and its credentials have not been destroyed.\nBefore you go on, check that TEMPORAL_ADDRESS names the Temporal of this migration. If the address is wrong, it can still be running.\nIf Temporal or the ledger was restored or lost, first run: ferry reconcile ${id}\n`,
  );
  expect((await swept('--close')).err).toContain(
    `1 migration (${id}) will be closed as if cancelled, and all credentials that are still stored for it will be destroyed; companies that have moved stay connected. Temporal does not have 1 migration (${id}): before you agree, check that TEMPORAL_ADDRESS names its Temporal; nothing was closed or deleted; if you agree`,
  );
});
