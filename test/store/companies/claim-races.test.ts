/** Claims that meet: other claims, a pause, a newer attempt, a newer credential. Every race is forced, none is hoped for. */
import type { Database } from '../../../store';
import {
  beginRun,
  beginSlice,
  claimGroup,
  readVault,
  setPaused,
  supplyCredentials,
  recordSendIntent,
  reclaimSent,
} from '../../../store';
import type { Ledger, Movable } from '../../support/ledger';
import {
  credentialOf,
  movable,
  msFromNow,
  openLedger,
  putRow,
  readRow,
  rowsOf,
  untilBlocked,
} from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

const numbers = (companies: readonly { row: number }[]) => companies.map(({ row }) => row).sort((a, b) => a - b);

test('eight claimers share two hundred companies: each is claimed once', async () => {
  const many = await movable(ledger, rowsOf(200));
  const claimAll = async (slice: number): Promise<number[]> => {
    const claimant = await beginSlice(db, { ...many.claimant, slice });
    const mine: number[] = [];
    for (;;) {
      const group = await claimGroup(db, claimant, 7, null);
      if (group.length === 0) return mine;
      mine.push(...numbers(group));
    }
  };
  const all = (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(claimAll))).flat();
  // Whoever finds all that is left locked by others ends early; nobody gets what another has.
  expect(new Set(all).size).toBe(all.length);
  expect(numbers(all.map((row) => ({ row })))).toEqual(many.rows.map(({ row }) => row));
});

test('four claimers over a few families: no family has two at once', async () => {
  const many = await movable(
    ledger,
    rowsOf(40, (row) => ({ family: `user-${row % 4}` })),
  );
  const work = async (slice: number): Promise<void> => {
    const claimant = await beginSlice(db, { ...many.claimant, slice });
    for (let round = 0; round < 30; round += 1) {
      const group = await claimGroup(db, claimant, 4, null);
      const families = group.map(({ row }) => row % 4);
      expect(new Set(families).size).toBe(families.length);
      for (const { row } of group) await putRow(db, many.id, row, { state: 'syncing', attempt: null });
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  const left = await db
    .selectFrom('companies')
    .select('row')
    .where('migration_id', '=', many.id)
    .where('state', '=', 'importing')
    .execute();
  expect(left).toEqual([]);
});

test('two of one family that are claimed at the same moment: one gets it, the other gets nothing and no error', async () => {
  const two = await movable(
    ledger,
    rowsOf(2, () => ({ family: 'user' })),
  );
  const first = await db.startTransaction().execute();
  expect(numbers(await claimGroup(first, two.claimant, 1, 1))).toEqual([1]);
  const second = claimGroup(db, two.claimant, 1, 2);
  await untilBlocked(db);
  await first.commit().execute();
  expect(await second).toEqual([]);
  expect((await readRow(db, two.id, 2)).state).toBe('waiting');
});

test.each<[string, (tx: Database, one: Movable) => Promise<unknown>]>([
  ['a pause', (tx, { id }) => setPaused(tx, id, true)],
  ['the close', (tx, { id }) => tx.updateTable('migrations').set({ state: 'closed' }).where('id', '=', id).execute()],
  ['another run', (tx, { id }) => beginRun(tx, id, 'run-2')],
  ['a newer attempt', (tx, { claimant }) => beginSlice(tx, claimant)],
  [
    'a narrower window',
    (tx, { id }) =>
      tx
        .updateTable('migrations')
        .set({ window_closes_at: msFromNow(-1) })
        .where('id', '=', id)
        .execute(),
  ],
])('%s that commits while a claim is under way is seen by it', async (_, change) => {
  const one = await movable(ledger, rowsOf(3));
  const changing = await db.startTransaction().execute();
  await change(changing, one);
  const claim = claimGroup(db, one.claimant, 3, null);
  await untilBlocked(db);
  await changing.commit().execute();
  expect(await claim).toEqual([]);
});

test('a pause waits until a claim that came first is written: nothing is claimed after a pause', async () => {
  const one = await movable(ledger, rowsOf(1));
  const claiming = await db.startTransaction().execute();
  expect(numbers(await claimGroup(claiming, one.claimant, 1, null))).toEqual([1]);
  const pausing = setPaused(db, one.id, true);
  await untilBlocked(db);
  await claiming.commit().execute();
  await pausing;
  expect((await readRow(db, one.id, 1)).state).toBe('importing');
});

test('a credential that is replaced while a claim is under way is the one that is claimed', async () => {
  const two = await movable(ledger, rowsOf(2));
  const [, row] = two.rows;
  if (!row) throw new Error('two rows were asked for');
  const holding = await db.startTransaction().execute();
  await setPaused(holding, two.id, false);
  const claim = claimGroup(db, two.claimant, 2, null);
  await untilBlocked(db);
  await supplyCredentials(db, two.id, [credentialOf(row, { token: 'the newer one' })], 'Cleo');
  await holding.rollback().execute();
  const company = (await claim).find((each) => each.row === 2);
  if (!company) throw new Error('both can be claimed');
  const vault = await readVault(db, ledger.keys, two.id);
  expect((await vault.open(2, company.sealed)).reveal()).toMatchObject({ refreshToken: 'the newer one' });
});

test('a credential that comes while its company is being claimed is refused by name', async () => {
  const two = await movable(ledger, rowsOf(2));
  const claiming = await db.startTransaction().execute();
  await claimGroup(claiming, two.claimant, 1, 2);
  const late = supplyCredentials(
    db,
    two.id,
    two.rows.map((row) => credentialOf(row, { token: 'the newer one' })),
    'Cleo',
  );
  await untilBlocked(db);
  await claiming.commit().execute();
  expect(await late).toEqual({ stored: ['c1'], elsewhere: ['c2'], unknown: [], tooEarly: [] });
});

test('a company whose attempt died is taken over by one of several', async () => {
  const one = await movable(ledger, rowsOf(6));
  await claimGroup(db, one.claimant, 6, null);
  await recordSendIntent(db, one.claimant, [1, 2, 3, 4, 5, 6]);
  await beginSlice(db, one.claimant);
  const takers = await Promise.all([2, 3, 4].map((slice) => beginSlice(db, { ...one.claimant, slice })));
  const taken = await Promise.all(takers.map((taker) => reclaimSent(db, taker, 6)));
  expect(numbers(taken.flat())).toEqual([1, 2, 3, 4, 5, 6]);
});
