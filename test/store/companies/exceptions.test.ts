/** Decisions about companies that were not moved. */
import type { Database } from '../../../store';
import {
  acceptFailures,
  awaitRelink,
  countFailures,
  leaveOutCompanies,
  readRelinking,
  recordRelinked,
  retryCompanies,
} from '../../../store';
import type { Ledger } from '../../support/ledger';
import { createMovableMigration, openLedger, putRow, readRow, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
afterAll(() => ledger.close());

const AT = '2026-03-02T12:00:00.000Z';
const CONNECTION = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';
const atTheService = { company_id: CONNECTION, connection_id: CONNECTION, link_url: 'https://link.example/1' };

test('companies that were not moved or have an unknown outcome are waited for if they have a link', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(4));
  await putRow(db, id, 1, { state: 'failed', failure: 'reauthorization-required', ...atTheService });
  await putRow(db, id, 2, { state: 'outcome-unknown', ...atTheService });
  await putRow(db, id, 3, { state: 'failed', failure: 'reauthorization-required' });
  await putRow(db, id, 4, { state: 'migrated', ...atTheService });
  await awaitRelink(db, { migrationId: id, companies: 'all', at: AT });
  expect((await readRelinking(db, id)).map(({ row }) => row)).toEqual([1, 2]);

  await recordRelinked(db, id, 2);
  expect(await readRow(db, id, 2)).toMatchObject({
    state: 'syncing',
    crossed_at: expect.any(Date) as Date,
    accepted: null,
    relinking_since: null,
  });
  expect((await readRelinking(db, id)).map(({ row }) => row)).toEqual([1]);
});

test('named companies are tried again, and their end customers are no longer waited for', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  for (const row of [1, 2]) await putRow(db, id, row, { state: 'failed', failure: 'incomplete', ...atTheService });
  await putRow(db, id, 3, { state: 'migrated' });
  await awaitRelink(db, { migrationId: id, companies: 'all', at: AT });
  await retryCompanies(db, id, ['c1', 'c3']);
  const states = await Promise.all([1, 2, 3].map(async (row) => (await readRow(db, id, row)).state));
  expect(states).toEqual(['waiting', 'failed', 'migrated']);
  expect(await readRow(db, id, 1)).toMatchObject({ failure: null, relinking_since: null, company_id: CONNECTION });
});

test('excluded and skipped companies keep the person, the reason and the earlier failure', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  await putRow(db, id, 2, { state: 'failed', failure: 'incomplete', failure_text: 'too few' });
  await putRow(db, id, 3, { state: 'migrated' });
  const everyone = { migrationId: id, companies: ['c1', 'c2', 'c3'], by: 'Sam', reason: 'sold' };
  await leaveOutCompanies(db, { ...everyone, as: 'exclude' });
  await leaveOutCompanies(db, { ...everyone, as: 'skip' });
  const decided = { settled_by: 'Sam', settled_reason: 'sold' };
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'excluded', ...decided });
  expect(await readRow(db, id, 2)).toMatchObject({ state: 'skipped', failure_text: 'too few', ...decided });
  expect(await readRow(db, id, 3)).toMatchObject({ state: 'migrated', settled_by: null });
});

test('failures count until support accepts them, and again after a retry', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(6));
  for (const row of [1, 2]) await putRow(db, id, row, { state: 'failed', failure: 'incomplete' });
  await putRow(db, id, 3, { state: 'outcome-unknown' });
  await putRow(db, id, 4, { state: 'migrated' });
  expect(await countFailures(db, id)).toEqual({ failed: 3, tried: 4 });
  await acceptFailures(db, id);
  expect(await countFailures(db, id)).toEqual({ failed: 0, tried: 4 });

  // Skipping an accepted failure does not make room for another one.
  await leaveOutCompanies(db, { migrationId: id, companies: ['c1'], as: 'skip', by: 'Sam', reason: 'sold' });
  await putRow(db, id, 5, { state: 'failed', failure: 'incomplete' });
  expect(await countFailures(db, id)).toMatchObject({ failed: 1 });

  await retryCompanies(db, id, ['c2']);
  await putRow(db, id, 2, { state: 'failed', failure: 'incomplete' });
  expect(await countFailures(db, id)).toMatchObject({ failed: 2 });
});
