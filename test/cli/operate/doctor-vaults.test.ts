/** Tests that `ferry doctor` reports the vaults of open migrations that cannot be opened. */
import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import type { CheckResult } from '../../../cli/doctor';
import { createVaultKey } from '../../../security';
import { startTestMigration } from '../../workflows/running-migration';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

let orchestrator: OpenedOrchestrator;
const folder = temporaryFolder();
let id: string;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  const migration = await startTestMigration(orchestrator, 'sealed', ['sbx-ok-1.x1']);
  await migration.until(({ preflight }) => preflight !== null);
  ({ id } = migration);
});
afterAll(() => orchestrator.close());

async function checkVaults(changes: NodeJS.ProcessEnv = {}): Promise<readonly CheckResult[]> {
  const env = { ...orchestrator.env, TOKENFERRY_HOME: folder, ...changes };
  const { out } = await ferry(['doctor', '--json'], undefined, env);
  const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
  return checks.filter(({ check }) => check === 'vaults');
}

test('a vault whose secret is in its folder can be opened', async () => {
  expect(await checkVaults()).toEqual([{ check: 'vaults', verdict: 'ok', finding: 'this machine can open 1 vault' }]);
});

test('an open migration whose vault secret is missing is reported with what to do', async () => {
  const secrets = orchestrator.env['TOKENFERRY_VAULT_SECRETS'] ?? '';
  const files = readdirSync(secrets).filter((name) => name !== 'folder.id');
  for (const name of files) renameSync(path.join(secrets, name), path.join(folder, name));
  expect(await checkVaults()).toEqual([
    {
      check: 'vaults',
      verdict: 'problem',
      finding: `this machine cannot open the vault of ${id}; workers with the same keys and folder cannot move its companies`,
      advice: expect.stringMatching(
        `the file of their vault secret is missing: ${secrets}/${files[0]}. If you still have this file, put it back. Only if the file is lost, .*"ferry vault renew ${id}"`,
      ) as unknown,
    },
  ]);
  for (const name of files) renameSync(path.join(folder, name), path.join(secrets, name));
});

test('a replaced public key is reported with what to do', async () => {
  const { db } = orchestrator.ferry;
  const { key } = await db
    .selectFrom('migrations')
    .select('vault_public_key as key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const replace = (publicKey: Buffer | null) =>
    db.updateTable('migrations').set({ vault_public_key: publicKey }).where('id', '=', id).execute();
  await replace(createVaultKey().publicKey);
  expect(await checkVaults()).toMatchObject([
    {
      verdict: 'problem',
      finding: `this machine cannot open the vault of ${id}; workers with the same keys and folder cannot move its companies`,
      advice: expect.stringContaining('was altered or replaced in the database') as unknown,
    },
  ]);
  await replace(key);
});

test('a machine with another master key reports which key is missing', async () => {
  const other = randomBytes(32).toString('base64');
  expect(await checkVaults({ TOKENFERRY_MASTER_KEY: other })).toMatchObject([
    { verdict: 'problem', advice: expect.stringContaining('was encrypted under master key') as unknown },
  ]);
});

test('vaults are not checked on a machine without the master key', async () => {
  expect(await checkVaults({ TOKENFERRY_MASTER_KEY: '' })).toMatchObject([{ verdict: 'not-checked' }]);
});
