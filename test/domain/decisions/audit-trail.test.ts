import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { nextAuditBatch } from '../../../domain/decisions/audit-trail';
import { LATER } from '../../support/migrations/migration-states';

const MAX_COMPANIES = 1_000;

/** Returns `count` confirmations, each for `companies` companies whose references have `referenceLength` characters. */
const confirmations = (count: number, companies: number, referenceLength: number): readonly DecisionRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    decision: {
      kind: 'sync-disabled',
      decisionId: `d-${index}`,
      role: 'client',
      by: 'Cleo',
      companies: Array.from({ length: companies }, (_each, at) => String(at).padEnd(referenceLength, '\u2713')),
    },
    outcome: { decisionId: `d-${index}`, applied: true, text: 'confirmed as disabled', at: LATER },
  }));

function batchesOf(unrecorded: readonly DecisionRecord[]): (readonly DecisionRecord[])[] {
  const batches: (readonly DecisionRecord[])[] = [];
  for (let left = unrecorded; left.length > 0; left = left.slice(batches.at(-1)?.length))
    batches.push(nextAuditBatch(left));
  return batches;
}

test('a few decisions fit into one batch', () => {
  const few = confirmations(5, 10, 20);
  expect(nextAuditBatch(few)).toEqual(few);
  expect(nextAuditBatch([])).toEqual([]);
});

test.each([
  [100, 39],
  [20, 200],
])(
  '%d decisions on the maximum number of companies, with references of %d characters, are split into batches that Temporal accepts',
  (count, length) => {
    const many = confirmations(count, MAX_COMPANIES, length);
    expect(Buffer.byteLength(JSON.stringify(many))).toBeGreaterThan(2_000_000);
    const batches = batchesOf(many);
    expect(batches.flat()).toEqual(many);
    for (const batch of batches) expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(1_500_000);
  },
);
