/** Races between a claim and other changes. The tests use locks to force the order of events. */
import {
  beginSlice,
  claimCompanies,
  readVault,
  setPaused,
  supplyCredentials,
  reclaimSent,
  type Database,
} from '../../../store';
import {
  credentialOf,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
  sendIntents,
  untilBlocked,
  type MovableMigration,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const numbers = (companies: readonly { row: number }[]) => companies.map(({ row }) => row).sort((a, b) => a - b);

test('claims each of two hundred companies once when eight slices claim concurrently', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(200));
  const claimAll = async (slice: number): Promise<number[]> => {
    const owner = await beginSlice(ledger.db, { ...migration.owner, slice });
    const claimedRows: number[] = [];
    for (;;) {
      const group = await claimCompanies(ledger.db, owner, 7, null);
      if (group.length === 0) return claimedRows;
      claimedRows.push(...numbers(group));
    }
  };
  const all = (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(claimAll))).flat();
  // A slice can end early, because other slices have locked all remaining rows. Those slices then claim these rows.
  expect(new Set(all).size).toBe(all.length);
  expect(numbers(all.map((row) => ({ row })))).toEqual(migration.rows.map(({ row }) => row));
});

test('never claims two companies of one token family when four slices claim concurrently', async () => {
  const migration = await createMovableMigration(
    ledger,
    manifestRows(40, (row) => ({ family: `user-${row % 4}` })),
  );
  const work = async (slice: number): Promise<void> => {
    const owner = await beginSlice(ledger.db, { ...migration.owner, slice });
    for (let round = 0; round < 30; round += 1) {
      const group = await claimCompanies(ledger.db, owner, 4, null);
      const families = group.map(({ row }) => row % 4);
      expect(new Set(families).size).toBe(families.length);
      for (const { row } of group) await updateRow(ledger.db, migration.id, row, { state: 'syncing', attempt: null });
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  const left = await ledger.db
    .selectFrom('companies')
    .select('row')
    .where('migration_id', '=', migration.id)
    .where('state', '=', 'importing')
    .execute();
  expect(left).toEqual([]);
});

test('returns no company, and no error, when a concurrent claim has taken the token family', async () => {
  const migration = await createMovableMigration(
    ledger,
    manifestRows(2, () => ({ family: 'user' })),
  );
  const first = await ledger.db.startTransaction().execute();
  expect(numbers(await claimCompanies(first, migration.owner, 1, 1))).toEqual([1]);
  const second = claimCompanies(ledger.db, migration.owner, 1, 2);
  await untilBlocked(ledger.db);
  await first.commit().execute();
  expect(await second).toEqual([]);
  expect((await readRow(ledger.db, migration.id, 2)).state).toBe('waiting');
});

test.each<[string, (tx: Database, migration: MovableMigration) => Promise<unknown>]>([
  ['a pause', (tx, { id }) => setPaused(tx, id, true)],
  [
    'the end of the migration',
    (tx, { id }) => tx.updateTable('migrations').set({ state: 'closed' }).where('id', '=', id).execute(),
  ],
  [
    'the start of another run',
    (tx, { id }) => tx.updateTable('migrations').set({ current_run: 'run-2' }).where('id', '=', id).execute(),
  ],
  ['the start of a newer attempt', (tx, { owner }) => beginSlice(tx, owner)],
  [
    'the end of the window',
    (tx, { id }) =>
      tx
        .updateTable('migrations')
        .set({ window_closes_at: msFromNow(-1) })
        .where('id', '=', id)
        .execute(),
  ],
])('claims nothing after %s that commits while the claim is running', async (_, change) => {
  const migration = await createMovableMigration(ledger, manifestRows(3));
  const changing = await ledger.db.startTransaction().execute();
  await change(changing, migration);
  const claim = claimCompanies(ledger.db, migration.owner, 3, null);
  await untilBlocked(ledger.db);
  await changing.commit().execute();
  expect(await claim).toEqual([]);
});

test('makes a pause wait for a claim that has already begun', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(1));
  const claiming = await ledger.db.startTransaction().execute();
  expect(numbers(await claimCompanies(claiming, migration.owner, 1, null))).toEqual([1]);
  const pausing = setPaused(ledger.db, migration.id, true);
  await untilBlocked(ledger.db);
  await claiming.commit().execute();
  await pausing;
  expect((await readRow(ledger.db, migration.id, 1)).state).toBe('importing');
});

test('returns the new credential if the old credential was replaced while the claim was waiting', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(2));
  const [, row] = migration.rows;
  if (!row) throw new Error('the migration should have two rows');
  const holding = await ledger.db.startTransaction().execute();
  await setPaused(holding, migration.id, false);
  const claim = claimCompanies(ledger.db, migration.owner, 2, null);
  await untilBlocked(ledger.db);
  await supplyCredentials(ledger.db, migration.id, [credentialOf(row, { token: 'the newer one' })], 'Cleo');
  await holding.rollback().execute();
  const company = (await claim).find((each) => each.row === 2);
  if (!company) throw new Error('row 2 was not claimed');
  const vault = await readVault(ledger.db, ledger.keys, migration.id);
  expect(vault.open(company).reveal()).toMatchObject({ refreshToken: 'the newer one' });
});

test('rejects a credential that arrives while its company is being claimed', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(2));
  const claiming = await ledger.db.startTransaction().execute();
  await claimCompanies(claiming, migration.owner, 1, 2);
  const late = supplyCredentials(
    ledger.db,
    migration.id,
    migration.rows.map((row) => credentialOf(row, { token: 'the newer one' })),
    'Cleo',
  );
  await untilBlocked(ledger.db);
  await claiming.commit().execute();
  expect(await late).toEqual({ stored: ['c1'], wrongState: ['c2'], unknown: [], obtainedTooEarly: [] });
});

test('lets exactly one of several slices reclaim each company of a dead attempt', async () => {
  const migration = await createMovableMigration(ledger, manifestRows(6));
  await claimCompanies(ledger.db, migration.owner, 6, null);
  await sendIntents(ledger.db, migration.owner, [1, 2, 3, 4, 5, 6]);
  await beginSlice(ledger.db, migration.owner);
  const owners = await Promise.all([2, 3, 4].map((slice) => beginSlice(ledger.db, { ...migration.owner, slice })));
  const reclaimed = await Promise.all(owners.map((each) => reclaimSent(ledger.db, each, 6)));
  expect(numbers(reclaimed.flat())).toEqual([1, 2, 3, 4, 5, 6]);
});
