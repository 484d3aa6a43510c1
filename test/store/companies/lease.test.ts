/** Leases: companies whose attempt died, and attempts that come back after they were superseded. */
import type { ImportOutcome } from '../../../store';
import {
  beginRun,
  beginSlice,
  claimCompanies,
  closeMigration,
  countInterrupted,
  recordImports,
  recordSendIntents,
  releaseUnsent,
  reclaimSent,
} from '../../../store';
import type { MovableMigration } from '../../support/ledger';
import {
  LEASE_MS,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  readRow,
  manifestRows,
} from '../../support/ledger';

const ledger = useLedger();

const linked: ImportOutcome = {
  row: 1,
  refs: { companyId: '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11', linkUrl: 'https://link' },
  to: 'syncing',
  firstCheckMs: 0,
};

async function createImporting(leaseMs: number): Promise<MovableMigration> {
  const one = await createMovableMigration(ledger, manifestRows(1));
  await claimCompanies(ledger.db, one.owner, 1, null);
  await updateRow(ledger.db, one.id, 1, { held_until: msFromNow(leaseMs) });
  return one;
}

async function createSent(leaseMs: number): Promise<MovableMigration> {
  const one = await createImporting(leaseMs);
  expect([...(await recordSendIntents(ledger.db, one.owner, [1]))]).toEqual([1]);
  return one;
}

const reclaim = async ({ owner }: MovableMigration) => reclaimSent(ledger.db, await beginSlice(ledger.db, owner), 5);

describe('a company without a send intent', () => {
  test('is released as soon as a newer attempt has begun, and the old attempt can send nothing', async () => {
    const one = await createImporting(LEASE_MS);
    const newer = await beginSlice(ledger.db, one.owner);
    expect(await reclaimSent(ledger.db, newer, 5)).toEqual([]);
    expect(await releaseUnsent(ledger.db, newer)).toBe(1);
    expect(await readRow(ledger.db, one.id, 1)).toMatchObject({ state: 'waiting', attempt: null });
    expect(await recordSendIntents(ledger.db, one.owner, [1])).toEqual(new Set());
    expect(await claimCompanies(ledger.db, newer, 5, null)).toMatchObject([
      { row: 1, tries: 2, sentAt: null, onItsWay: false },
    ]);
  });

  test('stays with the newest attempt until its lease expires', async () => {
    const one = await createImporting(LEASE_MS);
    expect(await releaseUnsent(ledger.db, one.owner)).toBe(0);
    await updateRow(ledger.db, one.id, 1, { held_until: msFromNow(-1) });
    expect(await releaseUnsent(ledger.db, one.owner)).toBe(1);
  });

  test('is not released by a run that is over', async () => {
    const one = await createImporting(-1);
    await beginRun(ledger.db, one.id, 'run-2');
    expect(await releaseUnsent(ledger.db, one.owner)).toBe(0);
  });
});

test('a company whose credential may be in flight is reclaimed for reading only, and keeps its lease end', async () => {
  const one = await createSent(5_000);
  const { held_until: heldUntil } = await readRow(ledger.db, one.id, 1);
  expect(await reclaimSent(ledger.db, one.owner, 5)).toEqual([]);
  expect(await releaseUnsent(ledger.db, await beginSlice(ledger.db, one.owner))).toBe(0);
  expect(await reclaim(one)).toMatchObject([{ row: 1, tries: 2, onItsWay: true, sentAt: expect.any(Date) as Date }]);
  expect((await readRow(ledger.db, one.id, 1)).held_until).toEqual(heldUntil);
});

test('after its lease has expired, a newer attempt reclaims it as another try with a new lease', async () => {
  const one = await createSent(-1);
  expect(await reclaim(one)).toMatchObject([{ row: 1, tries: 2, onItsWay: false }]);
  const { held_until: heldUntil, ...row } = await readRow(ledger.db, one.id, 1);
  expect(row).toMatchObject({ state: 'importing', attempt: 'run-1/1/2', tries: 2 });
  expect(heldUntil?.getTime()).toBeGreaterThan(Date.now());
});

test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
  ['a superseded attempt', ({ owner }) => beginSlice(ledger.db, owner)],
  ['a run that is over', ({ id }) => beginRun(ledger.db, id, 'run-2')],
  ['any attempt once the migration is closed', ({ id }) => closeMigration(ledger.db, id, 'abandoned')],
])('is never reclaimed by %s', async (_, change) => {
  const one = await createSent(-1);
  const newer = await beginSlice(ledger.db, one.owner);
  await change(one);
  expect(await reclaimSent(ledger.db, newer, 5)).toEqual([]);
});

test('each time a slice begins it gets a newer attempt number from the ledger', async () => {
  const { owner } = await createMovableMigration(ledger, manifestRows(1));
  const again = await beginSlice(ledger.db, owner);
  const third = await beginSlice(ledger.db, owner);
  expect([owner, again, third].map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(await claimCompanies(ledger.db, again, 1, null)).toEqual([]);
  expect(await claimCompanies(ledger.db, third, 1, null)).toHaveLength(1);
});

describe('the count of interrupted companies', () => {
  const interrupted = ({ id }: MovableMigration) => countInterrupted(ledger.db, id);

  test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
    ['whose attempt was replaced by a newer one', ({ owner }) => beginSlice(ledger.db, owner)],
    ['whose run is over', ({ id }) => beginRun(ledger.db, id, 'run-2')],
    [
      'whose attempt does not know what became of it',
      ({ owner }) => recordImports(ledger.db, owner, [{ row: 1, refs: {}, to: 'importing', text: 'no answer' }]),
    ],
  ])('includes a company %s', async (_, interrupt) => {
    const one = await createImporting(LEASE_MS);
    expect(await interrupted(one)).toEqual({ companies: 0, onItsWayUntil: null });
    await interrupt(one);
    expect(await interrupted(one)).toEqual({ companies: 1, onItsWayUntil: null });
    await updateRow(ledger.db, one.id, 1, { authorization_sent_at: new Date() });
    const { held_until: onItsWayUntil } = await readRow(ledger.db, one.id, 1);
    expect(await interrupted(one)).toEqual({ companies: 1, onItsWayUntil });
  });

  test('includes a company whose lease has expired, until it is reclaimed', async () => {
    const one = await createSent(-1);
    expect(await interrupted(one)).toMatchObject({ companies: 1 });
    await reclaim(one);
    expect(await interrupted(one)).toMatchObject({ companies: 0 });
  });
});

test('the outcome of a superseded attempt is not written after the company was reclaimed', async () => {
  const one = await createSent(-1);
  await reclaim(one);
  const before = await readRow(ledger.db, one.id, 1);
  await recordImports(ledger.db, one.owner, [linked]);
  await recordImports(ledger.db, one.owner, [{ row: 1, refs: {}, to: 'waiting', notBeforeMs: 0, text: 'again' }]);
  expect(await readRow(ledger.db, one.id, 1)).toEqual(before);
});

test('the outcome of the owner is written once', async () => {
  const one = await createImporting(LEASE_MS);
  await recordImports(ledger.db, one.owner, [linked]);
  await recordImports(ledger.db, one.owner, [{ row: 1, refs: {}, to: 'failed', failure: 'refused', text: 'late' }]);
  expect(await readRow(ledger.db, one.id, 1)).toMatchObject({
    state: 'syncing',
    company_id: linked.refs.companyId,
    link_url: 'https://link',
    attempt: null,
    failure: null,
    sync_started_at: expect.any(Date) as Date,
    next_check_at: expect.any(Date) as Date,
  });
});

test('a company with an unclear outcome stays claimed until it is reclaimed', async () => {
  const one = await createImporting(LEASE_MS);
  const before = await readRow(ledger.db, one.id, 1);
  await recordImports(ledger.db, one.owner, [{ row: 1, refs: linked.refs, to: 'importing', text: 'no answer' }]);
  expect(await readRow(ledger.db, one.id, 1)).toMatchObject({
    state: 'importing',
    attempt: before.attempt,
    claimed_at: before.claimed_at,
    company_id: linked.refs.companyId,
    failure_text: 'no answer',
  });
});

test('a company that is tried again keeps what was created for it at the service', async () => {
  const one = await createImporting(LEASE_MS);
  await recordImports(ledger.db, one.owner, [
    { row: 1, refs: linked.refs, to: 'waiting', notBeforeMs: 60_000, text: 'busy' },
  ]);
  expect(await readRow(ledger.db, one.id, 1)).toMatchObject({ state: 'waiting', company_id: linked.refs.companyId });
  expect(await claimCompanies(ledger.db, one.owner, 1, null)).toEqual([]);
  await updateRow(ledger.db, one.id, 1, { not_before: msFromNow(-1) });
  expect(await claimCompanies(ledger.db, one.owner, 1, null)).toMatchObject([
    { companyId: linked.refs.companyId, tries: 2 },
  ]);
});
