/** The rate while companies are moving, and how long they were moving. */
import { perMinute } from '../../../domain/planning/throughput';
import { countWithThroughput, readFigures, readOverviews } from '../../../store';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

const MINUTE_MS = 60_000;

/** Creates a migration with companies that moved, each in a period given in minutes before now. */
async function movedIn(...periods: readonly (readonly [from: number, to: number])[]): Promise<string> {
  const { id } = await createMovableMigration(ledger, manifestRows(periods.length));
  for (const [index, [from, to]] of periods.entries()) await move(id, index + 1, from, to);
  return id;
}

const before = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE_MS);

async function move(id: string, row: number, from: number, to: number): Promise<void> {
  await updateRow(ledger.db, id, row, { state: 'moved', claimed_at: before(from), moved_at: before(to) });
}

async function rateOf(id: string): Promise<number> {
  const [overview] = await readOverviews(ledger.db, [id]);
  const { throughput } = await countWithThroughput(ledger.db, id);
  const [shown, counted] = [overview, throughput].map((each) => each && perMinute(each));
  expect(shown).toBeCloseTo(counted ?? 0, 1);
  return shown ?? 0;
}

test('the rate leaves out the time in which no company moved, for example outside a window or during a pause', async () => {
  // Four companies in two minutes, and none since then.
  expect(await rateOf(await movedIn([7, 6], [7, 6], [6, 5], [6, 5]))).toBeCloseTo(2, 1);
  // The same, with a pause of three minutes after the second company.
  expect(await rateOf(await movedIn([8, 7], [8, 7], [4, 3], [4, 3]))).toBeCloseTo(2, 1);
});

test('the rate counts time in which companies are moving, and short waits between them', async () => {
  const waiting = await movedIn([5, 4.9], [4.1, 4], [3.1, 3]);
  expect(await rateOf(waiting)).toBeCloseTo(1.5, 1);
  const moving = await movedIn([4, 3], [4, 3]);
  await updateRow(ledger.db, moving, 2, { state: 'syncing', claimed_at: before(4), moved_at: null });
  expect(await rateOf(moving)).toBeCloseTo(0.25, 1);
  expect(await rateOf(await movedIn([60, 2], [60, 6]))).toBeCloseTo(0.25, 1);
});

test('a company whose end customer reconnected it later was not moving in the meantime', async () => {
  const id = await movedIn([9, 8], [9, 2]);
  await updateRow(ledger.db, id, 2, { sync_started_at: before(3), import_ms: 1_000 });
  expect(await rateOf(id)).toBeCloseTo(1, 1);
});

test('an overview counts the open companies as a count of one migration does', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(9));
  await updateRow(ledger.db, id, 1, { confirmed_at: null });
  await updateRow(ledger.db, id, 2, { held_back: 'no organization' });
  await updateRow(ledger.db, id, 3, { state: 'importing', attempt: 'a', claimed_at: new Date() });
  await updateRow(ledger.db, id, 4, { state: 'syncing', claimed_at: new Date() });
  await updateRow(ledger.db, id, 5, { state: 'outcome-unknown' });
  await updateRow(ledger.db, id, 6, { state: 'moved', claimed_at: before(2), moved_at: before(1) });
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 7).execute();
  const [overview] = await readOverviews(ledger.db, [id]);
  const { throughput, ...counts } = await countWithThroughput(ledger.db, id);
  expect(overview?.counts).toMatchObject({ waiting: 5, unconfirmed: 1, withoutCredential: 1, heldBack: 1 });
  expect(counts).toMatchObject({ ...overview?.counts });
  expect(throughput?.moved).toBe(overview?.moved);
});

test('the figures of a report say how long companies were moving in all', async () => {
  const id = await movedIn([3_000, 2_950], [2_980, 2_940], [100, 90], [80, 70]);
  const { movingMs } = await readFigures(ledger.db, id);
  expect(movingMs / MINUTE_MS).toBeCloseTo(80, 1);
  const { id: none } = await createMovableMigration(ledger, manifestRows(1));
  expect(await readFigures(ledger.db, none)).toMatchObject({ movingMs: 0 });
});

test('the figures of a report end with the last move, so the part is never longer than the whole', async () => {
  const id = await movedIn([10, 9], [9, 8]);
  // A terminated migration can have companies that stay `syncing`.
  await updateRow(ledger.db, id, 2, { state: 'syncing', moved_at: null });
  const { movingMs, firstStartedAt, lastMovedAt } = await readFigures(ledger.db, id);
  expect(movingMs).toBeGreaterThan(0);
  expect(movingMs).toBeLessThanOrEqual(Date.parse(lastMovedAt ?? '') - Date.parse(firstStartedAt ?? ''));
});
