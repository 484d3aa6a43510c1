/** Companies whose outcome has changed since the handover was signed off. */
import { randomUUID } from 'node:crypto';
import type { Approval } from '../../../domain/migration/migration-state';
import { readChangedSinceSignOff, readDueChecks, recordChecks, recordRelinked, writeRepairs } from '../../../store';
import { createMovableMigration, manifestRows, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();

const HOUR = 3_600_000;
const agoMs = (ms: number): Date => new Date(Date.now() - ms);
const changedSince = (migrationId: string, approvals: readonly Approval[]) =>
  readChangedSinceSignOff(ledger.db, { migrationId, steps: [{ approvals }] });

const SCHEDULE = { everyHours: null, nextAt: null };

const signOff = (role: Approval['role'], at: Date): Approval => ({
  ...{ step: 'complete-migration', role, by: role === 'client' ? 'Cleo' : 'Sam' },
  at: at.toISOString(),
});

/** Creates a migration whose companies all must reconnect, since two hours. */
async function mustReconnect(companies: number) {
  const { id } = await createMovableMigration(ledger, manifestRows(companies));
  for (let row = 1; row <= companies; row += 1)
    await updateRow(ledger.db, id, row, {
      ...{ state: 'failed', failure: 'reauthorization-required', link_url: 'https://link.example/1' },
      ...{ company_id: randomUUID(), connection_id: randomUUID() },
      ...{ claimed_at: agoMs(2 * HOUR), sync_started_at: agoMs(2 * HOUR) },
    });
  return id;
}

const reconnect = (id: string, row: number) =>
  recordRelinked(ledger.db, { migrationId: id, row, authorizedAt: new Date() });

const fail = (id: string, rows: readonly number[], failure: 'wrong-organization' | 'reauthorization-required') =>
  recordChecks(
    ledger.db,
    id,
    rows.map((row) => ({ row, to: 'failed', failure, text: 'refused', evidence: [] })),
  );

test('no outcome has changed if every company has its outcome since before the sign-off', async () => {
  const id = await mustReconnect(2);
  await updateRow(ledger.db, id, 2, { state: 'moved', moved_at: agoMs(2 * HOUR) });
  const approvals = [signOff('client', agoMs(HOUR))];
  expect(await changedSince(id, approvals)).toEqual([]);
  expect(await changedSince(id, [])).toEqual([]);
});

test('finds the companies that were not moved, or have moved, after their end customers reconnected', async () => {
  const id = await mustReconnect(5);
  // This company has moved before, so it keeps the time of its first move.
  await updateRow(ledger.db, id, 4, { moved_at: agoMs(3 * HOUR) });
  for (const row of [2, 3, 4, 5]) await reconnect(id, row);
  const signedOff = signOff('client', agoMs(HOUR));
  // While the companies are checked, their outcomes are not known.
  expect(await changedSince(id, [signedOff])).toEqual([]);
  await fail(id, [2], 'wrong-organization');
  await fail(id, [5], 'reauthorization-required');
  await recordChecks(
    ledger.db,
    id,
    [3, 4].map((row) => ({ row, to: 'moved', evidence: [], schedule: SCHEDULE })),
  );
  expect(await readDueChecks(ledger.db, id, { size: 9, onlyRow: null, without: [] })).toEqual([]);
  const changed = [
    { state: 'not-moved', companies: 1, references: ['c2'] },
    { state: 'moved', companies: 2, references: ['c3', 'c4'] },
    { state: 'must-reconnect', companies: 1, references: ['c5'] },
  ];
  const { at } = signedOff;
  expect(await changedSince(id, [signedOff])).toEqual([{ role: 'client', by: 'Cleo', at, changed }]);
});

test('finds a company whose check began before the sign-off and ended after it, and one that was lost', async () => {
  const id = await mustReconnect(3);
  await reconnect(id, 1);
  await reconnect(id, 2);
  await updateRow(ledger.db, id, 3, { state: 'moved', moved_at: agoMs(2 * HOUR) });
  const signedOff = signOff('client', new Date());
  await fail(id, [1], 'wrong-organization');
  await recordChecks(ledger.db, id, [{ row: 2, to: 'moved', evidence: [], schedule: SCHEDULE }]);
  await writeRepairs(ledger.db, id, [
    { row: 3, from: 'moved', to: 'failed', failure: 'reauthorization-required', text: 'the service lost it' },
  ]);
  expect((await changedSince(id, [signedOff]))[0]?.changed).toEqual([
    { state: 'not-moved', companies: 1, references: ['c1'] },
    { state: 'moved', companies: 1, references: ['c2'] },
    { state: 'must-reconnect', companies: 1, references: ['c3'] },
  ]);
});

test('only the sign-off before the change is found, not approvals of other steps and not a later sign-off', async () => {
  const id = await mustReconnect(1);
  await reconnect(id, 1);
  await fail(id, [1], 'wrong-organization');
  const early = signOff('client', agoMs(HOUR));
  const approvals = [
    { ...signOff('support', agoMs(2 * HOUR)), step: 'schedule' } as const,
    signOff('support', new Date(Date.now() + HOUR)),
    early,
  ];
  expect(await changedSince(id, approvals)).toMatchObject([{ role: 'client', at: early.at }]);
});

test('counts all changed companies, and names the first five by row', async () => {
  const id = await mustReconnect(7);
  const rows = [1, 2, 3, 4, 5, 6, 7];
  for (const row of rows.toReversed()) await reconnect(id, row);
  await fail(id, rows, 'wrong-organization');
  expect(await changedSince(id, [signOff('client', agoMs(HOUR))])).toMatchObject([
    { changed: [{ state: 'not-moved', companies: 7, references: ['c1', 'c2', 'c3', 'c4', 'c5'] }] },
  ]);
});
