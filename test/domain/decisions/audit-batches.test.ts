import type { Recorded } from '../../../domain/migration/migration-state';
import { nextAuditBatch } from '../../../domain/decisions/audit-batches';
import { LATER } from '../../support/migration-states';

const AS_MANY_AS_A_MESSAGE_TAKES = 1_000;

/** Confirmations of so many companies each, with references of this length. */
const confirmations = (count: number, companies: number, referenceLength: number): readonly Recorded[] =>
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

function piecesOf(unrecorded: readonly Recorded[]): (readonly Recorded[])[] {
  const pieces: (readonly Recorded[])[] = [];
  for (let left = unrecorded; left.length > 0; left = left.slice(pieces.at(-1)?.length))
    pieces.push(nextAuditBatch(left));
  return pieces;
}

test('a few decisions are handed on at once', () => {
  const few = confirmations(5, 10, 20);
  expect(nextAuditBatch(few)).toEqual(few);
  expect(nextAuditBatch([])).toEqual([]);
});

test.each([
  [100, 39],
  [20, 200],
])(
  '%d of the longest lists, of references of %d characters, in pieces that Temporal takes, none lost',
  (count, length) => {
    const many = confirmations(count, AS_MANY_AS_A_MESSAGE_TAKES, length);
    expect(Buffer.byteLength(JSON.stringify(many))).toBeGreaterThan(2_000_000);
    const pieces = piecesOf(many);
    expect(pieces.flat()).toEqual(many);
    for (const piece of pieces) expect(Buffer.byteLength(JSON.stringify(piece))).toBeLessThan(1_500_000);
  },
);
