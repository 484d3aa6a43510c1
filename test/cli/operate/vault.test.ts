/** Tests what `ferry vault renew` says about the credentials that it has deleted or kept. */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { createVaultKeyWrapper, createVaultSecretFolder, parseMasterKeys, Secret } from '../../../security';
import { openMigration, openVault, stageCredentials, supplyCredentials, supplyMigration } from '../../../store';
import { createTemporaryFolder } from '../../../stack/folders';
import { credentialOf, manifestRows, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';
import { ferry } from '../captured-terminal';

const ledger = useLedger();
const KEY = randomBytes(32).toString('base64');
const env = (): NodeJS.ProcessEnv => ({
  ...{ TOKENFERRY_HOME: createTemporaryFolder(), DATABASE_URL: ledger.url },
  ...{ TOKENFERRY_MASTER_KEY: KEY, TOKENFERRY_VAULT_SECRETS: ledger.secrets },
});

async function createMigration(): Promise<string> {
  const migration = suppliedMigration({ rotating: false });
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  const keys = createVaultKeyWrapper(parseMasterKeys(new Secret(KEY)), createVaultSecretFolder(ledger.secrets));
  await openVault(ledger.db, keys, migration.id);
  return migration.id;
}

async function renew(id: string): Promise<string> {
  for (const name of readdirSync(ledger.secrets)) if (name !== 'folder.id') rmSync(`${ledger.secrets}/${name}`);
  const { exitCode, out, err } = await ferry(['vault', 'renew', id, '--yes'], undefined, env());
  expect({ exitCode, err }).toMatchObject({ exitCode: 0 });
  return out;
}

const credentials = () => manifestRows(1).map((row) => credentialOf(row));

test('renew asks for an export if it has deleted credentials whose decision was not applied yet', async () => {
  const id = await createMigration();
  await stageCredentials(ledger.db, id, credentials(), 'Cleo', { decisionId: 'd', replaces: false });
  const out = await renew(id);
  expect(out).toContain('1 credential deleted.');
  expect(out).toContain(
    `Have the client export its credentials again, and supply them with: ferry credentials ${id} credentials.csv`,
  );
});

test('renew asks for an export if a kept credential belongs to a company that is waiting', async () => {
  const id = await createMigration();
  await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  await updateRow(ledger.db, id, 1, { authorization_sent_at: new Date() });
  const out = await renew(id);
  expect(out).toContain('0 credentials deleted.');
  expect(out).toContain('1 credential was kept as a record');
  expect(out).toContain(
    `1 credential must be replaced before the companies can be moved. Have the client export it again, and replace it with: ferry replace-credential ${id}`,
  );
});
