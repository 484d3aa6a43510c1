/** Rotation of the master key, and renewal of a vault that can no longer be opened. */
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import {
  createVaultKeyWrapper,
  createVaultKey,
  createVaultSecretFolder,
  MigrationKeyInvalid,
  parseMasterKeys,
  providerFingerprint,
  SealBroken,
  Secret,
  UnknownMasterKey,
  VaultKeyMismatch,
  VaultSecretElsewhere,
  VaultSecretMissing,
  type VaultKeyWrapper,
} from '../../../security';
import { createSender } from '../../../security/hpke';
import { createTemporaryFolder } from '../../../stack/folders';
import {
  destroyVault,
  openVault,
  readMigration,
  readMigrationKey,
  readVault,
  renewVault,
  retryCompanies,
  rotateVaults,
  stageApplication,
  stageCredentials,
  supplyCredentials,
  supplyMigration,
  VaultUsable,
  type Database,
} from '../../../store';
import {
  suppliedMigration,
  credentialOf,
  openLedger,
  manifestRows,
  type Ledger,
} from '../../support/migrations/ledger';

let ledger: Ledger;
let db: Database;
beforeEach(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterEach(() => ledger.close());

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const withKeys = (...keys: string[]): VaultKeyWrapper => withFolder(ledger.secrets, keys.join(','));
const withFolder = (folder: string, keys: string): VaultKeyWrapper =>
  createVaultKeyWrapper(parseMasterKeys(new Secret(keys)), createVaultSecretFolder(folder));

/** Creates a migration of one company with a sealed credential. Its vault's key is wrapped by the old master key. */
async function createSealedUnderOld(): Promise<string> {
  const migration = suppliedMigration({ rotating: false });
  const rows = manifestRows(1);
  await supplyMigration(db, migration, rows);
  await openVault(db, withKeys(OLD), migration.id);
  const credentials = rows.map((row) => credentialOf(row));
  expect((await supplyCredentials(db, migration.id, credentials, 'Cleo')).stored).toEqual(['c1']);
  return migration.id;
}

async function storedOf(id: string) {
  const stored = db.selectFrom('credentials').select(['sealed', 'obtained_at as obtainedAt']);
  return { row: 1, reference: 'c1', ...(await stored.where('migration_id', '=', id).executeTakeFirstOrThrow()) };
}

const sealedOf = async (id: string): Promise<Buffer> => (await storedOf(id)).sealed;

const openAccessToken = async (keys: VaultKeyWrapper, id: string) =>
  (await readVault(db, keys, id)).open(await storedOf(id)).reveal()['accessToken'];

test('rewraps every open vault under the new key and leaves sealed credentials unchanged', async () => {
  const [one, other] = [await createSealedUnderOld(), await createSealedUnderOld()];
  const before = await sealedOf(one);
  expect(await rotateVaults(db, withKeys(NEW, OLD))).toEqual({ rewrapped: 2, unchanged: 0, lost: [] });
  expect(await sealedOf(one)).toEqual(before);
  for (const id of [one, other]) expect(await openAccessToken(withKeys(NEW), id)).toBe('access-1');
  await expect(openAccessToken(withKeys(OLD), one)).rejects.toThrow(UnknownMasterKey);
  expect(await rotateVaults(db, withKeys(NEW))).toEqual({ rewrapped: 0, unchanged: 2, lost: [] });
});

test('fails without the older key, names it, and changes nothing', async () => {
  const id = await createSealedUnderOld();
  await expect(rotateVaults(db, withKeys(NEW))).rejects.toThrow(withKeys(OLD).newestKeyId);
  expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
});

test('skips a destroyed vault', async () => {
  const id = await createSealedUnderOld();
  await destroyVault(db, withKeys(OLD), id);
  expect(await rotateVaults(db, withKeys(NEW, OLD))).toEqual({ rewrapped: 0, unchanged: 0, lost: [] });
  expect((await readMigration(db, id))?.vaultDestroyedAt).toBeInstanceOf(Date);
});

/** Returns the names of the secrets' files, without the file that identifies the folder. */
const secretFiles = (): readonly string[] => readdirSync(ledger.secrets).filter((name) => name !== 'folder.id');

/** Restores the vault's key columns, as a person with a backup or dead rows of the database can. */
const restoreKey = (id: string, key: Awaited<ReturnType<typeof keyColumns>>) =>
  db.updateTable('migrations').set(key).where('id', '=', id).execute();

const keyColumns = async (id: string) =>
  db
    .selectFrom('migrations')
    .select(['vault_public_key', 'vault_key_id', 'vault_secret_id', 'vault_wrapped_key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

test('makes every key that was wrapped by the older master key useless, even in copies of the database', async () => {
  const id = await createSealedUnderOld();
  const copy = await keyColumns(id);
  await rotateVaults(db, withKeys(NEW, OLD));
  expect(secretFiles()).toHaveLength(1);
  await restoreKey(id, copy);
  await expect(openAccessToken(withKeys(NEW, OLD), id)).rejects.toThrow(VaultSecretMissing);
});

test('erases the secrets that an interrupted rotation has left', async () => {
  const id = await createSealedUnderOld();
  await withKeys(NEW, OLD).wrap(id, new Secret(randomBytes(32)));
  expect(secretFiles()).toHaveLength(2);
  await rotateVaults(db, withKeys(OLD));
  expect(secretFiles()).toHaveLength(1);
  expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
});

const NONE = { deleted: 0, deletedReplacements: 0, kept: 0, keptWaiting: 0, deletedSecrets: 0 };

describe('a vault whose secret is lost', () => {
  test('is reported by a rotation, which continues with the other vaults', async () => {
    const lost = await createSealedUnderOld();
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    const kept = await createSealedUnderOld();
    expect(await rotateVaults(db, withKeys(NEW, OLD))).toEqual({ rewrapped: 1, unchanged: 0, lost: [lost] });
    expect(await openAccessToken(withKeys(NEW), kept)).toBe('access-1');
    await expect(openAccessToken(withKeys(OLD), lost)).rejects.toThrow(
      new RegExp(`ferry vault renew ${lost}.*supply its credentials again`),
    );
  });

  test('is renewed, so that the credentials can be supplied again', async () => {
    const id = await createSealedUnderOld();
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, deleted: 1 });
    await supplyCredentials(db, id, [credentialOf({ reference: 'c1', row: 1, organization: 'x' })], 'Cleo');
    expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
  });

  test('is not renewed while it can be opened, and no credential is deleted', async () => {
    const id = await createSealedUnderOld();
    await expect(renewVault(db, withKeys(OLD), id)).rejects.toThrow(VaultUsable);
    expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
  });

  test('keeps a credential that replaces another, which must be supplied again if it was not sent yet', async () => {
    const id = await createSealedUnderOld();
    await sql`update credentials set supersedes = true where migration_id = ${id}`.execute(db);
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, kept: 1, keptWaiting: 1 });
  });

  test('need not have a replacement supplied again that the service has accepted', async () => {
    const id = await createSealedUnderOld();
    await sql`update credentials set supersedes = true, crossed_at = now() where migration_id = ${id}`.execute(db);
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, kept: 1 });
  });

  test('keeps the credential of a company that was retried after the answer to its authorization was lost', async () => {
    const id = await createSealedUnderOld();
    await sql`
      update companies set state = 'outcome-unknown', authorization_sent_at = clock_timestamp()
      where migration_id = ${id}`.execute(db);
    expect(await retryCompanies(db, id, ['c1'])).toBe(1);
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    const before = await sealedOf(id);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, kept: 1 });
    expect(await sealedOf(id)).toEqual(before);
  });

  test('counts the credentials whose decision was not applied yet', async () => {
    const id = await createSealedUnderOld();
    const credentials = [credentialOf({ reference: 'c1', row: 1, organization: 'x' })];
    const provider = undefined;
    await stageCredentials(db, id, credentials, 'Cleo', { decisionId: 'supply', replaces: false, provider });
    await sql`
      update companies set state = 'failed', failure = 'credential-revoked' where migration_id = ${id}`.execute(db);
    await stageCredentials(db, id, credentials, 'Cleo', { decisionId: 'replace', replaces: true, provider });
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, deleted: 2, deletedReplacements: 1, kept: 1 });
  });

  test('deletes a client secret that was sealed with the old key and is not registered yet', async () => {
    const id = await createSealedUnderOld();
    const application = { clientId: 'app-1', environment: 'production', sealed: Buffer.from('sealed') } as const;
    await stageApplication(db, id, 'decision-1', application);
    for (const name of secretFiles()) rmSync(`${ledger.secrets}/${name}`);
    expect(await renewVault(db, withKeys(OLD), id)).toEqual({ ...NONE, deleted: 1, deletedSecrets: 1 });
  });
});

describe('a vault whose master key is missing on this machine', () => {
  test('is not renewed, because workers that have the key can still open its credentials', async () => {
    const id = await createSealedUnderOld();
    const renewal = renewVault(db, withKeys(NEW), id);
    await expect(renewal).rejects.toThrow(UnknownMasterKey);
    await expect(renewal).rejects.toThrow(`run "ferry vault renew ${id} --key-lost"`);
    await expect(renewVault(db, withKeys(NEW), id, { folderLost: true })).rejects.toThrow(UnknownMasterKey);
    expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
  });

  test('is renewed if the key is confirmed to be lost', async () => {
    const id = await createSealedUnderOld();
    expect(await renewVault(db, withKeys(NEW), id, { keyLost: true })).toMatchObject({ deleted: 1 });
    expect(secretFiles()).toHaveLength(1);
  });

  test('is not renewed with the key confirmed to be lost if it can be opened, or if its secret is in another folder', async () => {
    const id = await createSealedUnderOld();
    await expect(renewVault(db, withKeys(OLD), id, { keyLost: true })).rejects.toThrow(VaultUsable);
    const other = createTemporaryFolder();
    const elsewhere = withFolder(other, NEW);
    const renewal = renewVault(db, elsewhere, id, { keyLost: true });
    await expect(renewal).rejects.toThrow(VaultSecretElsewhere);
    await expect(renewal).rejects.toThrow(`run "ferry vault renew ${id} --folder-lost --key-lost"`);
    expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
    expect(await renewVault(db, elsewhere, id, { keyLost: true, folderLost: true })).toMatchObject({ deleted: 1 });
    rmSync(other, { recursive: true });
  });
});

test('a worker with another folder neither opens nor destroys a vault, and says which folder is needed', async () => {
  const id = await createSealedUnderOld();
  const other = createTemporaryFolder();
  const elsewhere = withFolder(other, OLD);
  for (const attempt of [
    () => openAccessToken(elsewhere, id),
    () => destroyVault(db, elsewhere, id),
    () => rotateVaults(db, elsewhere),
    () => renewVault(db, elsewhere, id),
  ]) {
    const attempted = attempt();
    await expect(attempted).rejects.toThrow(VaultSecretElsewhere);
    await expect(attempted).rejects.toThrow(
      /not the one in which the vault secret of .* was stored.*TOKENFERRY_VAULT_SECRETS names it/,
    );
  }
  expect((await readMigration(db, id))?.vaultDestroyedAt).toBeNull();
  expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');

  expect(await renewVault(db, elsewhere, await createSealedUnderOld(), { folderLost: true })).toMatchObject({
    deleted: 1,
  });
  rmSync(other, { recursive: true });

  // A folder can be moved to other storage, because a copy with the same `folder.id` is treated as the same folder.
  cpSync(ledger.secrets, other, { recursive: true });
  expect(await openAccessToken(elsewhere, id)).toBe('access-1');
  rmSync(other, { recursive: true });
});

test('signs the key of a vault that an earlier version created, but only renews a key that someone has replaced', async () => {
  const id = await createSealedUnderOld();
  const keys = withKeys(OLD);
  const fingerprint = providerFingerprint(keys.providerPublicKey);
  const set = (values: { vault_public_key?: Buffer; vault_signed_by?: null; vault_signature?: null }) =>
    db.updateTable('migrations').set(values).where('id', '=', id).execute();
  const { publicKey } = await readMigrationKey(db, id, fingerprint);
  const unsigned = { vault_signed_by: null, vault_signature: null };
  await set(unsigned);
  await expect(readMigrationKey(db, id, fingerprint)).rejects.toThrow('has not been signed');
  await rotateVaults(db, keys);
  expect((await readMigrationKey(db, id, fingerprint)).publicKey).toEqual(publicKey);
  await set({ ...unsigned, vault_public_key: createVaultKey().publicKey });
  await expect(rotateVaults(db, keys)).rejects.toThrow(VaultKeyMismatch);
  await expect(readMigrationKey(db, id)).rejects.toThrow(MigrationKeyInvalid);
  await set({ vault_public_key: Buffer.from(publicKey) });
  await rotateVaults(db, keys);
  await set({ vault_public_key: createVaultKey().publicKey });
  expect(await renewVault(db, keys, id)).toMatchObject({ deleted: 1 });
});

test('opens a credential that an earlier version bound to the number of its row', async () => {
  const id = await createSealedUnderOld();
  const stored = await storedOf(id);
  const sender = createSender((await readMigrationKey(db, id)).publicKey, Buffer.from('tokenferry vault 1'));
  const { ciphertext } = sender.encrypt(Buffer.from('{"refreshToken":"old"}'), Buffer.from(`${id}/1`));
  const sealed = Buffer.concat([Buffer.of(2), sender.encapsulated, Buffer.alloc(4), ciphertext]);
  const vault = await readVault(db, withKeys(OLD), id);
  expect(vault.open({ ...stored, sealed }).reveal()).toEqual({ refreshToken: 'old' });
  expect(() => vault.open({ ...stored, sealed, row: 2 })).toThrow(SealBroken);
});
