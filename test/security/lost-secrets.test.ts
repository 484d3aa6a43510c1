/** If a vault secret is lost, the migration says what to do, and continues once its credentials are supplied again. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { countCompanies, readMigration } from '../../store';
import { ferry } from '../cli/captured-terminal';
import { until } from '../support/async';
import { useOrchestratorWithWorker } from '../support/servers/orchestrator';
import { CLIENT, startTestMigration, type TestMigration } from '../workflows/running-migration';

const orchestrator = useOrchestratorWithWorker();

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

/** Starts a migration and removes its vault secret once the vault is open. */
async function startWithLostSecret(client: string): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, ['sbx-ok-1', 'sbx-ok-1']);
  await migration.until(({ preflight, checking }) => preflight !== null && !checking);
  const folder = orchestrator.config.vaultSecrets;
  const prefix = createHash('sha256').update(migration.id).digest('hex').slice(0, 32);
  const files = readdirSync(folder).filter((name) => name.startsWith(prefix));
  expect(files).toHaveLength(1);
  for (const name of files) rmSync(path.join(folder, name));
  return migration;
}

test('says that the secret is lost, moves nothing, and continues after the vault was renewed', async () => {
  const migration = await startWithLostSecret('lost-secret');
  await migration.readyToMove();
  const message = `Retrying: The sealed credentials of ${migration.id} cannot be opened`;
  await until(async () => (await run('show', migration.id)).out.includes(message));
  expect(await countCompanies(orchestrator.ferry.db, migration.id)).toMatchObject({ waiting: 2, failed: 0 });

  expect((await run('vault', 'renew', 'unknown.xero', '--yes')).err).toBe(
    'ferry: there is no migration unknown.xero; list all migrations with: ferry list\n',
  );
  expect(await run('vault', 'renew', migration.id, '--yes')).toMatchObject({ exitCode: 0, err: '' });
  const again = await run('vault', 'renew', migration.id, '--yes');
  expect(again.exitCode).toBe(1);
  expect(again.err).toContain(`the vault of ${migration.id} can be opened, so it was not renewed`);

  for (const reference of ['R-1', 'R-2']) await migration.supply(reference, 'sbx-ok-1');
  expect(await migration.send('credentialsSupplied', { companies: 2, ...CLIENT })).toBe('applied');
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

test('can be cancelled and closed', async () => {
  const migration = await startWithLostSecret('lost-and-cancelled');
  expect(await migration.send('cancel', { reason: 'the secret is lost', ...CLIENT })).toBe('applied');
  await until(async () => {
    const stored = await readMigration(orchestrator.ferry.db, migration.id);
    return stored?.vaultDestroyedAt instanceof Date;
  });
});
