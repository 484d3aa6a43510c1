/** Decisions about companies that were not moved. */
import {
  acceptFailures,
  awaitRelink,
  countFailures,
  countRetryUseless,
  hasReconnectLink,
  leaveOutCompanies,
  readCompanies,
  readRelinking,
  recordRelinked,
  recordUnlinked,
  retryCompanies,
} from '../../../store';
import { remediesFor } from '../../../domain/companies/remedies';
import {
  createMovableMigration,
  manifestRows,
  msFromNow,
  readRow,
  updateRow,
  useLedger,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const AT = '2026-03-02T12:00:00.000Z';
const CONNECTION = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';
const serviceRefs = { company_id: CONNECTION, connection_id: CONNECTION, link_url: 'https://link.example/1' };

test('waits for a reconnection if a company has a link, and was not moved or has an unknown outcome', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  await updateRow(ledger.db, id, 1, { state: 'failed', failure: 'reauthorization-required', ...serviceRefs });
  await updateRow(ledger.db, id, 2, { state: 'outcome-unknown', ...serviceRefs });
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'reauthorization-required' });
  await updateRow(ledger.db, id, 4, { state: 'moved', ...serviceRefs });
  await awaitRelink(ledger.db, { migrationId: id, companies: 'all', at: AT });
  expect((await readRelinking(ledger.db, id)).map(({ row }) => row)).toEqual([1, 2]);

  await recordRelinked(ledger.db, { migrationId: id, row: 2, authorizedAt: null });
  expect(await readRow(ledger.db, id, 2)).toMatchObject({
    state: 'syncing',
    crossed_at: expect.any(Date) as Date,
    accepted: null,
    relinking_since: null,
  });
  expect((await readRelinking(ledger.db, id)).map(({ row }) => row)).toEqual([1]);
});

test('finds the link of a company only if the company must reconnect', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await updateRow(ledger.db, id, 1, { state: 'failed', failure: 'reauthorization-required' });
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete', ...serviceRefs });
  expect(await hasReconnectLink(ledger.db, id)).toBe(false);
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'reauthorization-required', ...serviceRefs });
  expect(await hasReconnectLink(ledger.db, id)).toBe(true);
});

test('waits for all reconnections only of companies that a reconnection can help, unless a company is named', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await updateRow(ledger.db, id, 1, { state: 'failed', failure: 'wrong-organization', ...serviceRefs });
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete', ...serviceRefs });
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'reauthorization-required', ...serviceRefs });
  expect(await awaitRelink(ledger.db, { migrationId: id, companies: 'all', at: AT })).toBe(2);
  expect((await readRelinking(ledger.db, id)).map(({ row }) => row)).toEqual([1, 3]);
  expect(await awaitRelink(ledger.db, { migrationId: id, companies: ['c2'], at: AT })).toBe(1);
});

test('a linked connection has been authorized again only if the service says so, or if it was not linked before', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(5));
  const { db } = ledger;
  const crossedAt = new Date(Date.now() - 3_600_000);
  const incomplete = { state: 'failed', failure: 'incomplete', crossed_at: crossedAt, ...serviceRefs } as const;
  for (const row of [1, 2, 3, 4, 5]) await updateRow(db, id, row, incomplete);
  await updateRow(db, id, 2, { failure: 'reauthorization-required' });
  await awaitRelink(db, { migrationId: id, companies: ['c1', 'c2', 'c3', 'c4', 'c5'], at: AT });
  await recordUnlinked(db, id, 3);
  const future = new Date(Date.now() + 3_600_000);
  for (const [index, authorizedAt] of [null, null, null, crossedAt, future].entries())
    await recordRelinked(db, { migrationId: id, row: index + 1, authorizedAt });
  const rows = await Promise.all([1, 2, 3, 4, 5].map((row) => readRow(db, id, row)));
  const [known, mustReconnect, unlinked, accepted, skewed] = rows.map((each) => each.authorized_at);
  expect(known).toBeNull();
  expect(accepted).toEqual(crossedAt);
  for (const reconnected of [mustReconnect, unlinked, skewed]) {
    expect(reconnected?.getTime()).toBeGreaterThan(crossedAt.getTime());
    expect(reconnected?.getTime()).toBeLessThan(future.getTime());
  }
  expect(rows[2]?.unlinked_at).toBeNull();
});

test('retries the given companies and stops waiting for their end customers', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  for (const row of [1, 2])
    await updateRow(ledger.db, id, row, { state: 'failed', failure: 'incomplete', ...serviceRefs });
  await updateRow(ledger.db, id, 3, { state: 'moved' });
  await awaitRelink(ledger.db, { migrationId: id, companies: ['c1', 'c2'], at: AT });
  await retryCompanies(ledger.db, id, ['c1', 'c3']);
  const states = await Promise.all([1, 2, 3].map(async (row) => (await readRow(ledger.db, id, row)).state));
  expect(states).toEqual(['waiting', 'failed', 'moved']);
  expect(await readRow(ledger.db, id, 1)).toMatchObject({
    failure: null,
    relinking_since: null,
    company_id: CONNECTION,
  });
});

test('records who left out a company and why, and keeps its failure', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete', failure_text: 'too few' });
  await updateRow(ledger.db, id, 3, { state: 'moved' });
  const everyone = { migrationId: id, companies: ['c1', 'c2', 'c3'], by: 'Sam', reason: 'sold' };
  await leaveOutCompanies(ledger.db, { ...everyone, as: 'exclude' });
  await leaveOutCompanies(ledger.db, { ...everyone, as: 'skip' });
  const decided = { left_out_by: 'Sam', left_out_reason: 'sold' };
  expect(await readRow(ledger.db, id, 1)).toMatchObject({ state: 'excluded', ...decided });
  expect(await readRow(ledger.db, id, 2)).toMatchObject({ state: 'skipped', failure_text: 'too few', ...decided });
  expect(await readRow(ledger.db, id, 3)).toMatchObject({ state: 'moved', left_out_by: null });
});

test('a company that waits for another try can be skipped; it is an exception once it was deferred twice', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  const deferred = { failure_text: 'the platform is unavailable', not_before: new Date('2999-01-01') };
  await updateRow(ledger.db, id, 1, { ...deferred, tries: 2 });
  await updateRow(ledger.db, id, 2, { ...deferred, tries: 1, not_before: msFromNow(60_000) });
  await updateRow(ledger.db, id, 3, { ...deferred, tries: 5 });
  const listed: unknown[] = [];
  for await (const each of readCompanies(ledger.db, id, { exceptions: true })) listed.push(each);
  expect(listed).toMatchObject([
    { reference: 'c1', deferred: true, tries: 2, retryAt: deferred.not_before },
    { reference: 'c3', deferred: true, tries: 5 },
  ]);

  expect(await retryCompanies(ledger.db, id, ['c1', 'c2'])).toBe(1);
  expect(await readRow(ledger.db, id, 1)).toMatchObject({ state: 'waiting', not_before: null, failure_text: null });
  const skip = { migrationId: id, by: 'Sam', reason: 'sold', as: 'skip' } as const;
  expect(await leaveOutCompanies(ledger.db, { ...skip, companies: ['c1', 'c2', 'c3', 'c4'] })).toBe(3);
  expect((await readRow(ledger.db, id, 3)).state).toBe('skipped');
  // A company that was not tried yet cannot be skipped.
  expect((await readRow(ledger.db, id, 4)).state).toBe('waiting');
});

test('a waiting company that stopped the migration is an exception after its first try', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await updateRow(ledger.db, id, 1, { failure_text: 'refused', tries: 1, failure: 'application-refused' });
  await updateRow(ledger.db, id, 2, { failure_text: 'busy', tries: 1 });
  const listed: unknown[] = [];
  for await (const each of readCompanies(ledger.db, id, { exceptions: true })) listed.push(each);
  expect(listed).toMatchObject([{ reference: 'c1', state: 'waiting', failure: 'application-refused' }]);
});

test('a company can be retried after its first try if its next try is many minutes away', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  await updateRow(ledger.db, id, 1, { failure_text: 'busy', tries: 1, not_before: msFromNow(3_600_000) });
  expect(await retryCompanies(ledger.db, id, 'all')).toBe(1);
  expect(await readRow(ledger.db, id, 1)).toMatchObject({ not_before: null });
});

test('counts failures until they are accepted, and counts new failures after a retry', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(6));
  for (const row of [1, 2]) await updateRow(ledger.db, id, row, { state: 'failed', failure: 'incomplete' });
  await updateRow(ledger.db, id, 3, { state: 'outcome-unknown' });
  await updateRow(ledger.db, id, 4, { state: 'moved' });
  expect(await countFailures(ledger.db, id)).toEqual({ failed: 3, tried: 4, accepted: 0 });
  await acceptFailures(ledger.db, id);
  expect(await countFailures(ledger.db, id)).toEqual({ failed: 0, tried: 4, accepted: 3 });

  // Skipping a company whose failure was accepted does not hide a new failure.
  await leaveOutCompanies(ledger.db, { migrationId: id, companies: ['c1'], as: 'skip', by: 'Sam', reason: 'sold' });
  await updateRow(ledger.db, id, 5, { state: 'failed', failure: 'incomplete' });
  expect(await countFailures(ledger.db, id)).toMatchObject({ failed: 1, accepted: 2 });

  await retryCompanies(ledger.db, id, ['c2']);
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete' });
  expect(await countFailures(ledger.db, id)).toMatchObject({ failed: 2, accepted: 1 });
});

test('a retry leaves out companies that must reconnect and that it cannot help, named or not', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(5));
  const { db } = ledger;
  const ended = {
    state: 'failed',
    failure: 'reauthorization-required',
    crossed_at: new Date(),
    ...serviceRefs,
  } as const;
  await updateRow(db, id, 1, ended);
  await updateRow(db, id, 2, { ...ended, link_url: null });
  await updateRow(db, id, 3, { ...ended, crossed_at: null });
  await updateRow(db, id, 4, { ...ended, failure: 'incomplete' });
  await updateRow(db, id, 5, { state: 'outcome-unknown', failure: null, crossed_at: new Date(), ...serviceRefs });
  const canRetry: string[] = [];
  for await (const company of readCompanies(db, id, {}))
    if (remediesFor(company).includes('retry')) canRetry.push(company.reference);
  expect(canRetry).toEqual(['c2', 'c3', 'c4', 'c5']);

  expect(await countRetryUseless(db, id)).toBe(1);
  expect(await retryCompanies(db, id, ['c1'])).toBe(0);
  expect(await retryCompanies(db, id, 'all')).toBe(canRetry.length);
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'failed', failure: 'reauthorization-required' });
  // The workflow has chosen the first company again, so the ledger must follow.
  expect(await retryCompanies(db, id, ['c1'], 'c1')).toBe(1);
});
