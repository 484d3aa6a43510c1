/** Races of claims with other claims, a pause, a newer attempt and a newer credential. Locks force every race. */
import type { Database } from '../../../store';
import {
  beginRun,
  beginSlice,
  claimCompanies,
  readVault,
  setPaused,
  supplyCredentials,
  recordSendIntents,
  reclaimSent,
} from '../../../store';
import type { MovableMigration } from '../../support/ledger';
import {
  credentialOf,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
  untilBlocked,
} from '../../support/ledger';

const ledger = useLedger();

const numbers = (companies: readonly { row: number }[]) => companies.map(({ row }) => row).sort((a, b) => a - b);

test('eight slices share two hundred companies: each is claimed once', async () => {
  const many = await createMovableMigration(ledger, manifestRows(200));
  const claimAll = async (slice: number): Promise<number[]> => {
    const owner = await beginSlice(ledger.db, { ...many.owner, slice });
    const mine: number[] = [];
    for (;;) {
      const group = await claimCompanies(ledger.db, owner, 7, null);
      if (group.length === 0) return mine;
      mine.push(...numbers(group));
    }
  };
  const all = (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(claimAll))).flat();
  // A slice that finds all remaining rows locked ends early.
  expect(new Set(all).size).toBe(all.length);
  expect(numbers(all.map((row) => ({ row })))).toEqual(many.rows.map(({ row }) => row));
});

test('four slices claim from a few token families: no family has two importing at once', async () => {
  const many = await createMovableMigration(
    ledger,
    manifestRows(40, (row) => ({ family: `user-${row % 4}` })),
  );
  const work = async (slice: number): Promise<void> => {
    const owner = await beginSlice(ledger.db, { ...many.owner, slice });
    for (let round = 0; round < 30; round += 1) {
      const group = await claimCompanies(ledger.db, owner, 4, null);
      const families = group.map(({ row }) => row % 4);
      expect(new Set(families).size).toBe(families.length);
      for (const { row } of group) await updateRow(ledger.db, many.id, row, { state: 'syncing', attempt: null });
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  const left = await ledger.db
    .selectFrom('companies')
    .select('row')
    .where('migration_id', '=', many.id)
    .where('state', '=', 'importing')
    .execute();
  expect(left).toEqual([]);
});

test('two simultaneous claims in one family: one succeeds, the other returns nothing and no error', async () => {
  const two = await createMovableMigration(
    ledger,
    manifestRows(2, () => ({ family: 'user' })),
  );
  const first = await ledger.db.startTransaction().execute();
  expect(numbers(await claimCompanies(first, two.owner, 1, 1))).toEqual([1]);
  const second = claimCompanies(ledger.db, two.owner, 1, 2);
  await untilBlocked(ledger.db);
  await first.commit().execute();
  expect(await second).toEqual([]);
  expect((await readRow(ledger.db, two.id, 2)).state).toBe('waiting');
});

test.each<[string, (tx: Database, one: MovableMigration) => Promise<unknown>]>([
  ['a pause', (tx, { id }) => setPaused(tx, id, true)],
  ['the close', (tx, { id }) => tx.updateTable('migrations').set({ state: 'closed' }).where('id', '=', id).execute()],
  ['another run', (tx, { id }) => beginRun(tx, id, 'run-2')],
  ['a newer attempt', (tx, { owner }) => beginSlice(tx, owner)],
  [
    'a narrower window',
    (tx, { id }) =>
      tx
        .updateTable('migrations')
        .set({ window_closes_at: msFromNow(-1) })
        .where('id', '=', id)
        .execute(),
  ],
])('a claim sees %s that commits while it runs', async (_, change) => {
  const one = await createMovableMigration(ledger, manifestRows(3));
  const changing = await ledger.db.startTransaction().execute();
  await change(changing, one);
  const claim = claimCompanies(ledger.db, one.owner, 3, null);
  await untilBlocked(ledger.db);
  await changing.commit().execute();
  expect(await claim).toEqual([]);
});

test('a pause waits for a claim that came first, so nothing is claimed after it', async () => {
  const one = await createMovableMigration(ledger, manifestRows(1));
  const claiming = await ledger.db.startTransaction().execute();
  expect(numbers(await claimCompanies(claiming, one.owner, 1, null))).toEqual([1]);
  const pausing = setPaused(ledger.db, one.id, true);
  await untilBlocked(ledger.db);
  await claiming.commit().execute();
  await pausing;
  expect((await readRow(ledger.db, one.id, 1)).state).toBe('importing');
});

test('a claim returns a credential that was replaced while it ran', async () => {
  const two = await createMovableMigration(ledger, manifestRows(2));
  const [, row] = two.rows;
  if (!row) throw new Error('two rows were asked for');
  const holding = await ledger.db.startTransaction().execute();
  await setPaused(holding, two.id, false);
  const claim = claimCompanies(ledger.db, two.owner, 2, null);
  await untilBlocked(ledger.db);
  await supplyCredentials(ledger.db, two.id, [credentialOf(row, { token: 'the newer one' })], 'Cleo');
  await holding.rollback().execute();
  const company = (await claim).find((each) => each.row === 2);
  if (!company) throw new Error('both can be claimed');
  const vault = await readVault(ledger.db, ledger.keys, two.id);
  expect((await vault.open(2, company.sealed)).reveal()).toMatchObject({ refreshToken: 'the newer one' });
});

test('a credential that arrives while its company is being claimed is refused by reference', async () => {
  const two = await createMovableMigration(ledger, manifestRows(2));
  const claiming = await ledger.db.startTransaction().execute();
  await claimCompanies(claiming, two.owner, 1, 2);
  const late = supplyCredentials(
    ledger.db,
    two.id,
    two.rows.map((row) => credentialOf(row, { token: 'the newer one' })),
    'Cleo',
  );
  await untilBlocked(ledger.db);
  await claiming.commit().execute();
  expect(await late).toEqual({ stored: ['c1'], elsewhere: ['c2'], unknown: [], tooEarly: [] });
});

test('each company whose attempt died is reclaimed by exactly one of several slices', async () => {
  const one = await createMovableMigration(ledger, manifestRows(6));
  await claimCompanies(ledger.db, one.owner, 6, null);
  await recordSendIntents(ledger.db, one.owner, [1, 2, 3, 4, 5, 6]);
  await beginSlice(ledger.db, one.owner);
  const owners = await Promise.all([2, 3, 4].map((slice) => beginSlice(ledger.db, { ...one.owner, slice })));
  const reclaimed = await Promise.all(owners.map((each) => reclaimSent(ledger.db, each, 6)));
  expect(numbers(reclaimed.flat())).toEqual([1, 2, 3, 4, 5, 6]);
});
