/** Companies whose attempt died, and attempts that were taken for dead and come back. */
import type { Database, ImportOutcome } from '../../../store';
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
import type { Ledger, MovableMigration } from '../../support/ledger';
import {
  LEASE_MS,
  createMovableMigration,
  msFromNow,
  openLedger,
  putRow,
  readRow,
  manifestRows,
} from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

const linked: ImportOutcome = {
  row: 1,
  at: { companyId: '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11', linkUrl: 'https://link' },
  to: 'syncing',
  firstCheckMs: 0,
};

async function importingFor(heldMs: number): Promise<MovableMigration> {
  const one = await createMovableMigration(ledger, manifestRows(1));
  await claimCompanies(db, one.owner, 1, null);
  await putRow(db, one.id, 1, { held_until: msFromNow(heldMs) });
  return one;
}

async function sentAndHeldFor(heldMs: number): Promise<MovableMigration> {
  const one = await importingFor(heldMs);
  expect([...(await recordSendIntents(db, one.owner, [1]))]).toEqual([1]);
  return one;
}

const takenOver = async ({ owner }: MovableMigration) => reclaimSent(db, await beginSlice(db, owner), 5);

describe('a company whose credential had not left', () => {
  test('is put back as soon as a newer attempt has begun, and its old one may send nothing any more', async () => {
    const one = await importingFor(LEASE_MS);
    const newer = await beginSlice(db, one.owner);
    expect(await reclaimSent(db, newer, 5)).toEqual([]);
    expect(await releaseUnsent(db, newer)).toBe(1);
    expect(await readRow(db, one.id, 1)).toMatchObject({ state: 'waiting', attempt: null });
    expect(await recordSendIntents(db, one.owner, [1])).toEqual(new Set());
    expect(await claimCompanies(db, newer, 5, null)).toMatchObject([
      { row: 1, tries: 2, sentAt: null, onItsWay: false },
    ]);
  });

  test('stays with an attempt that is the newest, until that should have let it go', async () => {
    const one = await importingFor(LEASE_MS);
    expect(await releaseUnsent(db, one.owner)).toBe(0);
    await putRow(db, one.id, 1, { held_until: msFromNow(-1) });
    expect(await releaseUnsent(db, one.owner)).toBe(1);
  });

  test('is put back by nobody whose run is over', async () => {
    const one = await importingFor(-1);
    await beginRun(db, one.id, 'run-2');
    expect(await releaseUnsent(db, one.owner)).toBe(0);
  });
});

test('a company whose credential may be on its way is taken over to be looked at, and held for no longer', async () => {
  const one = await sentAndHeldFor(5_000);
  const { held_until: heldUntil } = await readRow(db, one.id, 1);
  expect(await reclaimSent(db, one.owner, 5)).toEqual([]);
  expect(await releaseUnsent(db, await beginSlice(db, one.owner))).toBe(0);
  expect(await takenOver(one)).toMatchObject([{ row: 1, tries: 2, onItsWay: true, sentAt: expect.any(Date) as Date }]);
  expect((await readRow(db, one.id, 1)).held_until).toEqual(heldUntil);
});

test('then a newer attempt takes it over, as another try, for as long again', async () => {
  const one = await sentAndHeldFor(-1);
  expect(await takenOver(one)).toMatchObject([{ row: 1, tries: 2, onItsWay: false }]);
  const { held_until: heldUntil, ...row } = await readRow(db, one.id, 1);
  expect(row).toMatchObject({ state: 'importing', attempt: 'run-1/1/2', tries: 2 });
  expect(heldUntil?.getTime()).toBeGreaterThan(Date.now());
});

test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
  ['an attempt that is old itself', ({ owner }) => beginSlice(db, owner)],
  ['a run that is over', ({ id }) => beginRun(db, id, 'run-2')],
  ['anybody once the migration is closed', ({ id }) => closeMigration(db, id, 'abandoned')],
])('never by %s', async (_, change) => {
  const one = await sentAndHeldFor(-1);
  const newer = await beginSlice(db, one.owner);
  await change(one);
  expect(await reclaimSent(db, newer, 5)).toEqual([]);
});

test('each time a slice begins it is a newer attempt, whatever number Temporal gives it', async () => {
  const { owner } = await createMovableMigration(ledger, manifestRows(1));
  const again = await beginSlice(db, owner);
  const oncemore = await beginSlice(db, owner);
  expect([owner, again, oncemore].map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(await claimCompanies(db, again, 1, null)).toEqual([]);
  expect(await claimCompanies(db, oncemore, 1, null)).toHaveLength(1);
});

describe('interrupted', () => {
  const interrupted = ({ id }: MovableMigration) => countInterrupted(db, id);

  test.each<[string, (one: MovableMigration) => Promise<unknown>]>([
    ['whose attempt was replaced by a newer one', ({ owner }) => beginSlice(db, owner)],
    ['whose run is over', ({ id }) => beginRun(db, id, 'run-2')],
    [
      'whose attempt does not know what became of it',
      ({ owner }) => recordImports(db, owner, [{ row: 1, at: {}, to: 'importing', text: 'no answer' }]),
    ],
  ])('is a company %s, until it is taken over', async (_, interrupt) => {
    const one = await importingFor(LEASE_MS);
    expect(await interrupted(one)).toEqual({ companies: 0, onItsWayUntil: null });
    await interrupt(one);
    expect(await interrupted(one)).toEqual({ companies: 1, onItsWayUntil: null });
    await putRow(db, one.id, 1, { authorization_sent_at: new Date() });
    const { held_until: onItsWayUntil } = await readRow(db, one.id, 1);
    expect(await interrupted(one)).toEqual({ companies: 1, onItsWayUntil });
  });

  test('is a company that its attempt should have let go', async () => {
    const one = await sentAndHeldFor(-1);
    expect(await interrupted(one)).toMatchObject({ companies: 1 });
    await takenOver(one);
    expect(await interrupted(one)).toMatchObject({ companies: 0 });
  });
});

test('what a zombie found out about a company that was taken over is not written', async () => {
  const one = await sentAndHeldFor(-1);
  await takenOver(one);
  const before = await readRow(db, one.id, 1);
  await recordImports(db, one.owner, [linked]);
  await recordImports(db, one.owner, [{ row: 1, at: {}, to: 'waiting', notBeforeMs: 0, text: 'again' }]);
  expect(await readRow(db, one.id, 1)).toEqual(before);
});

test('what the holder found out is written, once', async () => {
  const one = await importingFor(LEASE_MS);
  await recordImports(db, one.owner, [linked]);
  await recordImports(db, one.owner, [{ row: 1, at: {}, to: 'failed', failure: 'refused', text: 'late' }]);
  expect(await readRow(db, one.id, 1)).toMatchObject({
    state: 'syncing',
    company_id: linked.at.companyId,
    link_url: 'https://link',
    attempt: null,
    failure: null,
    sync_started_at: expect.any(Date) as Date,
    next_check_at: expect.any(Date) as Date,
  });
});

test('a company of which nothing is certain stays claimed, for somebody to take over and look', async () => {
  const one = await importingFor(LEASE_MS);
  const before = await readRow(db, one.id, 1);
  await recordImports(db, one.owner, [{ row: 1, at: linked.at, to: 'importing', text: 'no answer' }]);
  expect(await readRow(db, one.id, 1)).toMatchObject({
    state: 'importing',
    attempt: before.attempt,
    claimed_at: before.claimed_at,
    company_id: linked.at.companyId,
    failure_text: 'no answer',
  });
});

test('a company that is to be tried again keeps what was made for it', async () => {
  const one = await importingFor(LEASE_MS);
  await recordImports(db, one.owner, [{ row: 1, at: linked.at, to: 'waiting', notBeforeMs: 60_000, text: 'busy' }]);
  expect(await readRow(db, one.id, 1)).toMatchObject({ state: 'waiting', company_id: linked.at.companyId });
  expect(await claimCompanies(db, one.owner, 1, null)).toEqual([]);
  await putRow(db, one.id, 1, { not_before: msFromNow(-1) });
  expect(await claimCompanies(db, one.owner, 1, null)).toMatchObject([{ companyId: linked.at.companyId, tries: 2 }]);
});
