/** Tests that a sign-off waits for companies that are being moved, for example because they were reconnected. */
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { updateRow } from '../../support/migrations/ledger';
import { startTestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();

test('a sign-off is not sent while the ledger shows a company as moving, although the counts are older', async () => {
  const tokens = ['sbx-ok-10.so1', 'sbx-short-3-of-10.so2'];
  const migration = await startTestMigration(orchestrator, 'moving-sign-off', tokens, 10);
  const { id } = migration;
  await migration.readyToComplete();
  await migration.until(({ counts }) => counts.failed === 1 && counts.moved === 1);
  const nextCheck = new Date(Date.now() + 3_600_000);
  await updateRow(orchestrator.ferry.db, id, 2, { state: 'syncing', failure: null, next_check_at: nextCheck });
  const { exitCode, out, err } = await ferry(['sign-off', id, '--by', 'Sam', '--yes'], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain('  1 of 2 companies moved\n  Being moved now: 1 company (R-2)\n');
  expect(err).toBe(
    `ferry: the handover cannot be signed off while companies are being moved: 1 company (R-2); nothing was decided; wait for the outcome with: ferry watch ${id} --until-decision\n`,
  );
});
