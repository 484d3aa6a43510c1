/** Statistics of a migration for the charts of its report. */
import { sql } from 'kysely';
import { DURATION_BOUNDS_MS, readStatistics } from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  useLedger,
  updateRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const minutesLater = (minutes: number): Date => new Date(Date.parse(CONFIRMED_AT) + minutes * 60_000);

test('accumulates moved companies over time and counts durations by bucket and failures by kind', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(8));
  for (const [row, minutes, importMs, syncMs] of [
    [1, 10, 200, 500],
    [2, 5, 1_000, 4_000],
    // 10 s in total. The upper bound of a bucket belongs to that bucket.
    [3, 60, 1_000, 9_000],
    [4, 20, 100_000_000, null],
  ] as const) {
    const took = { import_ms: importMs, sync_ms: syncMs };
    await updateRow(ledger.db, id, row, { state: 'moved', moved_at: minutesLater(minutes), ...took });
  }
  await updateRow(ledger.db, id, 5, { state: 'failed', failure: 'incomplete' });
  await updateRow(ledger.db, id, 6, { state: 'skipped', failure: 'incomplete' });
  await updateRow(ledger.db, id, 7, { state: 'failed', failure: 'reauthorization-required' });
  await updateRow(ledger.db, id, 8, { state: 'excluded' });

  const statistics = await readStatistics(ledger.db, id);
  expect(statistics).toMatchObject({
    moved: [5, 10, 20, 60].map((minutes, index) => ({ at: minutesLater(minutes).toISOString(), companies: index + 1 })),
    ...{ medianMs: 5_000, p95Ms: 100_000_000, longestMs: 100_000_000 },
    failures: [
      { kind: 'incomplete', companies: 2 },
      { kind: 'reauthorization-required', companies: 1 },
    ],
  });
  expect(statistics.slowest.map(({ reference }) => reference)).toEqual(['c4', 'c3', 'c2', 'c1']);
  const counted = [
    ['< 1 s', 0],
    ['3 s to 10 s', 2],
    ['more than a day', DURATION_BOUNDS_MS.length],
  ] as const;
  expect(counted.map(([name, column]) => [name, statistics.durations[column]])).toEqual([
    ['< 1 s', 1],
    ['3 s to 10 s', 2],
    ['more than a day', 1],
  ]);
});

test('limits the number of points of the curve, and ends it with all moved companies', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(600));
  await sql`update companies set state = 'moved', moved_at = ${minutesLater(0)}::timestamptz + make_interval(mins => row)
    where migration_id = ${id}`.execute(ledger.db);
  const { moved } = await readStatistics(ledger.db, id);
  expect(moved.length).toBeLessThanOrEqual(161);
  expect(moved.at(-1)).toEqual({ at: minutesLater(600).toISOString(), companies: 600 });
});

test('returns statistics of a migration that has moved no company or one company', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  expect(await readStatistics(ledger.db, id)).toMatchObject({ moved: [], medianMs: null, slowest: [], failures: [] });
  await updateRow(ledger.db, id, 1, { state: 'moved', moved_at: minutesLater(1) });
  expect(await readStatistics(ledger.db, id)).toMatchObject({
    moved: [{ at: minutesLater(1).toISOString(), companies: 1 }],
  });
});
