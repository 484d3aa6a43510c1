/** Totals of a migration for its report. */
import { reactivationOf } from '../../../domain/companies/reactivation';
import {
  beginSlice,
  chooseFirstCompany,
  claimCompanies,
  readCompanies,
  readFigures,
  recordImports,
  requestFirstCompany,
} from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  useLedger,
  updateRow,
  manifestRows,
  LEASE_MS,
  readRow,
  release,
} from '../../support/migrations/ledger';

const ledger = useLedger();

const hoursLater = (hours: number): Date => new Date(Date.parse(CONFIRMED_AT) + hours * 3_600_000);

test('counts accepted, unknown and refused credentials, and measures how long data was out of date', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(10));
  for (const [row, hours] of [
    [1, 1],
    [2, 2],
    [3, 9],
  ] as const) {
    const times = { claimed_at: hoursLater(0.5), crossed_at: hoursLater(1), moved_at: hoursLater(hours) };
    await updateRow(ledger.db, id, row, { state: 'moved', ...times });
  }
  await updateRow(ledger.db, id, 4, { state: 'failed', failure: 'incomplete', crossed_at: hoursLater(1) });
  await updateRow(ledger.db, id, 5, { state: 'failed', failure: 'reauthorization-required' });
  await updateRow(ledger.db, id, 6, { state: 'outcome-unknown' });
  await updateRow(ledger.db, id, 7, { state: 'importing', attempt: 'a' });
  const sent = { authorization_sent_at: hoursLater(1) };
  await updateRow(ledger.db, id, 8, { state: 'skipped', earlier_sent_at: hoursLater(1) });
  await updateRow(ledger.db, id, 9, { state: 'skipped', failure: 'reauthorization-required', ...sent });
  await updateRow(ledger.db, id, 10, { state: 'skipped', failure: 'incomplete', crossed_at: hoursLater(1) });
  expect(await readFigures(ledger.db, id)).toEqual({
    crossed: 5,
    crossingUnknown: 3,
    movable: 1,
    reconnectionsCheckedAt: null,
    mustReconnect: 1,
    mustReconnectNotCrossed: 1,
    leftOutAtService: 1,
    leftOutUnauthorized: 1,
    firstStartedAt: hoursLater(0.5).toISOString(),
    lastMovedAt: hoursLater(9).toISOString(),
    movingMs: 8.5 * 3_600_000,
    longestStaleHours: 9,
    medianStaleHours: 2,
    credentialsLeft: 10,
  });
});

test('counts the companies as the list of each report does: ask first, and not yet', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(7));
  const sent = { authorization_sent_at: hoursLater(1) };
  // This company was tried without an answer, and waits for its next try.
  await updateRow(ledger.db, id, 2, { state: 'waiting', earlier_sent_at: hoursLater(1) });
  await updateRow(ledger.db, id, 3, { state: 'failed', failure: 'reauthorization-required', ...sent });
  await updateRow(ledger.db, id, 4, { state: 'outcome-unknown', ...sent });
  await updateRow(ledger.db, id, 5, { state: 'skipped', ...sent });
  await updateRow(ledger.db, id, 6, { state: 'skipped', failure: 'application-refused', ...sent });
  await updateRow(ledger.db, id, 7, { state: 'moved', crossed_at: hoursLater(1), moved_at: hoursLater(2) });
  const listed: string[] = [];
  for await (const company of readCompanies(ledger.db, id)) listed.push(reactivationOf(company, 'open'));
  expect(listed).toEqual(['not-yet', 'ask-first', 'not-yet', 'ask-first', 'ask-first', 'yes', 'never']);
  expect(await readFigures(ledger.db, id)).toMatchObject({ crossed: 1, crossingUnknown: 3, movable: 2 });
});

test('returns zeros and nulls for everything that depends on a moved company', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  expect(await readFigures(ledger.db, id)).toMatchObject({
    ...{ crossed: 0, mustReconnect: 0, credentialsLeft: 1 },
    ...{ firstStartedAt: null, lastMovedAt: null, longestStaleHours: null, medianStaleHours: null },
  });
});

test('the first move began with the first try of the first company, even if that company is tried again', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(2));
  await release(ledger.db, id, 'first-company');
  const moveFirst = async (run: string, to: 'failed' | 'syncing'): Promise<void> => {
    await requestFirstCompany(ledger.db, id, 'c1');
    const chosen = await chooseFirstCompany(ledger.db, id, run);
    const owner = await beginSlice(ledger.db, { migrationId: id, run, slice: 1, leaseMs: LEASE_MS });
    expect(await claimCompanies(ledger.db, owner, 1, chosen?.row ?? null)).toHaveLength(1);
    const outcome = { row: 1, refs: {} };
    await recordImports(ledger.db, owner, [
      to === 'failed'
        ? { ...outcome, to, failure: 'refused', text: 'no' }
        : { ...outcome, refs: { crossed: true }, to, firstCheckInMs: 0 },
    ]);
  };
  await moveFirst('first-1', 'failed');
  const { claimed_at: firstClaim } = await readRow(ledger.db, id, 1);
  await moveFirst('first-2', 'syncing');
  const { claimed_at: lastClaim } = await readRow(ledger.db, id, 1);
  expect(lastClaim?.getTime()).toBeGreaterThan(firstClaim?.getTime() ?? Infinity);
  await updateRow(ledger.db, id, 1, { state: 'moved', moved_at: new Date() });
  expect(await readFigures(ledger.db, id)).toMatchObject({ firstStartedAt: firstClaim?.toISOString() });
});
