/** Tests what `ferry vault renew` and `ferry vault rotate` say about credentials and keys. */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import type { Route } from '../../../platforms/platforms';
import { createVaultKeyWrapper, createVaultSecretFolder, parseMasterKeys, Secret } from '../../../security';
import {
  createInvitation,
  openMigration,
  openVault,
  stageCredentials,
  supplyCredentials,
  supplyMigration,
} from '../../../store';
import { createTemporaryFolder } from '../../../stack/folders';
import { credentialOf, manifestRows, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';
import { ferry } from '../captured-terminal';

const ledger = useLedger();
const KEY = randomBytes(32).toString('base64');
const env = (): NodeJS.ProcessEnv => ({
  ...{ TOKENFERRY_HOME: createTemporaryFolder(), DATABASE_URL: ledger.url },
  ...{ TOKENFERRY_MASTER_KEY: KEY, TOKENFERRY_VAULT_SECRETS: ledger.secrets },
});

async function createMigration(route: Route = 'managed', rotating = false): Promise<string> {
  const migration = suppliedMigration({ rotating, route });
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  const keys = createVaultKeyWrapper(parseMasterKeys(new Secret(KEY)), createVaultSecretFolder(ledger.secrets));
  await openVault(ledger.db, keys, migration.id);
  return migration.id;
}

async function renew(id: string, more: NodeJS.ProcessEnv = {}): Promise<string> {
  for (const name of readdirSync(ledger.secrets)) if (name !== 'folder.id') rmSync(`${ledger.secrets}/${name}`);
  const { exitCode, out, err } = await ferry(['vault', 'renew', id, '--yes'], undefined, { ...env(), ...more });
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
    `Have the client export its credentials again, and supply them with: ferry credentials ${id} new-credentials.csv --as client --by "your name"`,
  );
});

const replaceWith = (id: string) => `ferry replace-credential ${id} `;

/** The advice is conditional, because a company whose connection is already linked is moved without its credential. */
const conditional = (id: string) =>
  `If a company is not moved because its credential is unreadable, replace the credential with: ${replaceWith(id)}`;

test('renew asks for no export of a credential that might have been sent', async () => {
  const id = await createMigration();
  await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  await updateRow(ledger.db, id, 1, { authorization_sent_at: new Date() });
  const out = await renew(id);
  expect(out).toContain('0 credentials deleted.');
  expect(out).toContain('1 credential was kept as a record');
  expect(out).toContain(
    'If a company that is waiting to be moved has no credential, have the client supply one with: ',
  );
  expect(out).toContain(conditional(id));
  expect(out).not.toMatch(/must be|export/);
});

test('renew asks for no credential that would not be stored, because no company is confirmed', async () => {
  const id = await createMigration('managed', true);
  await ledger.db.updateTable('migrations').set({ paused: true }).where('id', '=', id).execute();
  const out = await renew(id);
  expect(out).toContain('The client has no credentials to supply until it has confirmed that syncing is off.\n');
  expect(out).not.toContain('ferry credentials');
  expect(out).toMatch(new RegExp(`The migration is paused\\. Resume it with: ferry resume ${id}\n$`));
  const supply = () => supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  expect(await supply()).toMatchObject({ stored: [] });
  await updateRow(ledger.db, id, 1, { confirmed_at: new Date(0), confirmed_by: 'Cleo' });
  expect(await renew(id)).toContain(`has no credential, have the client supply one with: ferry credentials ${id} `);
  expect(await supply()).toMatchObject({ stored: ['c1'] });
});

test('renew asks for an export of a kept credential that was not sent yet', async () => {
  const id = await createMigration();
  await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  await ledger.db.updateTable('credentials').set({ supersedes: true }).where('migration_id', '=', id).execute();
  const out = await renew(id);
  expect(out).toContain(
    `1 kept credential belongs to a company that is waiting to be moved, and was not sent yet, so it must be supplied again.\nHave the client export its credentials again, and supply them with: ferry credentials ${id} new-credentials.csv --as client --by "your name"\n`,
  );
  // Without rotating tokens, a waiting company accepts a credential in every step with the command that renew prints.
  const supplied = await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  expect(supplied.stored).toEqual(['c1']);
});

test('renew counts deleted replacements as credentials, and asks for an export of these', async () => {
  const id = await createMigration();
  await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  await updateRow(ledger.db, id, 1, { state: 'failed', failure: 'reauthorization-required' });
  for (const decisionId of ['first', 'second'])
    await stageCredentials(ledger.db, id, credentials(), 'Cleo', { decisionId, replaces: true });
  const out = await renew(id);
  expect(out).toContain('2 credentials deleted.');
  expect(out).toContain(
    `2 of the deleted credentials were replacements for other credentials. Have the client export these replacements again, and supply them with: ${replaceWith(id)}new-credentials.csv --as client --by "your name"\n`,
  );
  expect(out).not.toContain('must be');
});

test('renew names the portal if the client signs its decisions there', async () => {
  const id = await createMigration();
  const publicKey = 'ab'.repeat(32);
  await ledger.db
    .updateTable('migrations')
    .set({
      decision_rules: JSON.stringify({
        ...{ fourEyes: false, requireDigest: false },
        approvers: [{ role: 'client', by: 'Cleo', publicKey }],
      }),
    })
    .where('id', '=', id)
    .execute();
  const guest = { migrationId: id, person: 'Cleo', role: 'client' as const, createdBy: 'Sam' };
  const { id: invitation } = await createInvitation(ledger.db, {
    ...guest,
    email: null,
    expiresAt: new Date(Date.now() + 60_000),
  });
  await ledger.db
    .updateTable('portal_invitations')
    .set({ public_key: publicKey, redeemed_at: new Date() })
    .where('id', '=', invitation)
    .execute();
  await stageCredentials(ledger.db, id, credentials(), 'Cleo', { decisionId: 'd', replaces: false });
  expect(await renew(id)).toContain('ferry --portal "address of the portal" credentials');
  await stageCredentials(ledger.db, id, credentials(), 'Cleo', { decisionId: 'e', replaces: false });
  expect(await renew(id, { TOKENFERRY_PORTAL_URL: 'https://portal.example' })).toContain(
    'ferry --portal https://portal.example credentials',
  );
});

test('in self-service, renew prints each command for the person who supplied the manifest', async () => {
  const id = await createMigration('self-service');
  await stageCredentials(ledger.db, id, credentials(), 'Cleo', { decisionId: 'd', replaces: true });
  const out = await renew(id);
  for (const command of ['credentials', 'replace-credential'])
    expect(out).toContain(`with: ferry ${command} ${id} new-credentials.csv --as client --by Cleo\n`);
});

test('renew ends with the command to resume the migration, if it is paused', async () => {
  const id = await createMigration();
  expect(await renew(id)).not.toContain('ferry resume');
  await ledger.db.updateTable('migrations').set({ paused: true }).where('id', '=', id).execute();
  expect(await renew(id)).toMatch(
    new RegExp(
      `The migration is paused\\. Once the credentials have been supplied, resume it with: ferry resume ${id}\n$`,
    ),
  );
});

test('renew asks for nothing if the migration has ended', async () => {
  const id = await createMigration();
  await supplyCredentials(ledger.db, id, credentials(), 'Cleo');
  await ledger.db
    .updateTable('migrations')
    .set({ state: 'closed', ending: 'cancelled', paused: true })
    .where('id', '=', id)
    .execute();
  expect(await renew(id)).toBe(
    `The vault of ${id} has a new key. 1 credential deleted.\nThe migration has ended, so nothing has to be supplied again. A worker destroys the remaining credentials.\n`,
  );
});

test('rotate says to keep older master keys while the secret of a vault is missing', async () => {
  const before = new Set(readdirSync(ledger.secrets));
  const id = await createMigration();
  const [secret = ''] = readdirSync(ledger.secrets).filter((name) => !before.has(name) && name !== 'folder.id');
  rmSync(`${ledger.secrets}/${secret}`);
  await createMigration();
  const masterKeys = `${randomBytes(32).toString('base64')},${KEY}`;
  const { out } = await ferry(['vault', 'rotate'], undefined, { ...env(), TOKENFERRY_MASTER_KEY: masterKeys });
  expect(out).toContain('Older master keys no longer open these vaults in this database,\n');
  expect(out).toContain(
    'Keep older master keys until the following vaults have been restored and rotated, or have been renewed.\n! The',
  );
  expect(out).toContain(`! The vault secret of ${id} is missing`);
  expect(out).toContain(
    `ferry vault rotate\n  Otherwise, pause the migration with: ferry pause ${id}; wait a minute, and renew the vault with: ferry vault renew ${id}\n`,
  );
});

test('without a terminal, renew says that it has not renewed the vault', async () => {
  const { exitCode, err } = await ferry(['vault', 'renew', 'acme.xero'], undefined, env());
  expect(exitCode).toBe(1);
  expect(err).toContain('; the vault was not renewed; if you agree, run the command again with --yes');
});
