import { sql } from 'kysely';
import type { Decision, Outcome } from '../../../domain/migration/decision';
import type { Database } from '../../../store';
import { readDecisions, readOutcome, recordDecisions, supplyMigration } from '../../../store';
import type { Ledger } from '../../support/ledger';
import { suppliedMigration, openLedger, manifestRows } from '../../support/ledger';

let ledger: Ledger;
let db: Database;
let id: string;
beforeAll(async () => {
  ledger = await openLedger();
  ({ db } = ledger);
});
beforeEach(async () => {
  const migration = suppliedMigration();
  ({ id } = migration);
  await supplyMigration(db, migration, manifestRows(1));
});
afterAll(() => ledger.close());

function recorded(decisionId: string, at: string, some: Partial<Outcome> = {}) {
  const decision: Decision = { kind: 'pause', decisionId, role: 'client', by: 'Cleo', reason: `"quoted" \\ ünïcode` };
  return { decision, outcome: { decisionId, applied: true, text: 'paused', at, ...some } };
}
const NINE = '2026-03-02T09:00:00.000Z';
const TEN = '2026-03-02T10:00:00.000Z';

test('returns decisions in the order in which they were made, including refused ones', async () => {
  const taken = ['b', 'c', 'a'].map((name) => recorded(name, NINE, { applied: name !== 'c' }));
  await recordDecisions(db, id, taken);
  await recordDecisions(db, id, [recorded('0', TEN)]);
  expect(await readDecisions(db, id)).toEqual([...taken, recorded('0', TEN)]);
  expect(await readOutcome(db, id, 'c')).toEqual(taken[1]?.outcome);
});

test('keeps the first version of a decision that is recorded twice', async () => {
  await recordDecisions(db, id, [recorded('one', NINE)]);
  await recordDecisions(db, id, [recorded('one', TEN, { text: 'something else' }), recorded('two', TEN)]);
  expect(await readDecisions(db, id)).toEqual([recorded('one', NINE), recorded('two', TEN)]);
});

test('returns no decisions of other migrations', async () => {
  const other = suppliedMigration();
  await supplyMigration(db, other, manifestRows(1));
  await recordDecisions(db, other.id, [recorded('one', NINE)]);
  expect(await readOutcome(db, id, 'one')).toBeNull();
  expect(await readDecisions(db, id)).toEqual([]);
});

test('rejects update, delete and truncate, because the trail is append-only', async () => {
  await recordDecisions(db, id, [recorded('one', NINE)]);
  await expect(sql`update decisions set text = 'x'`.execute(db)).rejects.toThrow(/append-only/);
  await expect(sql`delete from decisions`.execute(db)).rejects.toThrow(/append-only/);
  await expect(sql`truncate decisions`.execute(db)).rejects.toThrow(/append-only/);
  await expect(sql`delete from migrations where id = ${id}`.execute(db)).rejects.toThrow();
  expect(await readDecisions(db, id)).toHaveLength(1);
});

test('accepts an empty list', async () => {
  await recordDecisions(db, id, []);
  expect(await readDecisions(db, id)).toEqual([]);
});
