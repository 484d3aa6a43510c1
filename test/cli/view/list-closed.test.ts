/** Tests what `ferry list` and `ferry exceptions` show of a migration whose workflow has ended abnormally. */
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();

async function lineOf(id: string) {
  const { json } = await runJson(orchestrator, 'list');
  return (json['migrations'] as { migrationId: string; state: string }[]).find((each) => each.migrationId === id);
}

test('a migration that was closed after its workflow had been terminated waits for nobody', async () => {
  const { id, until: untilProgress } = await startTestMigration(orchestrator, 'list-closed', ['sbx-ok-1']);
  await untilProgress(({ state }) => state === 'waiting');
  const line = () => lineOf(id);
  await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
  await until(async () => (await line())?.state === 'terminated');
  expect(await line()).toMatchObject({ step: 'supply-details', waitingFor: 'support', onHoldSince: null });
  await ferry(['sweep', '--close', id, '--yes'], undefined, orchestrator.env);
  await until(async () => (await line())?.state === 'cancelled');
  expect(await line()).toMatchObject({ step: 'supply-details', waitingFor: 'nobody' });
});

test('after its workflow was terminated, no migration waits for the end customer of a company', async () => {
  const { id, until: untilProgress } = await startTestMigration(orchestrator, 'exceptions-terminated', ['sbx-ok-1']);
  await untilProgress(({ state }) => state === 'waiting');
  const failed = { state: 'failed', failure: 'reauthorization-required', failure_text: 'refused' } as const;
  await updateRow(orchestrator.ferry.db, id, 1, { ...failed, relinking_since: new Date() });
  const exceptions = async () => (await ferry(['exceptions', id], undefined, orchestrator.env)).out;
  expect(await exceptions()).toContain('waiting for the end customer since');
  await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
  await until(async () => (await lineOf(id))?.state === 'terminated');
  expect(await exceptions()).toContain('The workflow has ended in Temporal');
  expect(await exceptions()).not.toContain('waiting for the end customer since');
});
