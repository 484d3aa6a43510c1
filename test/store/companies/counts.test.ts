/** Counts of companies by state, and the remaining work of a run. */
import {
  beginSlice,
  claimCompanies,
  countCompanies,
  readCompanyPage,
  readNextTry,
  readRemainingWork,
  setWindowOccurrence,
  setPaused,
} from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  msFromNow,
  useLedger,
  updateRow,
  manifestRows,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const remaining = (id: string) => readRemainingWork(ledger.db, id);

test('counts companies by state, and waiting companies by what they lack', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(11));
  const states = ['importing', 'syncing', 'moved', 'failed', 'skipped', 'excluded', 'outcome-unknown'] as const;
  for (const [index, state] of states.entries()) await updateRow(ledger.db, id, index + 1, { state, attempt: 'a' });
  await updateRow(ledger.db, id, 8, { confirmed_at: null });
  await updateRow(ledger.db, id, 11, { crossed_at: new Date() });
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 9).execute();
  const stale = new Date(Date.parse(CONFIRMED_AT) - 1);
  await ledger.db
    .updateTable('credentials')
    .set({ obtained_at: stale })
    .where('migration_id', '=', id)
    .where('row', '=', 10)
    .execute();
  expect(await countCompanies(ledger.db, id)).toEqual({
    total: 11,
    firstNotMoved: ['c4', 'c5', 'c6'],
    unconfirmed: 1,
    unconfirmedInFirstWave: 1,
    unconfirmedInNextWave: 1,
    lackingCredentialInNextWave: 1,
    deferred: 0,
    retried: 0,
    firstRetried: null,
    heldBack: 0,
    withoutCredential: 2,
    firstWithoutCredential: ['c9', 'c10'],
    waiting: 4,
    waitingAgain: 1,
    importing: 1,
    syncing: 1,
    moved: 1,
    failed: 1,
    mustReconnect: 0,
    relinked: 0,
    skipped: 1,
    excluded: 1,
    outcomeUnknown: 1,
    exceptionsDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
});

test('counts failed companies that a person has relinked, but not those that only have a link', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  const failed = { state: 'failed', failure: 'reauthorization-required', link_url: 'http://example.com/link' } as const;
  const relinked = { relinking_since: new Date() };
  await updateRow(ledger.db, id, 1, failed);
  await updateRow(ledger.db, id, 2, { ...failed, ...relinked });
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'sync-failed', ...relinked });
  await updateRow(ledger.db, id, 4, { state: 'outcome-unknown', ...relinked });
  expect(await countCompanies(ledger.db, id)).toMatchObject({ failed: 3, mustReconnect: 2, relinked: 2 });
});

test('counts and names companies that wait for another try, but not those that are deferred or lack something', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(6));
  await updateRow(ledger.db, id, 1, { tries: 1 });
  await updateRow(ledger.db, id, 2, { tries: 2, failure_text: 'busy' });
  await updateRow(ledger.db, id, 3, { tries: 1, held_back: 'a problem' });
  await updateRow(ledger.db, id, 4, { tries: 1 });
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 4).execute();
  await updateRow(ledger.db, id, 5, { tries: 1, state: 'failed' });
  expect(await countCompanies(ledger.db, id)).toMatchObject({ retried: 1, firstRetried: ['c1'], deferred: 1 });
  const read = () => readCompanyPage(ledger.db, id, { retried: true }, { offset: 0, limit: 10 });
  expect(await read()).toMatchObject({ matching: 1, companies: [{ reference: 'c1' }] });
  await ledger.db.updateTable('migrations').set({ state: 'closed' }).where('id', '=', id).execute();
  expect(await read()).toMatchObject({ matching: 0 });
});

test('counts the companies of a page at the same moment as it reads them', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  const setAll = (tries: number) =>
    ledger.db.updateTable('companies').set({ tries }).where('migration_id', '=', id).execute();
  let isRead = false;
  const change = async () => {
    for (let tries = 1; !isRead; tries = 1 - tries) await setAll(tries);
  };
  const changing = change();
  const pages: string[] = [];
  for (let reads = 0; reads < 200; reads += 1) {
    const { companies, matching } = await readCompanyPage(ledger.db, id, { retried: true }, { offset: 0, limit: 10 });
    pages.push(`${companies.length} of ${matching}`);
  }
  isRead = true;
  await changing;
  expect([...new Set(pages)].toSorted()).toEqual(['0 of 0', '3 of 3']);
});

test('counts companies as deferred only if they were tried twice and have everything they need', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  const deferred = { failure_text: 'the platform does not answer', tries: 2 };
  await updateRow(ledger.db, id, 1, deferred);
  await updateRow(ledger.db, id, 2, { ...deferred, tries: 1 });
  await updateRow(ledger.db, id, 3, { ...deferred, confirmed_at: null });
  await updateRow(ledger.db, id, 4, { ...deferred, state: 'failed' });
  expect(await countCompanies(ledger.db, id)).toMatchObject({ waiting: 3, unconfirmed: 1, deferred: 1 });
});

test('uses the lowest wave with companies that were not excluded as the first wave', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  for (const [row, wave] of [
    [1, 1],
    [2, 2],
    [3, 2],
    [4, null],
  ] as const) {
    await updateRow(ledger.db, id, row, { wave, confirmed_at: null });
  }
  expect(await countCompanies(ledger.db, id)).toMatchObject({ unconfirmed: 4, unconfirmedInFirstWave: 1 });
  await updateRow(ledger.db, id, 1, { confirmed_at: new Date(CONFIRMED_AT) });
  const counted = await countCompanies(ledger.db, id);
  expect(counted).toMatchObject({ unconfirmed: 3, unconfirmedInFirstWave: 0, unconfirmedInNextWave: 2 });
  await updateRow(ledger.db, id, 1, { state: 'excluded' });
  expect(await countCompanies(ledger.db, id)).toMatchObject({ unconfirmed: 3, unconfirmedInFirstWave: 2 });
});

test('counts companies of the next wave that need a credential: all of them on a platform that rotates tokens', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  for (const row of [1, 2]) await updateRow(ledger.db, id, row, { confirmed_at: null });
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 1).execute();
  const lacking = async (rotating: boolean) => {
    await ledger.db.updateTable('migrations').set({ rotating }).where('id', '=', id).execute();
    return (await countCompanies(ledger.db, id)).lackingCredentialInNextWave;
  };
  expect([await lacking(true), await lacking(false)]).toEqual([2, 1]);
});

test('changes the digest of exceptions when a failure changes', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  const digest = async () => (await countCompanies(ledger.db, id)).exceptionsDigest;
  expect(await digest()).toBeNull();
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'refused' });
  const refused = await digest();
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete' });
  const incomplete = await digest();
  await updateRow(ledger.db, id, 1, { state: 'moved' });
  expect(await digest()).toBe(incomplete);
  expect(refused).not.toBe(incomplete);
});

test('accepts a credential from before the confirmation if the platform does not rotate tokens', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1), { rotating: false });
  const stale = new Date(Date.parse(CONFIRMED_AT) - 1);
  await ledger.db.updateTable('credentials').set({ obtained_at: stale }).where('migration_id', '=', id).execute();
  expect(await countCompanies(ledger.db, id)).toMatchObject({ waiting: 1, withoutCredential: 0 });
});

test('reports a claimable company as due now, and a deferred company as due at its next try', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  expect(await remaining(id)).toMatchObject({ paused: false, nextClaimInMs: 0 });
  for (const row of [1, 2]) await updateRow(ledger.db, id, row, { not_before: msFromNow(row * 30_000) });
  const { nextClaimInMs } = await remaining(id);
  expect(nextClaimInMs).toBeGreaterThan(25_000);
  expect(nextClaimInMs).toBeLessThanOrEqual(30_000);
});

test('reads the next try of the deferred companies that can be tried', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  const [past, late, soon] = [-60_000, 120_000, 60_000].map((ms) => new Date(Date.now() + ms));
  for (const [index, not_before] of [past, late, soon].entries())
    await updateRow(ledger.db, id, index + 1, { not_before, tries: 2, failure_text: 'answered 503' });
  const nextTry = async () => (await readNextTry(ledger.db, id))?.getTime() ?? null;
  expect(await nextTry()).toBe(past?.getTime());
  // Row 1 no longer has a credential, and row 3 is no longer confirmed.
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 1).execute();
  await updateRow(ledger.db, id, 3, { confirmed_at: null });
  expect(await nextTry()).toBe(late?.getTime());
  await updateRow(ledger.db, id, 2, { state: 'moved' });
  expect(await nextTry()).toBeNull();
});

test('reports a company as due now if its next try is years ahead', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  await updateRow(ledger.db, id, 1, { not_before: new Date('2036-11-19') });
  expect(await remaining(id)).toMatchObject({ nextClaimInMs: 0 });
});

test('reports no remaining work if no company can be claimed, reclaimed or checked', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await updateRow(ledger.db, id, 1, { confirmed_at: null });
  await updateRow(ledger.db, id, 2, { state: 'moved' });
  await ledger.db.deleteFrom('credentials').where('migration_id', '=', id).where('row', '=', 3).execute();
  expect(await remaining(id)).toEqual({
    paused: false,
    rampOnly: false,
    outsideWindow: false,
    importing: 0,
    syncing: 0,
    nextClaimInMs: null,
    nextReclaimInMs: null,
    nextCheckInMs: null,
  });
});

test('reports an importing company as due for reclaiming when its lease expires or a newer attempt begins', async () => {
  const { id, owner } = await createMovableMigration(ledger, manifestRows(1));
  await claimCompanies(ledger.db, owner, 1, null);
  await updateRow(ledger.db, id, 1, { lease_ends_at: msFromNow(40_000) });
  const { nextReclaimInMs } = await remaining(id);
  expect(nextReclaimInMs).toBeGreaterThan(35_000);
  expect(nextReclaimInMs).toBeLessThanOrEqual(40_000);
  await updateRow(ledger.db, id, 1, { lease_ends_at: msFromNow(-1_000) });
  expect(await remaining(id)).toMatchObject({ importing: 1, nextReclaimInMs: 0 });
  await updateRow(ledger.db, id, 1, { lease_ends_at: msFromNow(40_000) });
  await beginSlice(ledger.db, owner);
  expect(await remaining(id)).toMatchObject({ importing: 1, nextReclaimInMs: 0 });
});

test('returns the earliest check, and treats an overdue check as due now', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, { state: 'syncing', next_check_at: msFromNow(60_000) });
  await updateRow(ledger.db, id, 2, { state: 'syncing', next_check_at: msFromNow(-60_000) });
  expect(await remaining(id)).toMatchObject({ syncing: 2, nextCheckInMs: 0 });
});

test('reports a closed window only if it delays a company that could be claimed', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const occurrence = (fromMs: number) => ({ opensAt: at(fromMs), closesAt: at(fromMs + 60_000) });
  const isOutsideWindow = async () => (await remaining(id)).outsideWindow;
  await setWindowOccurrence(ledger.db, id, occurrence(60_000));
  expect(await remaining(id)).toMatchObject({ outsideWindow: true, nextClaimInMs: null });
  await setPaused(ledger.db, id, true);
  expect(await isOutsideWindow()).toBe(false);
  await setPaused(ledger.db, id, false);
  await updateRow(ledger.db, id, 1, { confirmed_at: null });
  expect(await isOutsideWindow()).toBe(true);
  await updateRow(ledger.db, id, 2, { state: 'syncing', next_check_at: msFromNow(0) });
  expect(await isOutsideWindow()).toBe(false);
  await updateRow(ledger.db, id, 2, { state: 'waiting' });
  await setWindowOccurrence(ledger.db, id, occurrence(-120_000));
  expect(await isOutsideWindow()).toBe(true);
  await setWindowOccurrence(ledger.db, id, occurrence(-1_000));
  expect(await remaining(id)).toMatchObject({ outsideWindow: false, nextClaimInMs: 0 });
});

test('reports a pause', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  await setPaused(ledger.db, id, true);
  expect((await remaining(id)).paused).toBe(true);
});
