/** Tests that neither the command nor the dashboard offers a rejected first company again if it was left out. */
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { startTerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestratorWithWorker();

test('a rejection of a first company that was left out offers only another company', async () => {
  const migration = await startTestMigration(orchestrator, 'left-out', ['sbx-ok-1.lo1', 'sbx-ok-1.lo2']);
  const { id } = migration;
  await migration.firstCompanyMoved();
  await updateRow(orchestrator.ferry.db, id, 1, { state: 'skipped' });
  const args = ['reject', id, '--company', 'R-1', '--reason', 'too small'];
  const another = `R-1 is the company that you reject, so it cannot be the other company to try; to try another company: ferry reject ${id} migrate-first-company --reason 'too small'`;
  expect((await ferry(args, undefined, orchestrator.env)).err).toBe(`ferry: ${another} --company R-2\n`);
  const options = ['--by', 'Sam', '--valid-until', '2099-12-01T09:00:00.000Z'];
  expect((await ferry([...args, ...options], undefined, orchestrator.env)).err).toBe(
    `ferry: ${another} ${options.join(' ')} --company R-2\n`,
  );

  const screen = startTerminalSession(['desk', '--by', 'Sam'], orchestrator.env, 80, 24);
  try {
    await screen.waitFor(`▸ ${id}`);
    screen.type('x');
    await screen.waitFor('What should be tried next?');
    await screen.waitFor('abandon the migration');
    expect(screen.lines().join('\n')).toContain('another company');
    expect(screen.lines().join('\n')).not.toContain('the same company again');
  } finally {
    screen.close();
  }
});
