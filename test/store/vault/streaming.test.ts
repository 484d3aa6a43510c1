/** Rows are processed in groups, so memory does not grow with their number. */
import type { Database, SuppliedCredential } from '../../../store';
import {
  countPreflightRows,
  openMigration,
  openVault,
  readPreflightRows,
  supplyCredentials,
  supplyMigration,
} from '../../../store';
import type { Ledger } from '../../support/ledger';
import { suppliedMigration, credentialOf, credentialRows, openLedger, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

test('seals and stores a group of credentials before it reads the next', async () => {
  const rows = manifestRows(2_500);
  const migration = suppliedMigration({ rotating: false });
  await supplyMigration(db, migration, rows);
  await openMigration(db, migration.id);
  await openVault(db, ledger.keys, migration.id);
  let most = 0;
  async function* credentials(): AsyncGenerator<SuppliedCredential> {
    for (const row of rows) {
      if (row.row % 500 === 0) most = Math.max(most, row.row - (await credentialRows(db, migration.id)).length);
      yield credentialOf(row);
    }
  }
  const { stored } = await supplyCredentials(db, migration.id, credentials(), 'Cleo');
  expect(stored).toHaveLength(2_500);
  expect(most).toBeLessThanOrEqual(1_000);
});

test('stores nothing of a manifest that cannot be read to its end', async () => {
  const migration = suppliedMigration();
  async function* breaking() {
    yield* manifestRows(2_100);
    throw new Error('the file was changed');
  }
  await expect(supplyMigration(db, migration, breaking())).rejects.toThrow('the file was changed');
  expect(await countPreflightRows(db, migration.id)).toMatchObject({ companies: 0 });
});

test('reads companies for a check in pages, in manifest order', async () => {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(5_001));
  const pages: (readonly number[])[] = [];
  for await (const page of readPreflightRows(db, migration.id)) pages.push(page.map(({ row }) => row));
  expect(pages.map(({ length }) => length)).toEqual([5_000, 1]);
  expect(pages.flat()).toEqual(Array.from({ length: 5_001 }, (_, index) => index + 1));
});

test('counts token families and companies to create', async () => {
  const migration = suppliedMigration();
  const family = ['jo', 'jo', 'jo', 'ann', 'ann', 'kim'];
  const named = { companyId: '6f1c1f9e-0000-4000-8000-000000000000', connectionId: null };
  await supplyMigration(
    db,
    migration,
    manifestRows(7, (row) => ({ family: family[row - 1] ?? null, ...(row === 1 ? { named } : {}) })),
  );
  expect(await countPreflightRows(db, migration.id)).toEqual({
    ...{ companies: 7, toCreate: 6, withoutFamily: 1, families: 2, related: 5, largestFamily: 3 },
  });
});
