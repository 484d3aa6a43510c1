/** Rotation of the master key: sealed credentials do not change, and only the new key opens them. */
import { randomBytes } from 'node:crypto';
import type { KeyProvider } from '../../../security';
import { createMasterKeyProvider, parseMasterKeys, Secret, UnknownMasterKey } from '../../../security';
import type { Database } from '../../../store';
import {
  destroyVault,
  openVault,
  readMigration,
  readVault,
  rotateVaults,
  supplyCredentials,
  supplyMigration,
} from '../../../store';
import type { Ledger } from '../../support/ledger';
import { suppliedMigration, credentialOf, openLedger, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeEach(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterEach(() => ledger.close());

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const withKeys = (...keys: string[]): KeyProvider =>
  createMasterKeyProvider(parseMasterKeys(new Secret(keys.join(','))));

/** Creates a migration of one company with a sealed credential. Its vault's key is wrapped by the old master key. */
async function createSealedUnderOld(): Promise<string> {
  const migration = suppliedMigration({ rotating: false });
  const rows = manifestRows(1);
  await supplyMigration(db, migration, rows);
  await openVault(db, withKeys(OLD), migration.id);
  const { stored } = await supplyCredentials(
    db,
    migration.id,
    rows.map((row) => credentialOf(row)),
    'Cleo',
  );
  expect(stored).toEqual(['c1']);
  return migration.id;
}

async function sealedOf(id: string): Promise<Buffer> {
  const { sealed } = await db
    .selectFrom('credentials')
    .select('sealed')
    .where('migration_id', '=', id)
    .executeTakeFirstOrThrow();
  return sealed;
}

const openAccessToken = async (keys: KeyProvider, id: string) =>
  (await (await readVault(db, keys, id)).open(1, await sealedOf(id))).reveal()['accessToken'];

test('rewraps every open vault under the new key and leaves sealed credentials unchanged', async () => {
  const [one, other] = [await createSealedUnderOld(), await createSealedUnderOld()];
  const before = await sealedOf(one);
  expect(await rotateVaults(db, withKeys(NEW, OLD))).toEqual({ rewrapped: 2, unchanged: 0 });
  expect(await sealedOf(one)).toEqual(before);
  for (const id of [one, other]) expect(await openAccessToken(withKeys(NEW), id)).toBe('access-1');
  await expect(openAccessToken(withKeys(OLD), one)).rejects.toThrow(UnknownMasterKey);
  expect(await rotateVaults(db, withKeys(NEW))).toEqual({ rewrapped: 0, unchanged: 2 });
});

test('fails without the older key, names it, and changes nothing', async () => {
  const id = await createSealedUnderOld();
  await expect(rotateVaults(db, withKeys(NEW))).rejects.toThrow(withKeys(OLD).newestKeyId);
  expect(await openAccessToken(withKeys(OLD), id)).toBe('access-1');
});

test('skips a destroyed vault', async () => {
  const id = await createSealedUnderOld();
  await destroyVault(db, id);
  expect(await rotateVaults(db, withKeys(NEW, OLD))).toEqual({ rewrapped: 0, unchanged: 0 });
  expect((await readMigration(db, id))?.vaultDestroyedAt).toBeInstanceOf(Date);
});
