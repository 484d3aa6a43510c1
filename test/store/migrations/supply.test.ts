/** Supplying a manifest, which is stored completely or not at all. */
import {
  closeMigration,
  findCompany,
  MigrationExists,
  openMigration,
  OrganizationTaken,
  readCompanies,
  readMigration,
  supplyMigration,
} from '../../../store';
import { suppliedMigration, useLedger, readRow, manifestRows } from '../../support/migrations/ledger';

const ledger = useLedger();

async function referencesOf(id: string): Promise<readonly string[]> {
  const references: string[] = [];
  for await (const { reference } of readCompanies(ledger.db, id)) references.push(reference);
  return references;
}

test('stores a large manifest unchanged and reads it in manifest order', async () => {
  const migration = suppliedMigration();
  const rows = manifestRows(4_321, (row) => ({
    wave: row % 3,
    family: row % 2 ? 'a' : null,
    name: `Müller "${row}", 'x' \\ %`,
  }));
  await supplyMigration(ledger.db, migration, rows);
  expect(await referencesOf(migration.id)).toEqual(rows.map(({ reference }) => reference));
  const { family, ...first } = rows[0]!;
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({ family });
  expect(await findCompany(ledger.db, migration.id, { row: 1 })).toMatchObject({
    ...first,
    state: 'waiting',
    confirmedAt: null,
  });
});

test('stores nothing when one row cannot be stored', async () => {
  const migration = suppliedMigration();
  const rows = manifestRows(2_500, (row) => (row === 2_400 ? { reference: 'c1' } : {}));
  await expect(supplyMigration(ledger.db, migration, rows)).rejects.toThrow();
  expect(await readMigration(ledger.db, migration.id)).toBeUndefined();
  expect(await referencesOf(migration.id)).toEqual([]);
});

test('rejects an organization that is open in another migration, and stores nothing', async () => {
  const [holder, late] = [suppliedMigration(), suppliedMigration()];
  const rows = manifestRows(3);
  await supplyMigration(ledger.db, holder, rows);
  const supplying = supplyMigration(
    ledger.db,
    late,
    manifestRows(2, () => ({}), 'new').concat({ ...rows[1]!, row: 3, reference: 'c3' }),
  );
  await expect(supplying).rejects.toThrow(OrganizationTaken);
  await expect(supplying).rejects.toMatchObject({
    taken: [{ reference: 'c3', organization: rows[1]?.organization, migrationId: holder.id }],
  });
  expect(await readMigration(ledger.db, late.id)).toBeUndefined();
});

test('does not blame another migration for an organization that is in the manifest twice', async () => {
  const migration = suppliedMigration();
  const supplying = supplyMigration(
    ledger.db,
    migration,
    manifestRows(2, () => ({ organization: 'the same' })),
  );
  await expect(supplying).rejects.toThrow(/one_open_migration_per_organization/);
  expect(await readMigration(ledger.db, migration.id)).toBeUndefined();
});

test('accepts the same organization id on another platform', async () => {
  const rows = manifestRows(1);
  await supplyMigration(ledger.db, suppliedMigration(), rows);
  await supplyMigration(ledger.db, suppliedMigration({ platformKey: 'gbol' }), rows);
});

test('lets another migration take the organizations of a closed migration', async () => {
  const [ended, next] = [suppliedMigration(), suppliedMigration()];
  const rows = manifestRows(2);
  await supplyMigration(ledger.db, ended, rows);
  await openMigration(ledger.db, ended.id);
  await closeMigration(ledger.db, ended.id, 'abandoned');
  await supplyMigration(ledger.db, next, rows);
  expect(await referencesOf(next.id)).toEqual(['c1', 'c2']);
});

test('replaces the manifest of a migration that has not been opened', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(3));
  await supplyMigration(
    ledger.db,
    { ...migration, suppliedBy: 'Carl' },
    manifestRows(2, (row) => ({ reference: `new-${row}` })),
  );
  expect(await referencesOf(migration.id)).toEqual(['new-1', 'new-2']);
  expect(await readMigration(ledger.db, migration.id)).toMatchObject({ suppliedBy: 'Carl', state: 'supplied' });
});

test.each([
  ['open', async (id: string) => openMigration(ledger.db, id)],
  [
    'closed',
    async (id: string) => {
      await openMigration(ledger.db, id);
      await closeMigration(ledger.db, id, 'cancelled');
    },
  ],
] as const)('does not replace the manifest of a migration that is %s', async (state, bringToState) => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await bringToState(migration.id);
  await expect(supplyMigration(ledger.db, migration, manifestRows(2))).rejects.toThrow(MigrationExists);
  expect(await referencesOf(migration.id)).toEqual(['c1']);
  expect((await readMigration(ledger.db, migration.id))?.state).toBe(state);
});

test('stores exactly one complete manifest when several are supplied concurrently', async () => {
  const migration = suppliedMigration();
  const sizes = [5, 6, 7];
  const results = await Promise.allSettled(
    sizes.map((size) => supplyMigration(ledger.db, migration, manifestRows(size))),
  );
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect(sizes).toContain((await referencesOf(migration.id)).length);
});

test('keeps a closed migration unchanged and does not reopen it', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  await closeMigration(ledger.db, migration.id, 'cancelled');
  const closed = await readMigration(ledger.db, migration.id);
  await closeMigration(ledger.db, migration.id, 'cancelled');
  await openMigration(ledger.db, migration.id);
  expect(await readMigration(ledger.db, migration.id)).toEqual(closed);
});
