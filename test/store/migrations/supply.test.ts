/** Supplying a manifest: it is stored completely or not at all. */
import type { Database } from '../../../store';
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
import type { Ledger } from '../../support/ledger';
import { suppliedMigration, openLedger, readRow, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

async function referencesOf(id: string): Promise<readonly string[]> {
  const references: string[] = [];
  for await (const { reference } of readCompanies(db, id)) references.push(reference);
  return references;
}

test('stores a large manifest unchanged and reads it in its order', async () => {
  const migration = suppliedMigration();
  const rows = manifestRows(4_321, (row) => ({
    wave: row % 3,
    family: row % 2 ? 'a' : null,
    name: `Müller "${row}", 'x' \\ %`,
  }));
  await supplyMigration(db, migration, rows);
  expect(await referencesOf(migration.id)).toEqual(rows.map(({ reference }) => reference));
  const { family, ...first } = rows[0]!;
  expect(await readRow(db, migration.id, 1)).toMatchObject({ family });
  expect(await findCompany(db, migration.id, { row: 1 })).toMatchObject({
    ...first,
    state: 'waiting',
    confirmedAt: null,
  });
});

test('stores nothing when one row cannot be stored', async () => {
  const migration = suppliedMigration();
  const rows = manifestRows(2_500, (row) => (row === 2_400 ? { reference: 'c1' } : {}));
  await expect(supplyMigration(db, migration, rows)).rejects.toThrow();
  expect(await readMigration(db, migration.id)).toBeUndefined();
  expect(await referencesOf(migration.id)).toEqual([]);
});

test('names an organization that is open in another migration, and stores nothing', async () => {
  const [holder, late] = [suppliedMigration(), suppliedMigration()];
  const rows = manifestRows(3);
  await supplyMigration(db, holder, rows);
  const supplying = supplyMigration(
    db,
    late,
    manifestRows(2, () => ({}), 'new').concat({ ...rows[1]!, row: 3, reference: 'c3' }),
  );
  await expect(supplying).rejects.toThrow(OrganizationTaken);
  await expect(supplying).rejects.toMatchObject({
    taken: [{ reference: 'c3', organization: rows[1]?.organization, migrationId: holder.id }],
  });
  expect(await readMigration(db, late.id)).toBeUndefined();
});

test('does not blame another migration for an organization that is in the manifest twice', async () => {
  const migration = suppliedMigration();
  const supplying = supplyMigration(
    db,
    migration,
    manifestRows(2, () => ({ organization: 'the same' })),
  );
  await expect(supplying).rejects.toThrow(/one_open_migration_per_organization/);
  expect(await readMigration(db, migration.id)).toBeUndefined();
});

test('treats the same organization id at another platform as another organization', async () => {
  const rows = manifestRows(1);
  await supplyMigration(db, suppliedMigration(), rows);
  await supplyMigration(db, suppliedMigration({ platformKey: 'gbol' }), rows);
});

test('frees the organizations of a closed migration for another one', async () => {
  const [ended, next] = [suppliedMigration(), suppliedMigration()];
  const rows = manifestRows(2);
  await supplyMigration(db, ended, rows);
  await openMigration(db, ended.id);
  await closeMigration(db, ended.id, 'abandoned');
  await supplyMigration(db, next, rows);
  expect(await referencesOf(next.id)).toEqual(['c1', 'c2']);
});

test('replaces a manifest that was supplied but never started', async () => {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(3));
  await supplyMigration(
    db,
    { ...migration, suppliedBy: 'Carl' },
    manifestRows(2, (row) => ({ reference: `new-${row}` })),
  );
  expect(await referencesOf(migration.id)).toEqual(['new-1', 'new-2']);
  expect(await readMigration(db, migration.id)).toMatchObject({ suppliedBy: 'Carl', state: 'supplied' });
});

test.each([
  ['open', async (id: string) => openMigration(db, id)],
  [
    'closed',
    async (id: string) => {
      await openMigration(db, id);
      await closeMigration(db, id, 'completed');
    },
  ],
] as const)('does not replace the manifest of a migration that is %s', async (state, come) => {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(1));
  await come(migration.id);
  await expect(supplyMigration(db, migration, manifestRows(2))).rejects.toThrow(MigrationExists);
  expect(await referencesOf(migration.id)).toEqual(['c1']);
  expect((await readMigration(db, migration.id))?.state).toBe(state);
});

test('stores exactly one complete manifest when several are supplied at the same time', async () => {
  const migration = suppliedMigration();
  const sizes = [5, 6, 7];
  const supplied = await Promise.allSettled(sizes.map((size) => supplyMigration(db, migration, manifestRows(size))));
  expect(supplied.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect(sizes).toContain((await referencesOf(migration.id)).length);
});

test('keeps a closed migration unchanged and does not reopen it', async () => {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(1));
  await openMigration(db, migration.id);
  await closeMigration(db, migration.id, 'completed');
  const closed = await readMigration(db, migration.id);
  await closeMigration(db, migration.id, 'completed');
  await openMigration(db, migration.id);
  expect(await readMigration(db, migration.id)).toEqual(closed);
});
