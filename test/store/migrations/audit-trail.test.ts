import { sql } from 'kysely';
import type { Decision, Outcome } from '../../../domain/migration/decision';
import { readDecisions, readOutcome, recordDecisions, supplyMigration } from '../../../store';
import { suppliedMigration, useLedger, manifestRows } from '../../support/migrations/ledger';

const ledger = useLedger();
let id: string;
beforeEach(async () => {
  const migration = suppliedMigration();
  ({ id } = migration);
  await supplyMigration(ledger.db, migration, manifestRows(1));
});

function recorded(decisionId: string, at: string, overrides: Partial<Outcome> = {}) {
  const decision: Decision = { kind: 'pause', decisionId, role: 'client', by: 'Cleo', reason: `"quoted" \\ ünïcode` };
  return { decision, outcome: { decisionId, applied: true, text: 'paused', at, ...overrides } };
}
const NINE = '2026-03-02T09:00:00.000Z';
const TEN = '2026-03-02T10:00:00.000Z';

test('returns decisions in the order in which they were recorded, including refused decisions', async () => {
  const decisions = ['b', 'c', 'a'].map((name) => recorded(name, NINE, { applied: name !== 'c' }));
  await recordDecisions(ledger.db, id, decisions);
  await recordDecisions(ledger.db, id, [recorded('0', TEN)]);
  expect(await readDecisions(ledger.db, id)).toEqual([...decisions, recorded('0', TEN)]);
  expect(await readOutcome(ledger.db, id, 'c')).toEqual(decisions[1]?.outcome);
});

test('keeps the first version of a decision that is recorded twice', async () => {
  await recordDecisions(ledger.db, id, [recorded('one', NINE)]);
  await recordDecisions(ledger.db, id, [recorded('one', TEN, { text: 'something else' }), recorded('two', TEN)]);
  expect(await readDecisions(ledger.db, id)).toEqual([recorded('one', NINE), recorded('two', TEN)]);
});

test('returns no decisions of other migrations', async () => {
  const other = suppliedMigration();
  await supplyMigration(ledger.db, other, manifestRows(1));
  await recordDecisions(ledger.db, other.id, [recorded('one', NINE)]);
  expect(await readOutcome(ledger.db, id, 'one')).toBeNull();
  expect(await readDecisions(ledger.db, id)).toEqual([]);
});

test('rejects updates, deletes and truncation, because the trail is append-only', async () => {
  await recordDecisions(ledger.db, id, [recorded('one', NINE)]);
  await expect(sql`update decisions set text = 'x'`.execute(ledger.db)).rejects.toThrow(/append-only/);
  await expect(sql`delete from decisions`.execute(ledger.db)).rejects.toThrow(/append-only/);
  await expect(sql`truncate decisions`.execute(ledger.db)).rejects.toThrow(/append-only/);
  await expect(sql`delete from migrations where id = ${id}`.execute(ledger.db)).rejects.toThrow();
  expect(await readDecisions(ledger.db, id)).toHaveLength(1);
});

test('accepts an empty list', async () => {
  await recordDecisions(ledger.db, id, []);
  expect(await readDecisions(ledger.db, id)).toEqual([]);
});
