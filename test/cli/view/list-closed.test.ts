/** Tests what `ferry list` shows of a migration whose workflow has ended abnormally. */
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();

test('a migration that was closed after its workflow had been terminated waits for nobody', async () => {
  const { id, until: untilProgress } = await startTestMigration(orchestrator, 'list-closed', ['sbx-ok-1']);
  await untilProgress(({ state }) => state === 'waiting');
  const line = async () => {
    const { json } = await runJson(orchestrator, 'list');
    return (json['migrations'] as { migrationId: string; state: string }[]).find((each) => each.migrationId === id);
  };
  await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
  await until(async () => (await line())?.state === 'terminated');
  expect(await line()).toMatchObject({ step: 'supply-details', waitingFor: 'support', onHoldSince: null });
  await ferry(['sweep', '--close', id, '--yes'], undefined, orchestrator.env);
  await until(async () => (await line())?.state === 'cancelled');
  expect(await line()).toMatchObject({ step: 'supply-details', waitingFor: 'nobody' });
});
