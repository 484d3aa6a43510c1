/** Checks of syncing companies: when they are due, and how their outcomes are written. */
import type { Evidence } from '../../../domain/companies/evidence';
import { readDueChecks, readRemainingWork, recordChecks, type CheckOutcome } from '../../../store';
import {
  rowsWithCredential,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
  type MovableMigration,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const ID = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';
const EVIDENCE: readonly Evidence[] = [
  { code: 'organization', label: 'right organization', passed: true, detail: 'it is' },
];
const SCHEDULE = { everyHours: { least: 24, most: 24 }, nextAt: '2026-03-03T10:00:00.000Z' };

async function createSyncing(count: number): Promise<MovableMigration> {
  const migration = await createMovableMigration(ledger, manifestRows(count));
  for (const { row } of migration.rows) {
    const since = { sync_started_at: msFromNow(-90_000), next_check_at: msFromNow(-1_000 * row) };
    await updateRow(ledger.db, migration.id, row, { state: 'syncing', company_id: ID, connection_id: ID, ...since });
  }
  return migration;
}
const readDue = async ({ id }: MovableMigration, overrides: Partial<Parameters<typeof readDueChecks>[2]> = {}) =>
  readDueChecks(ledger.db, id, { size: 10, onlyRow: null, without: [], ...overrides });
const readDueRows = async (...which: Parameters<typeof readDue>) => (await readDue(...which)).map(({ row }) => row);

test("returns how long a due company has been syncing, by the database's clock", async () => {
  const [company] = await readDue(await createSyncing(1));
  expect(company).toMatchObject({ row: 1, companyId: ID, connectionId: ID, expectedInvoices: 10 });
  expect(company?.syncingForMs).toBeGreaterThanOrEqual(90_000);
  expect(company?.syncingForMs).toBeLessThan(150_000);
});

test('returns due companies in the order in which they became due, without the omitted rows', async () => {
  const migration = await createSyncing(3);
  expect(await readDueRows(migration, { size: 2 })).toEqual([3, 2]);
  expect(await readDueRows(migration, { size: 2, without: [3] })).toEqual([2, 1]);
});

test('omits companies that are not due, not syncing or not requested', async () => {
  const migration = await createSyncing(3);
  await updateRow(ledger.db, migration.id, 1, { next_check_at: msFromNow(60_000) });
  await updateRow(ledger.db, migration.id, 2, { state: 'importing', attempt: 'a' });
  expect(await readDueRows(migration, { onlyRow: 1 })).toEqual([]);
  expect(await readDueRows(migration)).toEqual([3]);
});

test('schedules the next check of a company that is still syncing, and counts its checks', async () => {
  const migration = await createSyncing(1);
  await recordChecks(ledger.db, migration.id, [{ row: 1, to: 'syncing', nextCheckInMs: 60_000 }]);
  expect(await readDueRows(migration)).toEqual([]);
  expect((await readRow(ledger.db, migration.id, 1)).checks).toBe(1);
});

test.each([Infinity, 1e300, NaN])(
  'makes a check due within 25 hours, even if the wait is %s ms',
  async (nextCheckInMs) => {
    const migration = await createSyncing(1);
    await recordChecks(ledger.db, migration.id, [{ row: 1, to: 'syncing', nextCheckInMs }]);
    const { next_check_at: at } = await readRow(ledger.db, migration.id, 1);
    expect(at?.getTime()).toBeLessThanOrEqual(Date.now() + 25 * 3_600_000);
  },
);

test('treats a check that is implausibly far ahead as due now', async () => {
  const migration = await createSyncing(1);
  await updateRow(ledger.db, migration.id, 1, { next_check_at: new Date('2036-11-19') });
  expect(await readDueRows(migration)).toEqual([1]);
  expect(await readRemainingWork(ledger.db, migration.id)).toMatchObject({ nextCheckInMs: 0 });
});

test('deletes the credentials of moved companies only', async () => {
  const migration = await createSyncing(3);
  const outcomes: CheckOutcome[] = [
    { row: 1, to: 'moved', evidence: EVIDENCE, schedule: SCHEDULE },
    { row: 2, to: 'failed', failure: 'incomplete', text: 'too few', evidence: EVIDENCE, correlationId: ID },
    { row: 3, to: 'syncing', nextCheckInMs: 60_000 },
  ];
  await recordChecks(ledger.db, migration.id, outcomes);
  expect(await rowsWithCredential(ledger.db, migration.id)).toEqual([2, 3]);
  const moved = await readRow(ledger.db, migration.id, 1);
  expect(moved).toMatchObject({ state: 'moved', moved_at: expect.any(Date) as Date, sync_schedule: SCHEDULE });
  expect(moved.sync_ms).toBeGreaterThan(89_000);
  expect(await readRow(ledger.db, migration.id, 2)).toMatchObject({
    state: 'failed',
    failure: 'incomplete',
    failure_text: 'too few',
    correlation_id: ID,
    evidence: EVIDENCE,
    moved_at: null,
  });
  expect(await readDueRows(migration)).toEqual([]);
});

test('keeps the time of the move when a moved company is checked again', async () => {
  const migration = await createSyncing(1);
  const moved: CheckOutcome = { row: 1, to: 'moved', evidence: EVIDENCE, schedule: SCHEDULE };
  await recordChecks(ledger.db, migration.id, [moved]);
  const before = await readRow(ledger.db, migration.id, 1);
  await updateRow(ledger.db, migration.id, 1, { state: 'syncing', sync_started_at: msFromNow(0) });
  await recordChecks(ledger.db, migration.id, [{ row: 1, to: 'syncing', nextCheckInMs: 0 }]);
  await recordChecks(ledger.db, migration.id, [moved]);
  const { moved_at, sync_ms } = await readRow(ledger.db, migration.id, 1);
  expect({ moved_at, sync_ms }).toEqual({ moved_at: before.moved_at, sync_ms: before.sync_ms });
});

test('ignores the outcome of a company that is no longer syncing', async () => {
  const migration = await createSyncing(2);
  await recordChecks(ledger.db, migration.id, [
    { row: 1, to: 'failed', failure: 'incomplete', text: 'first', evidence: [] },
  ]);
  await recordChecks(ledger.db, migration.id, [{ row: 1, to: 'moved', evidence: EVIDENCE, schedule: SCHEDULE }]);
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({ state: 'failed', failure_text: 'first' });
  expect(await rowsWithCredential(ledger.db, migration.id)).toEqual([1, 2]);
});
