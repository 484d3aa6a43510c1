import { createLedgerProof, isLedgerLine, type LedgerSummary } from '../../../domain/decisions/ledger-proof';
import type { Companies, Decision } from '../../../domain/migration/decision';

const AT = '2026-03-02T12:00:00.000Z';
const cleo = { decisionId: 'd', role: 'client', by: 'Cleo' } as const;
const confirmation = (companies: Companies): Decision => ({ kind: 'sync-disabled', companies, ...cleo });
const confirmed = (companies: number, by = 'Cleo', at = AT): LedgerSummary => ({
  route: 'managed',
  released: 'nothing',
  confirmations: [{ by, at, companies }],
});

test.each<[string, Companies | null, LedgerSummary, readonly string[]]>([
  [
    'no decision',
    null,
    confirmed(6),
    ['the ledger shows 6 companies as confirmed, but signed decisions confirm only 0'],
  ],
  ['a decision on all companies', 'all', confirmed(6), []],
  [
    'a decision on fewer companies',
    ['a', 'b', 'a'],
    confirmed(3),
    ['the ledger shows 3 companies as confirmed, but signed decisions confirm only 2'],
  ],
  [
    'a decision of another person',
    'all',
    confirmed(1, 'Eve'),
    ['the ledger shows 1 company as confirmed, but signed decisions confirm only 0'],
  ],
  [
    'an earlier decision',
    'all',
    confirmed(1, 'Cleo', '2026-03-03T00:00:00.000Z'),
    ['the ledger shows 1 company as confirmed, but signed decisions confirm only 0'],
  ],
])('confirmations are compared with %s', (_, companies, summary, differences) => {
  const proof = createLedgerProof();
  if (companies !== null) proof.add(confirmation(companies), { applied: true, at: AT });
  expect(proof.differences(summary)).toEqual(differences);
});

test('in self-service, no signed decision can prove the confirmations', () => {
  const summary: LedgerSummary = { ...confirmed(3), route: 'self-service', released: 'all' };
  expect(createLedgerProof().differences(summary)).toEqual([
    'in self-service, a company is confirmed without a signature when it is supplied, so nothing proves the confirmation of 3 companies',
  ]);
});

test('a refused decision proves nothing', () => {
  const proof = createLedgerProof();
  proof.add(confirmation('all'), { applied: false, at: AT });
  expect(proof.differences(confirmed(1))).toHaveLength(1);
});

test('a release is compared with the signed approvals', () => {
  const proof = createLedgerProof();
  const summary = { ...confirmed(0), confirmations: [], released: 'first-company' } as const;
  expect(proof.differences(summary)).toEqual([
    'the ledger allows the first company to be moved, but the decisions that are signed, or need no signature, allow none',
  ]);
  for (const step of ['supply-details', 'schedule', 'update-application'] as const)
    for (const role of ['support', 'client'] as const)
      proof.add({ ...cleo, kind: 'step', verdict: 'approve', step, role }, { applied: true, at: AT });
  expect(proof.differences(summary)).toEqual([]);
  expect(proof.differences({ ...summary, released: 'all' })).toEqual([
    'the ledger allows all companies to be moved, but the decisions that are signed, or need no signature, allow only the first company',
  ]);
});

test.each([null, {}, { ledger: null }, { ledger: { released: 'everything', confirmations: [] } }])(
  '%j is not a line about the ledger',
  (value) => {
    expect(isLedgerLine(value)).toBe(false);
  },
);

test('the companies are compared with the last manifest that was supplied, unless it has been amended since', () => {
  const proof = createLedgerProof();
  const summary = { ...confirmed(0), confirmations: [], manifestDigest: 'b'.repeat(64) };
  const supplied = (letter: string) =>
    ({ ...cleo, kind: 'manifest-supplied', manifestDigest: letter.repeat(64), companies: 2 }) as const;
  expect(proof.differences(summary)).toEqual([]);
  proof.add(supplied('b'), { applied: true, at: AT });
  expect(proof.differences(summary)).toEqual([]);
  proof.add(supplied('a'), { applied: true, at: AT });
  const differ = ['the companies in the ledger differ from the manifest that Cleo has supplied'];
  expect(proof.differences(summary)).toEqual(differ);
  expect(proof.differences({ ...confirmed(0), confirmations: [] })).toEqual([]);
  proof.add({ ...cleo, kind: 'manifest-amended', added: 1, corrected: 0 }, { applied: true, at: AT });
  expect(proof.differences(summary)).toEqual([]);
});
