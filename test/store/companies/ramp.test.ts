/** The ramp: it does not end before one of its companies has shown whether companies can be moved. */
import { advanceRamp, beginRun, beginSlice, claimCompanies, isRampInProgress, leaveOutCompanies } from '../../../store';
import {
  createMovableMigration,
  manifestRows,
  openLedger,
  updateRow,
  type Ledger,
  type MovableMigration,
} from '../../support/migrations/ledger';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** Returns a migration of six companies, with a ramp of two. */
async function migrationWithRamp(prepare: (migration: MovableMigration) => Promise<void> = async () => undefined) {
  const migration = await createMovableMigration(ledger, manifestRows(6));
  const { db } = ledger;
  const { id } = migration;
  const { limits } = await db.selectFrom('migrations').select('limits').where('id', '=', id).executeTakeFirstOrThrow();
  const asked = JSON.stringify({ ...limits, rampCompanies: 2 });
  await db.updateTable('migrations').set({ limits: asked }).where('id', '=', id).execute();
  await prepare(migration);
  await beginRun(db, id, 'run-2', 2);
  const owner = await beginSlice(db, { migrationId: id, run: 'run-2', slice: 1, leaseMs: 60_000 });
  const claimable = async () => (await claimCompanies(db, owner, 10, null)).map(({ row }) => row);
  return { id, claimable };
}

const leaveOut = (id: string, ...companies: readonly string[]) =>
  leaveOutCompanies(ledger.db, { migrationId: id, companies, as: 'exclude', by: 'Sam', reason: 'sold' });

test('a ramp that is empty because no company was ready takes the first companies that become ready', async () => {
  const { db } = ledger;
  const notReady = ({ id, rows }: MovableMigration) =>
    Promise.all(rows.map(({ row }) => updateRow(db, id, row, { held_back: 'not checked yet' }))).then(() => undefined);
  const { id, claimable } = await migrationWithRamp(notReady);
  expect(await advanceRamp(db, id)).toBe(0);
  expect(await isRampInProgress(db, id)).toBe(true);
  for (const row of [3, 4, 5]) await updateRow(db, id, row, { held_back: null });
  expect(await claimable()).toEqual([]);
  expect(await advanceRamp(db, id)).toBe(2);
  expect(await claimable()).toEqual([3, 4]);
});

test('a ramp whose companies were all left out takes other companies', async () => {
  const { id, claimable } = await migrationWithRamp();
  await leaveOut(id, 'c1', 'c2');
  expect(await advanceRamp(ledger.db, id)).toBe(4);
  expect(await claimable()).toEqual([3, 4]);
});

test('a ramp ends once one company has been moved and the other companies were left out', async () => {
  const { id, claimable } = await migrationWithRamp();
  await updateRow(ledger.db, id, 1, { state: 'moved' });
  await leaveOut(id, 'c2');
  expect(await advanceRamp(ledger.db, id)).toBeNull();
  expect(await claimable()).toEqual([3, 4, 5, 6]);
});
