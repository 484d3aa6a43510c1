/** Streaming: rows are processed in groups, so that memory use does not grow with their number. */
import {
  countPreflightRows,
  openMigration,
  openVault,
  readPreflightRows,
  supplyCredentials,
  supplyMigration,
  type SuppliedCredential,
} from '../../../store';
import {
  suppliedMigration,
  credentialOf,
  rowsWithCredential,
  useLedger,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

test('seals and stores a group of credentials before it reads the next', async () => {
  const rows = manifestRows(2_500);
  const migration = suppliedMigration({ rotating: false });
  await supplyMigration(ledger.db, migration, rows);
  await openMigration(ledger.db, migration.id);
  await openVault(ledger.db, ledger.keys, migration.id);
  let largestBacklog = 0;
  async function* credentials(): AsyncGenerator<SuppliedCredential> {
    for (const row of rows) {
      if (row.row % 500 === 0)
        largestBacklog = Math.max(largestBacklog, row.row - (await rowsWithCredential(ledger.db, migration.id)).length);
      yield credentialOf(row);
    }
  }
  const { stored } = await supplyCredentials(ledger.db, migration.id, credentials(), 'Cleo');
  expect(stored).toHaveLength(2_500);
  expect(largestBacklog).toBeLessThanOrEqual(1_000);
});

test('stores no row of a manifest that cannot be read completely', async () => {
  const migration = suppliedMigration();
  async function* breaking() {
    yield* manifestRows(2_100);
    throw new Error('the file was changed');
  }
  await expect(supplyMigration(ledger.db, migration, breaking())).rejects.toThrow('the file was changed');
  expect(await countPreflightRows(ledger.db, migration.id)).toMatchObject({ companies: 0 });
});

test('reads companies for the preflight in pages, in manifest order', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(5_001));
  const pages: (readonly number[])[] = [];
  for await (const page of readPreflightRows(ledger.db, migration.id)) pages.push(page.map(({ row }) => row));
  expect(pages.map(({ length }) => length)).toEqual([5_000, 1]);
  expect(pages.flat()).toEqual(Array.from({ length: 5_001 }, (_, index) => index + 1));
});

test('counts token families and the companies that must be created', async () => {
  const migration = suppliedMigration();
  const family = ['jo', 'jo', 'jo', 'ann', 'ann', 'kim'];
  const existing = { companyId: '6f1c1f9e-0000-4000-8000-000000000000', connectionId: null };
  await supplyMigration(
    ledger.db,
    migration,
    manifestRows(7, (row) => ({ family: family[row - 1] ?? null, ...(row === 1 ? { existing } : {}) })),
  );
  expect(await countPreflightRows(ledger.db, migration.id)).toEqual({
    ...{ companies: 7, toCreate: 6, withoutFamily: 1, families: 2, companiesInFamilies: 5, largestFamily: 3 },
  });
});
