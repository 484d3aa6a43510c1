/** Tests that support reads names of other clients from the ledger, and that the workflow does not have them. */
import { randomUUID } from 'node:crypto';
import { queryProgress, readProgress } from '../../client';
import { recordPreflightTexts } from '../../store';
import { useOrchestratorWithWorker } from '../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../workflows/running-migration';

const orchestrator = useOrchestratorWithWorker();

test('a reader with the ledger sees the full texts, and can still approve what it has reviewed', async () => {
  const { ferry } = orchestrator;
  const migration = await startTestMigration(orchestrator, 'texts', ['sbx-ok-1.texts']);
  await migration.until(({ preflight }) => preflight !== null);
  const { preflight } = await queryProgress(ferry, migration.id, 10_000);
  if (!preflight) throw new Error('the details have been checked');
  const forClient = { problems: preflight.problems, warnings: preflight.warnings };
  await recordPreflightTexts(ferry.db, migration.id, { problems: [], warnings: ['used by kite.xero'], forClient });

  const progress = await readProgress(ferry, migration.id);
  expect(progress.preflight).toMatchObject({ warnings: ['used by kite.xero'], clientWarnings: preflight.warnings });
  expect(JSON.stringify(await queryProgress(ferry, migration.id, 10_000))).not.toContain('kite');
  const digest = progress.digests['supply-details'];
  const outcome = await migration.send('approve', {
    ...{ step: 'supply-details', digest, decisionId: randomUUID() },
    ...SUPPORT,
  });
  expect(outcome).toBe('applied');
});
