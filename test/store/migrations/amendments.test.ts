/** Amendments: rows are added or corrected in one transaction, and held back until a preflight has checked them. */
import type { ManifestRow } from '../../../domain/companies/manifest';
import type { Database } from '../../../store';
import {
  amendManifest,
  claimCompanies,
  closeMigration,
  confirmDisabled,
  countCompanies,
  ManifestClosed,
  NOT_CHECKED,
  OrganizationTaken,
  readHeldBack,
  readMigration,
  supplyMigration,
} from '../../../store';
import type { Ledger } from '../../support/ledger';
import {
  suppliedMigration,
  CONFIRMED_AT,
  credentialRows,
  createMovableMigration,
  openLedger,
  putRow,
  readRow,
  manifestRows,
} from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

const amend = (migrationId: string, rows: readonly ManifestRow[]) =>
  amendManifest(db, {
    migrationId,
    rows,
    createDigest: () => {
      const named: string[] = [];
      return { add: ({ row, reference }) => void named.push(`${row} ${reference}`), hex: () => named.join() };
    },
  });

const changed = (row: ManifestRow | undefined, some: Partial<ManifestRow>): ManifestRow => {
  if (!row) throw new Error('there is no such row');
  return { ...row, ...some };
};

test('gives a new reference the next row number and holds it back until it is checked', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const [late] = manifestRows(1, () => ({ reference: 'late', row: 1, name: 'Late' }));
  expect(await amend(id, [changed(rows[0], {}), changed(late, {})])).toEqual({
    added: ['late'],
    corrected: [],
    unchanged: 1,
    tooLate: [],
  });
  expect(await readRow(db, id, 3)).toMatchObject({ reference: 'late', name: 'Late', held_back: NOT_CHECKED });
  expect((await readMigration(db, id))?.manifestDigest).toBe('1 c1,2 c2,3 late');
  expect(await countCompanies(db, id)).toMatchObject({ total: 3, heldBack: 1, unconfirmed: 0 });
  expect(await readHeldBack(db, id)).toEqual([{ reference: 'late', heldBack: NOT_CHECKED }]);
});

test('makes a corrected row wait for check and confirmation, and keeps its credential', async () => {
  const { id, rows, owner } = await createMovableMigration(ledger, manifestRows(2));
  expect(await amend(id, [changed(rows[0], { name: 'Renamed', expectedInvoices: null })])).toMatchObject({
    corrected: ['c1'],
  });
  expect(await readRow(db, id, 1)).toMatchObject({
    name: 'Renamed',
    expected_invoices: null,
    confirmed_at: null,
    confirmed_by: null,
    held_back: NOT_CHECKED,
  });
  expect(await credentialRows(db, id)).toEqual([1, 2]);
  expect((await claimCompanies(db, owner, 10, null)).map(({ row }) => row)).toEqual([2]);
});

test('erases the credential when the organization of a row changes', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  await amend(id, [changed(rows[0], { organization: 'another' })]);
  expect(await credentialRows(db, id)).toEqual([2]);
});

test('lets rows swap their organizations, as when the rows of a list had shifted', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(3));
  const moved = rows.map((row, index) => changed(row, { organization: rows[(index + 1) % 3]?.organization ?? '' }));
  expect(await amend(id, moved)).toMatchObject({ corrected: ['c1', 'c2', 'c3'] });
  expect((await readRow(db, id, 3)).organization).toBe(rows[0]?.organization);
  expect((await readRow(db, id, 3)).organization_open).toBe(true);
});

test.each<[string, object]>([
  ['is being moved', { state: 'importing', attempt: 'a' }],
  ['has been moved', { state: 'migrated' }],
  ['has failed', { state: 'failed' }],
  ['was left out', { state: 'excluded' }],
  ['waits for a retry and already exists at the service', { company_id: '6f1c1f9e-0000-4000-8000-000000000000' }],
])('leaves a company that %s unchanged, and reports it as too late', async (_, columns) => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  await putRow(db, id, 1, columns);
  expect(await amend(id, [changed(rows[0], { name: 'Other' }), changed(rows[1], { name: 'Other' })])).toMatchObject({
    corrected: ['c2'],
    tooLate: ['c1'],
  });
  expect(await readRow(db, id, 1)).toMatchObject({ name: 'Company 1', held_back: null });
});

test('refuses an organization that is open in another migration, names both, and stores nothing', async () => {
  const other = suppliedMigration();
  await supplyMigration(
    db,
    other,
    manifestRows(1, () => ({ organization: 'theirs' })),
  );
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const amending = amend(id, [
    changed(rows[0], { name: 'Renamed' }),
    changed(rows[1], { reference: 'late', organization: 'theirs' }),
  ]);
  await expect(amending).rejects.toThrow(OrganizationTaken);
  await expect(amending).rejects.toThrow(`late (organization theirs) is open in migration ${other.id}`);
  expect((await readRow(db, id, 1)).name).toBe('Company 1');
  expect((await countCompanies(db, id)).total).toBe(2);
});

test('refuses an organization of another row of the same migration', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const late = changed(rows[0], { reference: 'late' });
  await expect(amend(id, [late])).rejects.toThrow(`is open in migration ${id}`);
});

test('refuses amendments after the migration has ended', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(1));
  await closeMigration(db, id, 'completed');
  await expect(amend(id, [changed(rows[0], { name: 'Other' })])).rejects.toThrow(ManifestClosed);
});

test('a claim skips a company that is being corrected', async () => {
  const { id, owner } = await createMovableMigration(ledger, manifestRows(2));
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('companies')
      .set({ held_back: NOT_CHECKED, confirmed_at: null })
      .where('migration_id', '=', id)
      .where('row', '=', 1)
      .execute();
    expect((await claimCompanies(db, owner, 10, null)).map(({ row }) => row)).toEqual([2]);
  });
});

test('concurrent corrections and claims: a company is claimed uncorrected, or corrected and not claimed', async () => {
  const { id, rows, owner } = await createMovableMigration(ledger, manifestRows(200));
  const claims = Array.from({ length: 20 }, () => claimCompanies(db, owner, 5, null));
  const amendments = Array.from({ length: 4 }, (_, index) =>
    amend(
      id,
      rows.slice(index * 50, index * 50 + 50).map((row) => changed(row, { name: 'Corrected' })),
    ),
  );
  const [claimed, amended] = await Promise.all([Promise.all(claims), Promise.all(amendments)]);
  const corrected = new Set(amended.flatMap((each) => each.corrected));
  expect(claimed.flat().filter(({ name }) => name === 'Corrected')).toEqual([]);
  expect(claimed.flat().filter(({ reference }) => corrected.has(reference))).toEqual([]);
  expect(claimed.flat().length + corrected.size).toBe(200);
});

test('amends thousands of rows in one transaction', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2_500));
  const late = manifestRows(2_500, (row) => ({ reference: `late-${row}` }));
  const renamed = rows.map((row) => changed(row, { name: `${row.name} Ltd` }));
  const { added, corrected } = await amend(id, [...renamed, ...late]);
  expect([added.length, corrected.length]).toEqual([2_500, 2_500]);
  await confirmDisabled(db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
  expect(await countCompanies(db, id)).toMatchObject({ total: 5_000, heldBack: 5_000, unconfirmed: 0 });
});
