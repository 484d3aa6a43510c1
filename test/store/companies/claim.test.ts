/** The conditions of the claim, and the order in which companies are claimed. */
import { sql } from 'kysely';
import {
  beginRun,
  beginSlice,
  claimCompanies,
  clearLedgerFlag,
  closeMigration,
  flagLedger,
  setPaused,
} from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
  type MovableMigration,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const setMigration = async (id: string, columns: object) =>
  ledger.db.updateTable('migrations').set(columns).where('id', '=', id).execute();
const setCredential = async (id: string, columns: object) =>
  ledger.db.updateTable('credentials').set(columns).where('migration_id', '=', id).execute();
const YEAR_MS = 365 * 86_400_000;
const BEFORE = new Date(Date.parse(CONFIRMED_AT) - 1);
const claimRows = async ({ owner }: MovableMigration, size = 10) =>
  (await claimCompanies(ledger.db, owner, size, null)).map(({ row }) => row).sort((a, b) => a - b);

test('claims a company that meets all conditions, and returns the data that its import needs', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(1));
  const [company] = await claimCompanies(ledger.db, migration.owner, 10, null);
  expect(company).toMatchObject({
    row: 1,
    reference: 'c1',
    name: 'Company 1',
    organization: migration.rows[0]?.organization,
    expectedInvoices: 10,
    tries: 1,
    companyId: null,
    connectionId: null,
  });
  expect(company?.sealed.length).toBeGreaterThan(0);
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({
    state: 'importing',
    attempt: 'run-1/1/1',
    claimed_at: expect.any(Date) as Date,
    tries: 1,
  });
  expect(await claimRows(migration)).toEqual([]);
});

test.each<[string, (migration: MovableMigration) => Promise<unknown>]>([
  ['the client has not confirmed it', ({ id }) => updateRow(ledger.db, id, 1, { confirmed_at: null })],
  [
    'the client has not confirmed it, on a platform that does not rotate tokens',
    async ({ id }) => {
      await setMigration(id, { rotating: false });
      await updateRow(ledger.db, id, 1, { confirmed_at: null });
    },
  ],
  ['the preflight holds it back', ({ id }) => updateRow(ledger.db, id, 1, { held_back: 'already connected' })],
  ['it has no credential', ({ id }) => ledger.db.deleteFrom('credentials').where('migration_id', '=', id).execute()],
  ['its credential was obtained before the confirmation', ({ id }) => setCredential(id, { obtained_at: BEFORE })],
  ['its next try is not due', ({ id }) => updateRow(ledger.db, id, 1, { not_before: msFromNow(60_000) })],
  ['it is excluded', ({ id }) => updateRow(ledger.db, id, 1, { state: 'excluded' })],
  ['it is skipped', ({ id }) => updateRow(ledger.db, id, 1, { state: 'skipped' })],
  ['it is syncing', ({ id }) => updateRow(ledger.db, id, 1, { state: 'syncing' })],
  ['it has moved', ({ id }) => updateRow(ledger.db, id, 1, { state: 'moved' })],
  ['it was not moved', ({ id }) => updateRow(ledger.db, id, 1, { state: 'failed' })],
  ['its outcome is unknown', ({ id }) => updateRow(ledger.db, id, 1, { state: 'outcome-unknown' })],
  ['the migration is paused', ({ id }) => setPaused(ledger.db, id, true)],
  ['the migration is closed', ({ id }) => closeMigration(ledger.db, id, 'abandoned')],
  ['the migration is not open yet', ({ id }) => setMigration(id, { state: 'supplied' })],
  ['another run has begun', ({ id }) => beginRun(ledger.db, id, 'run-2')],
  ['no run has begun', ({ id }) => setMigration(id, { current_run: null })],
  ['a newer attempt of the slice has begun', ({ owner }) => beginSlice(ledger.db, owner)],
  ['the slice has not begun', ({ id }) => ledger.db.deleteFrom('slices').where('migration_id', '=', id).execute()],
  ['the window has not opened', ({ id }) => setMigration(id, { window_opens_at: msFromNow(60_000) })],
  ['the window has closed', ({ id }) => setMigration(id, { window_closes_at: msFromNow(-1) })],
])('does not claim a company if %s', async (_, violateCondition) => {
  const migration = await createMovableMigration(ledger, manifestRows(1));
  await violateCondition(migration);
  const before = await readRow(ledger.db, migration.id, 1);
  expect(await claimRows(migration)).toEqual([]);
  expect(await readRow(ledger.db, migration.id, 1)).toEqual(before);
});

test.each<[string, (migration: MovableMigration) => Promise<unknown>]>([
  ['its next try is due', ({ id }) => updateRow(ledger.db, id, 1, { not_before: msFromNow(-1) })],
  ['its next try is years ahead', ({ id }) => updateRow(ledger.db, id, 1, { not_before: msFromNow(10 * YEAR_MS) })],
  [
    'the window is open',
    ({ id }) => setMigration(id, { window_opens_at: msFromNow(-1), window_closes_at: msFromNow(60_000) }),
  ],
  [
    'its credential was obtained before the confirmation, on a platform that does not rotate tokens',
    async ({ id }) => {
      await setMigration(id, { rotating: false });
      await setCredential(id, { obtained_at: BEFORE });
    },
  ],
  [
    'its credential was obtained at the time of the confirmation',
    ({ id }) => setCredential(id, { obtained_at: CONFIRMED_AT }),
  ],
  ['another slice of the run has begun', ({ owner }) => beginSlice(ledger.db, { ...owner, slice: 2 })],
  [
    'the migration was resumed after a pause',
    async ({ id }) => {
      await setPaused(ledger.db, id, true);
      await setPaused(ledger.db, id, false);
    },
  ],
])('claims a company if %s', async (_, change) => {
  const migration = await createMovableMigration(ledger, manifestRows(1));
  await change(migration);
  expect(await claimRows(migration)).toEqual([1]);
});

test('claims only the requested row', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(3));
  const [company, ...more] = await claimCompanies(ledger.db, migration.owner, 10, 2);
  expect([company?.row, more]).toEqual([2, []]);
});

test('claims lower waves first, then earlier confirmations, up to the requested number', async () => {
  const waves = [null, 2, 1, 1];
  const migration = await createMovableMigration(
    ledger,
    manifestRows(4, (row) => ({ wave: waves[row - 1] ?? null })),
  );
  await updateRow(ledger.db, migration.id, 4, { confirmed_at: sql`confirmed_at - interval '1 hour'` });
  expect(await claimRows(migration, 1)).toEqual([4]);
  expect(await claimRows(migration, 1)).toEqual([3]);
  expect(await claimRows(migration, 5)).toEqual([1, 2]);
});

describe('a token family', () => {
  const twoFamilies = manifestRows.bind(null, 5, (row) => ({
    family: row === 5 ? null : row % 2 === 0 ? 'even' : 'odd',
  }));

  test('has at most one company in a claim', async () => {
    expect(await claimRows(await createMovableMigration(ledger, twoFamilies()))).toEqual([1, 2, 5]);
  });

  test('allows its next company to be claimed when none of its companies is importing', async () => {
    const migration = await createMovableMigration(ledger, twoFamilies());
    expect(await claimRows(migration)).toEqual([1, 2, 5]);
    expect(await claimRows(migration)).toEqual([]);
    await updateRow(ledger.db, migration.id, 1, { state: 'syncing', attempt: null });
    expect(await claimRows(migration)).toEqual([3]);
  });

  test('does not extend to another migration', async () => {
    const family = () => manifestRows(1, () => ({ family: 'odd' }));
    const [first, second] = [
      await createMovableMigration(ledger, family()),
      await createMovableMigration(ledger, family()),
    ];
    expect([await claimRows(first), await claimRows(second)]).toEqual([[1], [1]]);
  });
});

test('claims nothing in a ledger that is behind, or whose mark is lower than the known mark', async () => {
  const { owner, id } = await createMovableMigration(ledger, manifestRows(2));
  expect(await claimCompanies(ledger.db, owner, 1, null, 1)).toEqual([]);
  expect(await claimCompanies(ledger.db, owner, 1, null, 0)).toMatchObject([{ ledgerMark: 1 }]);
  await flagLedger(ledger.db, id);
  expect(await claimCompanies(ledger.db, owner, 1, null, 1)).toEqual([]);
  await clearLedgerFlag(ledger.db, id, 1);
  expect(await claimCompanies(ledger.db, owner, 1, null, 1)).toHaveLength(1);
});
