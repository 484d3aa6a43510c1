/** Leases: companies whose attempt died, and attempts that continue after they were superseded. */
import {
  beginRun,
  beginSlice,
  claimCompanies,
  countInterrupted,
  recordImports,
  releaseUnsent,
  reclaimSent,
  retryCompanies,
  stopClaims,
  type ImportOutcome,
} from '../../../store';
import {
  LEASE_MS,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
  sendIntents,
  type MovableMigration,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const linked: ImportOutcome = {
  row: 1,
  refs: { companyId: '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11', linkUrl: 'https://link' },
  to: 'syncing',
  firstCheckInMs: 0,
};

async function createImporting(leaseMs: number): Promise<MovableMigration> {
  const migration = await createMovableMigration(ledger, manifestRows(1));
  await claimCompanies(ledger.db, migration.owner, 1, null);
  await updateRow(ledger.db, migration.id, 1, { lease_ends_at: msFromNow(leaseMs) });
  return migration;
}

async function createSent(leaseMs: number): Promise<MovableMigration> {
  const migration = await createImporting(leaseMs);
  expect([...(await sendIntents(ledger.db, migration.owner, [1]))]).toEqual([1]);
  return migration;
}

const reclaim = async ({ owner }: MovableMigration) => reclaimSent(ledger.db, await beginSlice(ledger.db, owner), 5);

test('a credential that was sent is returned as sent by every later claim, until it is replaced', async () => {
  const migration = await createSent(LEASE_MS);
  const { db } = ledger;
  await recordImports(db, migration.owner, [{ row: 1, refs: {}, to: 'outcome-unknown', text: 'lost' }]);
  await retryCompanies(db, migration.id, 'all');
  for (let attempts = 1; attempts <= 3; attempts += 1) {
    const owner = await beginSlice(db, migration.owner);
    expect(await claimCompanies(db, owner, 1, null)).toMatchObject([{ wasSent: true, sentAt: null }]);
    // The attempt dies before it sends the credential again.
    expect(await releaseUnsent(db, await beginSlice(db, migration.owner))).toBe(1);
  }
  await db.updateTable('credentials').set({ supplied_at: new Date() }).execute();
  expect(await claimCompanies(db, await beginSlice(db, migration.owner), 1, null)).toMatchObject([{ wasSent: false }]);
});

describe('a company without a send intent', () => {
  test('is released when a newer attempt begins, and the old attempt can no longer send its credential', async () => {
    const migration = await createImporting(LEASE_MS);
    const newer = await beginSlice(ledger.db, migration.owner);
    expect(await reclaimSent(ledger.db, newer, 5)).toEqual([]);
    expect(await releaseUnsent(ledger.db, newer)).toBe(1);
    expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({ state: 'waiting', attempt: null });
    expect(await sendIntents(ledger.db, migration.owner, [1])).toEqual(new Set());
    expect(await claimCompanies(ledger.db, newer, 5, null)).toMatchObject([
      { row: 1, tries: 2, sentAt: null, isInFlight: false },
    ]);
  });

  test('stays with its owner until the lease expires', async () => {
    const migration = await createImporting(LEASE_MS);
    expect(await releaseUnsent(ledger.db, migration.owner)).toBe(0);
    await updateRow(ledger.db, migration.id, 1, { lease_ends_at: msFromNow(-1) });
    expect(await releaseUnsent(ledger.db, migration.owner)).toBe(1);
  });

  test('is not released by a run that was replaced', async () => {
    const migration = await createImporting(-1);
    await beginRun(ledger.db, migration.id, 'run-2');
    expect(await releaseUnsent(ledger.db, migration.owner)).toBe(0);
  });
});

test('reclaims a company for reading only, without a new lease, while its credential is possibly in flight', async () => {
  const migration = await createSent(5_000);
  const { lease_ends_at: leaseEndsAt } = await readRow(ledger.db, migration.id, 1);
  expect(await reclaimSent(ledger.db, migration.owner, 5)).toEqual([]);
  expect(await releaseUnsent(ledger.db, await beginSlice(ledger.db, migration.owner))).toBe(0);
  expect(await reclaim(migration)).toMatchObject([
    { row: 1, tries: 2, isInFlight: true, sentAt: expect.any(Date) as Date },
  ]);
  expect((await readRow(ledger.db, migration.id, 1)).lease_ends_at).toEqual(leaseEndsAt);
});

test('reclaims a company with a new lease, as another try, after its lease has expired', async () => {
  const migration = await createSent(-1);
  expect(await reclaim(migration)).toMatchObject([{ row: 1, tries: 2, isInFlight: false }]);
  const { lease_ends_at: leaseEndsAt, ...row } = await readRow(ledger.db, migration.id, 1);
  expect(row).toMatchObject({ state: 'importing', attempt: 'run-1/1/2', tries: 2 });
  expect(leaseEndsAt?.getTime()).toBeGreaterThan(Date.now());
});

test.each<[string, (migration: MovableMigration) => Promise<unknown>]>([
  ['a superseded attempt', ({ owner }) => beginSlice(ledger.db, owner)],
  ['a run that was replaced', ({ id }) => beginRun(ledger.db, id, 'run-2')],
  ['any attempt after the migration was closed', ({ id }) => stopClaims(ledger.db, id)],
])('does not let %s reclaim a company', async (_, change) => {
  const migration = await createSent(-1);
  const newer = await beginSlice(ledger.db, migration.owner);
  await change(migration);
  expect(await reclaimSent(ledger.db, newer, 5)).toEqual([]);
});

test('numbers the attempts of a slice, and lets only the newest attempt claim companies', async () => {
  const { owner } = await createMovableMigration(ledger, manifestRows(1));
  const second = await beginSlice(ledger.db, owner);
  const third = await beginSlice(ledger.db, owner);
  expect([owner, second, third].map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(await claimCompanies(ledger.db, second, 1, null)).toEqual([]);
  expect(await claimCompanies(ledger.db, third, 1, null)).toHaveLength(1);
});

describe('the count of interrupted companies', () => {
  const interrupted = ({ id }: MovableMigration) => countInterrupted(ledger.db, id);

  test.each<[string, (migration: MovableMigration) => Promise<unknown>]>([
    ['whose attempt was superseded', ({ owner }) => beginSlice(ledger.db, owner)],
    ['whose run was replaced', ({ id }) => beginRun(ledger.db, id, 'run-2')],
    [
      'whose attempt does not know its outcome',
      ({ owner }) => recordImports(ledger.db, owner, [{ row: 1, refs: {}, to: 'importing', text: 'no answer' }]),
    ],
  ])('includes a company %s', async (_, interrupt) => {
    const migration = await createImporting(LEASE_MS);
    expect(await interrupted(migration)).toEqual({ companies: 0, inFlightUntil: null });
    await interrupt(migration);
    expect(await interrupted(migration)).toEqual({ companies: 1, inFlightUntil: null });
    await updateRow(ledger.db, migration.id, 1, { authorization_sent_at: new Date() });
    const { lease_ends_at: inFlightUntil } = await readRow(ledger.db, migration.id, 1);
    expect(await interrupted(migration)).toEqual({ companies: 1, inFlightUntil });
  });

  test('includes a company whose lease has expired, until it is reclaimed', async () => {
    const migration = await createSent(-1);
    expect(await interrupted(migration)).toMatchObject({ companies: 1 });
    await reclaim(migration);
    expect(await interrupted(migration)).toMatchObject({ companies: 0 });
  });
});

test('ignores the outcome of a superseded attempt after the company was reclaimed', async () => {
  const migration = await createSent(-1);
  await reclaim(migration);
  const before = await readRow(ledger.db, migration.id, 1);
  await recordImports(ledger.db, migration.owner, [linked]);
  await recordImports(ledger.db, migration.owner, [{ row: 1, refs: {}, to: 'waiting', retryInMs: 0, text: 'again' }]);
  expect(await readRow(ledger.db, migration.id, 1)).toEqual(before);
});

test('writes the first outcome of the owner and ignores later outcomes', async () => {
  const migration = await createImporting(LEASE_MS);
  await recordImports(ledger.db, migration.owner, [linked]);
  await recordImports(ledger.db, migration.owner, [
    { row: 1, refs: {}, to: 'failed', failure: 'refused', text: 'late' },
  ]);
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({
    state: 'syncing',
    company_id: linked.refs.companyId,
    link_url: 'https://link',
    attempt: null,
    failure: null,
    sync_started_at: expect.any(Date) as Date,
    next_check_at: expect.any(Date) as Date,
  });
});

test('keeps a company with an unclear outcome claimed', async () => {
  const migration = await createImporting(LEASE_MS);
  const before = await readRow(ledger.db, migration.id, 1);
  await recordImports(ledger.db, migration.owner, [{ row: 1, refs: linked.refs, to: 'importing', text: 'no answer' }]);
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({
    state: 'importing',
    attempt: before.attempt,
    claimed_at: before.claimed_at,
    company_id: linked.refs.companyId,
    failure_text: 'no answer',
  });
});

test.each([Infinity, 1e300])('defers a company by 25 hours at most, even if the wait is %s ms', async (retryInMs) => {
  const migration = await createImporting(LEASE_MS);
  await recordImports(ledger.db, migration.owner, [{ row: 1, refs: {}, to: 'waiting', retryInMs, text: 'busy' }]);
  const { not_before: at } = await readRow(ledger.db, migration.id, 1);
  expect(at?.getTime()).toBeLessThanOrEqual(Date.now() + 25 * 3_600_000);
});

test('keeps the company id at the service when a company is retried', async () => {
  const migration = await createImporting(LEASE_MS);
  await recordImports(ledger.db, migration.owner, [
    { row: 1, refs: linked.refs, to: 'waiting', retryInMs: 60_000, text: 'busy' },
  ]);
  expect(await readRow(ledger.db, migration.id, 1)).toMatchObject({
    state: 'waiting',
    company_id: linked.refs.companyId,
  });
  expect(await claimCompanies(ledger.db, migration.owner, 1, null)).toEqual([]);
  await updateRow(ledger.db, migration.id, 1, { not_before: msFromNow(-1) });
  expect(await claimCompanies(ledger.db, migration.owner, 1, null)).toMatchObject([
    { companyId: linked.refs.companyId, tries: 2 },
  ]);
});
