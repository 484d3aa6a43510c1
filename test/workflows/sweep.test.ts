/** The sweep closes migrations that were terminated with Temporal's own tools. */
import { Client, Connection, ScheduleNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { createWindowSchedules } from '../../activities';
import { scheduleIdOf, closeWorkflowIdOf } from '../../domain/migration/temporal-names';
import type { WindowOccurrence } from '../../domain/planning/windows';
import { readDecisions, readMigration, stopClaims } from '../../store';
import { createSweepSchedule } from '../../worker/sweep-schedule';
import { CLOSE_TERMINATED, sweepSchedule, TASK_QUEUE } from '../../workflows/messages';
import type { SweepOutcome } from '../../workflows/sweep';
import { until } from '../support/async';
import { rowsWithCredential } from '../support/migrations/ledger';
import { useOrchestrator } from '../support/servers/orchestrator';
import { CLIENT, startTestMigration } from './running-migration';

const orchestrator = useOrchestrator();
beforeAll(async () => {
  await Promise.all([orchestrator.startWorker(), orchestrator.startWorker()]);
});

const schedule = () => orchestrator.ferry.temporal.schedule;
const workflow = (id: string) => orchestrator.ferry.temporal.workflow.getHandle(id);
const sweeps = () => schedule().getHandle(sweepSchedule().scheduleId);
const ledger = (id: string) => readMigration(orchestrator.ferry.db, id);
const untilClosed = (id: string) => until(async () => (await ledger(id))?.vaultDestroyedAt instanceof Date);

/** Starts a migration and stores one credential in its vault. */
async function startWithCredential(client: string): Promise<string> {
  const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT })).toBe('applied');
  await until(async () => {
    await migration.supply('R-1', `sbx-ok-1.${client}`);
    return (await rowsWithCredential(orchestrator.ferry.db, migration.id)).length === 1;
  });
  return migration.id;
}

/** Triggers a sweep and returns its result. */
async function triggerSweep(): Promise<SweepOutcome> {
  const { numActionsTaken: before } = (await sweeps().describe()).info;
  await sweeps().trigger();
  await until(async () => (await sweeps().describe()).info.numActionsTaken > before);
  const [latest] = (await sweeps().describe()).info.recentActions.slice(-1);
  return (await workflow(latest?.action.workflow.workflowId ?? '').result()) as SweepOutcome;
}

async function createWindowSchedule(migrationId: string): Promise<void> {
  const [opensAt, closesAt] = [24, 25].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  await createWindowSchedules(schedule()).update(migrationId, [{ opensAt, closesAt } as WindowOccurrence]);
}

async function scheduleIds(): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { scheduleId } of schedule().list()) ids.push(scheduleId);
  return ids.sort();
}

test('several workers share one hourly sweep, which first runs an hour after the first worker starts', async () => {
  await until(async () => (await scheduleIds()).length > 0);
  expect(await scheduleIds()).toEqual([sweepSchedule().scheduleId]);
  const { info } = await sweeps().describe();
  expect(info.numActionsTaken).toBe(0);
  const [first, second] = info.nextActionTimes.map((at) => at.getTime());
  expect((second ?? 0) - (first ?? 0)).toBe(3_600_000);
  expect(((first ?? 0) - Date.now()) / 60_000).toBeGreaterThan(55);
});

test('a terminated migration is closed as cancelled by Tokenferry, and a running migration stays open', async () => {
  const [terminated, running] = [
    await startWithCredential('swept-terminated'),
    await startWithCredential('swept-running'),
  ];
  await createWindowSchedule(running);
  await workflow(terminated).terminate('a test');

  expect(await triggerSweep()).toEqual({ schedulesDeleted: [], closing: [terminated], unknown: [] });
  await untilClosed(terminated);
  expect(await ledger(terminated)).toMatchObject({ state: 'closed', ending: 'cancelled' });
  expect(await rowsWithCredential(orchestrator.ferry.db, terminated)).toEqual([]);
  const cancelled = (await readDecisions(orchestrator.ferry.db, terminated)).filter(
    ({ decision }) => decision.kind === 'cancel',
  );
  expect(cancelled).toMatchObject([
    { decision: { by: 'Tokenferry', reason: 'the migration was interrupted before it was complete' } },
  ]);

  expect(await triggerSweep()).toEqual({ schedulesDeleted: [], closing: [], unknown: [] });
  expect(await ledger(running)).toMatchObject({ state: 'open', vaultDestroyedAt: null });
  expect(await rowsWithCredential(orchestrator.ferry.db, running)).toEqual([1]);
  expect(await scheduleIds()).toContain(scheduleIdOf(running));
});

test('a migration that was terminated during its cancellation is closed as well', async () => {
  const id = await startWithCredential('swept-cancelling');
  await stopClaims(orchestrator.ferry.db, id);
  await workflow(id).terminate('a test');
  expect(await triggerSweep()).toMatchObject({ closing: [id], unknown: [] });
  await untilClosed(id);
  expect(await ledger(id)).toMatchObject({ ending: 'cancelled' });
});

test('closing a migration is not started again while it is in progress, but is started again after it has failed', async () => {
  const id = await startWithCredential('swept-twice');
  await workflow(id).terminate('a test');
  const options = { workflowId: closeWorkflowIdOf(id), taskQueue: 'nobody', args: [] };
  const stuck = await orchestrator.ferry.temporal.workflow.start(CLOSE_TERMINATED, options);
  expect(await triggerSweep()).toMatchObject({ closing: [id] });
  await stuck.terminate('a test');
  expect(await triggerSweep()).toMatchObject({ closing: [id] });
  await untilClosed(id);
});

// A migration can be unknown because the worker is connected to the wrong server.
test('a migration that Temporal does not know stays open', async () => {
  const id = await startWithCredential('swept-unknown');
  const { namespace } = orchestrator.config.temporal;
  await orchestrator.ferry.temporal.workflowService.deleteWorkflowExecution({
    ...{ namespace, workflowExecution: { workflowId: id } },
  });
  const isGone = (error: unknown) => error instanceof WorkflowNotFoundError;
  await until(() =>
    workflow(id)
      .describe()
      .then(() => false, isGone),
  );

  expect(await triggerSweep()).toMatchObject({ closing: [], unknown: [id] });
  expect(await ledger(id)).toMatchObject({ state: 'open', vaultDestroyedAt: null });
  expect(await rowsWithCredential(orchestrator.ferry.db, id)).toEqual([1]);
});

test('a sweep deletes the Schedule of a migration that has ended, but not a Schedule of another product', async () => {
  await createWindowSchedule('swept-gone.xero');
  await schedule().create({
    scheduleId: scheduleIdOf('another-product'),
    spec: { intervals: [{ every: '30 days' }] },
    action: { type: 'startWorkflow', workflowType: 'anotherProduct', taskQueue: TASK_QUEUE, args: [] },
  });
  await until(async () => (await scheduleIds()).filter((id) => /swept-gone|another/.test(id)).length === 2);

  expect(await triggerSweep()).toMatchObject({ schedulesDeleted: ['swept-gone.xero'] });
  const described = schedule().getHandle(scheduleIdOf('swept-gone.xero')).describe();
  await expect(described).rejects.toThrow(ScheduleNotFoundError);
  expect(await scheduleIds()).toContain(scheduleIdOf('another-product'));
});

test('the sweep Schedule stays paused when another worker starts', async () => {
  await sweeps().pause('paused by Sam');
  await until(async () => (await sweeps().describe()).state.paused);
  await (await orchestrator.startWorker()).stop();
  expect((await sweeps().describe()).state).toMatchObject({ paused: true, note: 'paused by Sam' });
});

test('scheduled sweeps close every migration that has been terminated since the last sweep', async () => {
  await sweeps().delete();
  await orchestrator.startWorker({}, { sweepEveryMs: 1_000 });
  for (const client of ['swept-first', 'swept-second']) {
    const id = await startWithCredential(client);
    await workflow(id).terminate('a test');
    await untilClosed(id);
  }
});

test('if the sweep Schedule cannot be created, the worker logs the command to use instead', async () => {
  const connection = await Connection.connect({ address: orchestrator.config.temporal.address });
  const { schedule: failingClient } = new Client({ connection, namespace: 'there-is-no-such-namespace' });
  const warnings: string[] = [];
  await createSweepSchedule(failingClient, 3_600_000, {
    warn: (_: unknown, text: string) => void warnings.push(text),
  } as never);
  expect(warnings).toEqual([
    expect.stringMatching(/; create it with: ferry setup; until then, find .* with: ferry sweep$/),
  ]);
  await connection.close();
});
