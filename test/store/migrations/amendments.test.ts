/** Amendments: one transaction adds and corrects rows, and holds them back until a preflight has checked them. */
import { NOT_CHECKED } from '../../../domain/companies/company-state';
import type { ManifestRow } from '../../../domain/companies/manifest';
import {
  amendManifest,
  manifestDigest,
  claimCompanies,
  closeMigration,
  confirmDisabled,
  countCompanies,
  AmendedMigrationEnded,
  OrganizationTaken,
  readHeldBack,
  readMigration,
  supplyMigration,
} from '../../../store';
import {
  suppliedMigration,
  CONFIRMED_AT,
  rowsWithCredential,
  createMovableMigration,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const amend = (migrationId: string, rows: readonly ManifestRow[]) => amendManifest(ledger.db, { migrationId, rows });

const withChanges = (row: ManifestRow | undefined, overrides: Partial<ManifestRow>): ManifestRow => {
  if (!row) throw new Error('the migration has no such row');
  return { ...row, ...overrides };
};

test('gives a new reference the next row number and holds it back until it has been checked', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const [late] = manifestRows(1, () => ({ reference: 'late', row: 1, name: 'Late' }));
  expect(await amend(id, [withChanges(rows[0], {}), withChanges(late, {})])).toEqual({
    added: ['late'],
    corrected: [],
    recounted: [],
    unchanged: 1,
    tooLate: [],
  });
  expect(await readRow(ledger.db, id, 3)).toMatchObject({ reference: 'late', name: 'Late', held_back: NOT_CHECKED });
  const stored = [...rows, withChanges(late, { row: 3 })];
  expect((await readMigration(ledger.db, id))?.manifestDigest).toBe(manifestDigest(stored));
  expect(await countCompanies(ledger.db, id)).toMatchObject({ total: 3, heldBack: 1, unconfirmed: 0 });
  expect(await readHeldBack(ledger.db, id)).toEqual([
    { reference: 'late', heldBack: NOT_CHECKED, heldBackDetails: null },
  ]);
});

test('makes a corrected row wait for a check and a confirmation, and keeps its credential', async () => {
  const { id, rows, owner } = await createMovableMigration(ledger, manifestRows(2));
  expect(await amend(id, [withChanges(rows[0], { name: 'Renamed', expectedInvoices: null })])).toMatchObject({
    corrected: ['c1'],
  });
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    name: 'Renamed',
    expected_invoices: null,
    confirmed_at: null,
    confirmed_by: null,
    held_back: NOT_CHECKED,
  });
  expect(await rowsWithCredential(ledger.db, id)).toEqual([1, 2]);
  expect((await claimCompanies(ledger.db, owner, 10, null)).map(({ row }) => row)).toEqual([2]);
});

test('deletes the credential when the organization of a row changes', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  await amend(id, [withChanges(rows[0], { organization: 'another' })]);
  expect(await rowsWithCredential(ledger.db, id)).toEqual([2]);
});

test('lets rows swap their organizations, for example when a column was shifted', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(3));
  const moved = rows.map((row, index) => withChanges(row, { organization: rows[(index + 1) % 3]?.organization ?? '' }));
  expect(await amend(id, moved)).toMatchObject({ corrected: ['c1', 'c2', 'c3'] });
  expect((await readRow(ledger.db, id, 3)).organization).toBe(rows[0]?.organization);
  expect((await readRow(ledger.db, id, 3)).organization_open).toBe(true);
});

test.each<[string, object]>([
  ['is being moved', { state: 'importing', attempt: 'a' }],
  ['has been moved', { state: 'moved' }],
  ['was not moved', { state: 'failed' }],
  ['was left out', { state: 'excluded' }],
  ['is waiting for a retry and already exists at the service', { company_id: '6f1c1f9e-0000-4000-8000-000000000000' }],
])('leaves a company that %s unchanged, and reports it as too late', async (_, columns) => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, columns);
  expect(
    await amend(id, [withChanges(rows[0], { name: 'Other' }), withChanges(rows[1], { name: 'Other' })]),
  ).toMatchObject({
    corrected: ['c2'],
    tooLate: ['c1'],
  });
  expect(await readRow(ledger.db, id, 1)).toMatchObject({ name: 'Company 1', held_back: null });
});

test('corrects only the expected number of a company with fewer records than expected', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, { state: 'failed', failure: 'incomplete' });
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'refused' });
  const recounted = rows.map((row) => ({ ...row, expectedInvoices: 61 }));
  expect(await amend(id, recounted)).toMatchObject({ corrected: [], recounted: ['c1'], tooLate: ['c2'] });
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    ...{ expected_invoices: 61, state: 'failed', held_back: null, organization_open: true },
    confirmed_at: expect.any(Date) as Date,
  });
  const renamed = withChanges(recounted[0], { name: 'Another', expectedInvoices: 60 });
  expect(await amend(id, [renamed])).toMatchObject({ corrected: [], tooLate: ['c1'] });
  expect(await readRow(ledger.db, id, 1)).toMatchObject({ expected_invoices: 61 });
});

test('rejects an organization that is open in another migration, names both, and stores nothing', async () => {
  const other = suppliedMigration();
  await supplyMigration(
    ledger.db,
    other,
    manifestRows(1, () => ({ organization: 'shared' })),
  );
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const amending = amend(id, [
    withChanges(rows[0], { name: 'Renamed' }),
    withChanges(rows[1], { reference: 'late', organization: 'shared' }),
  ]);
  await expect(amending).rejects.toThrow(OrganizationTaken);
  await expect(amending).rejects.toThrow(`late: organization shared is already part of migration ${other.id}`);
  expect((await readRow(ledger.db, id, 1)).name).toBe('Company 1');
  expect((await countCompanies(ledger.db, id)).total).toBe(2);
});

test('rejects an organization that another row of the same migration has', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(2));
  const late = withChanges(rows[0], { reference: 'late' });
  await expect(amend(id, [late])).rejects.toThrow(`another row of ${id} also has organization`);
});

test('rejects amendments after the migration has ended', async () => {
  const { id, rows } = await createMovableMigration(ledger, manifestRows(1));
  await closeMigration(ledger.db, id, 'cancelled');
  await expect(amend(id, [withChanges(rows[0], { name: 'Other' })])).rejects.toThrow(AmendedMigrationEnded);
});

test('makes a claim skip a company that is being corrected', async () => {
  const { id, owner } = await createMovableMigration(ledger, manifestRows(2));
  await ledger.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('companies')
      .set({ held_back: NOT_CHECKED, confirmed_at: null })
      .where('migration_id', '=', id)
      .where('row', '=', 1)
      .execute();
    expect((await claimCompanies(ledger.db, owner, 10, null)).map(({ row }) => row)).toEqual([2]);
  });
});

test('either claims or corrects each company when claims and corrections run concurrently', async () => {
  const { id, rows, owner } = await createMovableMigration(ledger, manifestRows(200));
  const claims = Array.from({ length: 20 }, () => claimCompanies(ledger.db, owner, 5, null));
  const amendments = Array.from({ length: 4 }, (_, index) =>
    amend(
      id,
      rows.slice(index * 50, index * 50 + 50).map((row) => withChanges(row, { name: 'Corrected' })),
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
  const renamed = rows.map((row) => withChanges(row, { name: `${row.name} Ltd` }));
  const { added, corrected } = await amend(id, [...renamed, ...late]);
  expect([added.length, corrected.length]).toEqual([2_500, 2_500]);
  await confirmDisabled(ledger.db, { migrationId: id, companies: 'all', by: 'Cleo', at: CONFIRMED_AT });
  expect(await countCompanies(ledger.db, id)).toMatchObject({ total: 5_000, heldBack: 5_000, unconfirmed: 0 });
});
