/** The conditions of the claim, one by one: each of them prevents a claim without the others. */
import { sql } from 'kysely';
import { beginRun, beginSlice, claimCompanies, closeMigration, setPaused } from '../../../store';
import type { MovableMigration } from '../../support/ledger';
import {
  CONFIRMED_AT,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/ledger';

const ledger = useLedger();

const setMigration = async (id: string, columns: object) =>
  ledger.db.updateTable('migrations').set(columns).where('id', '=', id).execute();
const setCredential = async (id: string, columns: object) =>
  ledger.db.updateTable('credentials').set(columns).where('migration_id', '=', id).execute();
const BEFORE = new Date(Date.parse(CONFIRMED_AT) - 1);
const claimRows = async ({ owner }: MovableMigration, size = 10) =>
  (await claimCompanies(ledger.db, owner, size, null)).map(({ row }) => row).sort((a, b) => a - b);

test('a company that meets all conditions is claimed, with everything its import needs', async () => {
  const one = await createMovableMigration(ledger, manifestRows(1));
  const [company] = await claimCompanies(ledger.db, one.owner, 10, null);
  expect(company).toMatchObject({
    row: 1,
    reference: 'c1',
    name: 'Company 1',
    organization: one.rows[0]?.organization,
    expectedInvoices: 10,
    tries: 1,
    companyId: null,
    connectionId: null,
  });
  expect(company?.sealed.length).toBeGreaterThan(0);
  expect(await readRow(ledger.db, one.id, 1)).toMatchObject({
    state: 'importing',
    attempt: 'run-1/1/1',
    claimed_at: expect.any(Date) as Date,
    tries: 1,
  });
  expect(await claimRows(one)).toEqual([]);
});

test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
  ['the client has not confirmed it', ({ id }) => updateRow(ledger.db, id, 1, { confirmed_at: null })],
  [
    'the client has not confirmed it, at a platform that keeps refresh tokens',
    async ({ id }) => {
      await setMigration(id, { rotating: false });
      await updateRow(ledger.db, id, 1, { confirmed_at: null });
    },
  ],
  ['the preflight holds it back', ({ id }) => updateRow(ledger.db, id, 1, { held_back: 'connected already' })],
  ['it has no credential', ({ id }) => ledger.db.deleteFrom('credentials').where('migration_id', '=', id).execute()],
  ['its credential was obtained before it was disabled', ({ id }) => setCredential(id, { obtained_at: BEFORE })],
  ['its next try is not due', ({ id }) => updateRow(ledger.db, id, 1, { not_before: msFromNow(60_000) })],
  ['it is excluded', ({ id }) => updateRow(ledger.db, id, 1, { state: 'excluded' })],
  ['it is skipped', ({ id }) => updateRow(ledger.db, id, 1, { state: 'skipped' })],
  ['it is syncing', ({ id }) => updateRow(ledger.db, id, 1, { state: 'syncing' })],
  ['it is migrated', ({ id }) => updateRow(ledger.db, id, 1, { state: 'migrated' })],
  ['it has failed', ({ id }) => updateRow(ledger.db, id, 1, { state: 'failed' })],
  ['its outcome is unknown', ({ id }) => updateRow(ledger.db, id, 1, { state: 'outcome-unknown' })],
  ['the migration is paused', ({ id }) => setPaused(ledger.db, id, true)],
  ['the migration is closed', ({ id }) => closeMigration(ledger.db, id, 'abandoned')],
  ['the migration is not open yet', ({ id }) => setMigration(id, { state: 'supplied' })],
  ['another run has begun', ({ id }) => beginRun(ledger.db, id, 'run-2')],
  ['no run has begun', ({ id }) => setMigration(id, { current_run: null })],
  ['a newer attempt of the slice has begun', ({ owner }) => beginSlice(ledger.db, owner)],
  ['the slice was never begun', ({ id }) => ledger.db.deleteFrom('slices').where('migration_id', '=', id).execute()],
  ['the window has not opened', ({ id }) => setMigration(id, { window_opens_at: msFromNow(60_000) })],
  ['the window has closed', ({ id }) => setMigration(id, { window_closes_at: msFromNow(-1) })],
])('no claim while %s', async (_, violateCondition) => {
  const one = await createMovableMigration(ledger, manifestRows(1));
  await violateCondition(one);
  const before = await readRow(ledger.db, one.id, 1);
  expect(await claimRows(one)).toEqual([]);
  expect(await readRow(ledger.db, one.id, 1)).toEqual(before);
});

test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
  ['its next try is due', ({ id }) => updateRow(ledger.db, id, 1, { not_before: msFromNow(-1) })],
  [
    'the window is open',
    ({ id }) => setMigration(id, { window_opens_at: msFromNow(-1), window_closes_at: msFromNow(60_000) }),
  ],
  [
    'its credential is old, at a platform that keeps refresh tokens',
    async ({ id }) => {
      await setMigration(id, { rotating: false });
      await setCredential(id, { obtained_at: BEFORE });
    },
  ],
  [
    'its credential was obtained at the moment it was disabled',
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
])('a claim while %s', async (_, change) => {
  const one = await createMovableMigration(ledger, manifestRows(1));
  await change(one);
  expect(await claimRows(one)).toEqual([1]);
});

test('only the requested row is claimed', async () => {
  const three = await createMovableMigration(ledger, manifestRows(3));
  const [company, ...others] = await claimCompanies(ledger.db, three.owner, 10, 2);
  expect([company?.row, others]).toEqual([2, []]);
});

test('claims at most the requested number: lower waves first, then those confirmed first', async () => {
  const waves = [null, 2, 1, 1];
  const four = await createMovableMigration(
    ledger,
    manifestRows(4, (row) => ({ wave: waves[row - 1] ?? null })),
  );
  await updateRow(ledger.db, four.id, 4, { confirmed_at: sql`confirmed_at - interval '1 hour'` });
  expect(await claimRows(four, 1)).toEqual([4]);
  expect(await claimRows(four, 1)).toEqual([3]);
  expect(await claimRows(four, 5)).toEqual([1, 2]);
});

describe('a token family', () => {
  const twoFamilies = manifestRows.bind(null, 5, (row) => ({
    family: row === 5 ? null : row % 2 === 0 ? 'even' : 'odd',
  }));

  test('has one company in each claim', async () => {
    expect(await claimRows(await createMovableMigration(ledger, twoFamilies()))).toEqual([1, 2, 5]);
  });

  test('has its next company claimed only when none of it is importing', async () => {
    const five = await createMovableMigration(ledger, twoFamilies());
    expect(await claimRows(five)).toEqual([1, 2, 5]);
    expect(await claimRows(five)).toEqual([]);
    await updateRow(ledger.db, five.id, 1, { state: 'syncing', attempt: null });
    expect(await claimRows(five)).toEqual([3]);
  });

  test('does not extend to another migration', async () => {
    const family = () => manifestRows(1, () => ({ family: 'odd' }));
    const [one, other] = [
      await createMovableMigration(ledger, family()),
      await createMovableMigration(ledger, family()),
    ];
    expect([await claimRows(one), await claimRows(other)]).toEqual([[1], [1]]);
  });
});
