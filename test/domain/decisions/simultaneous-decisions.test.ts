/** Contradicting decisions that arrive at the same time, before the first of them has been carried out. */
import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
import type { DecisionDraft } from '../../support/migration-states';
import {
  approve,
  AT,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migration-states';

const cancel: DecisionDraft = { kind: 'cancel', role: 'client', reason: 'sold' };
const retry: DecisionDraft = { kind: 'retry', role: 'support', companies: 'all' };

/** Applies decisions in order, and returns whether each was applied, and the last state. */
function decideInOrder(before: MigrationState, ...drafts: readonly DecisionDraft[]) {
  let state = before;
  const applied = drafts.map((draft) => {
    const decision = decideOne(state, draft);
    ({ state } = decision);
    return decision.outcome.applied;
  });
  return { state, applied };
}

describe('the first company, approved and rejected at the same time', () => {
  const proven = stateAt('migrate-first-company', {
    firstCompany: firstCompany(),
    counts: counts({ total: 10, waiting: 9, migrated: 1 }),
  });
  const approval = approve('migrate-first-company', 'support');
  const contradictions: readonly (readonly [string, DecisionDraft])[] = [
    ['rejected', reject('migrate-first-company', 'support', { afterwards: { next: 'same-company' } })],
    ['replaced by another choice', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ];

  test.each(contradictions)('approved, then %s: the approval is withdrawn', (_, decision) => {
    const { state, applied } = decideInOrder(proven, approval, decision);
    expect(applied).toEqual([true, true]);
    expect(state.firstCompany).toBeNull();
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });

  test.each(contradictions)('%s, then approved: there is nothing to approve', (_, decision) => {
    const { state, applied } = decideInOrder(proven, decision, approval);
    expect(applied).toEqual([true, false]);
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });
});

describe('the sign-off, and a decision about a company at the same time', () => {
  const finished = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 9, failed: 1 }) });
  const signOffs = [approve('complete-migration', 'support'), approve('complete-migration', 'client')] as const;
  const decisions: readonly (readonly [string, DecisionDraft])[] = [
    ['retry', retry],
    ['relink', { kind: 'relink', role: 'support', companies: 'all' }],
    ['skip', { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'closed its books' }],
    ['replace-credential', { kind: 'replace-credential', role: 'support', companies: ['acme-3'] }],
    ['manifest-amended', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 }],
  ];

  test.each(decisions)('signed off by both, then %s: the sign-offs are withdrawn', (_, decision) => {
    const { state, applied } = decideInOrder(finished, ...signOffs, decision);
    expect(applied).toEqual([true, true, true]);
    expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
  });

  test.each(decisions)('%s, then signed off: refused until the decision is carried out', (_, decision) => {
    const { state, applied } = decideInOrder(finished, decision, ...signOffs);
    expect(applied).toEqual([true, false, false]);
    const carriedOut = { ...state, unrecorded: [] };
    expect(decideInOrder(carriedOut, ...signOffs).applied).toEqual([true, true]);
  });

  test('a refused retry does not prevent the sign-off', () => {
    const allMoved = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) });
    expect(decideInOrder(allMoved, retry, ...signOffs).applied).toEqual([false, true, true]);
  });
});

describe('a cancellation', () => {
  const halfSigned = decideAll(
    stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) }),
    approve('complete-migration', 'support'),
  );
  const signOff = approve('complete-migration', 'client');

  test('after the last sign-off, but before the step has ended: the migration is cancelled', () => {
    const { state, applied } = decideInOrder(halfSigned, signOff, cancel);
    expect(applied).toEqual([true, true]);
    expect(withStepEnded(state, 'complete-migration', AT).closed).toBe('cancelled');
  });

  test('before the last sign-off: the sign-off is refused', () => {
    expect(decideInOrder(halfSigned, cancel, signOff).applied).toEqual([true, false]);
  });
});

describe('a start time, approved and rejected at the same time', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'support'));

  test('fully approved, then rejected: the proposal is withdrawn', () => {
    const { state, applied } = decideInOrder(proposed, approve('schedule', 'client'), reject('schedule', 'support'));
    expect(applied).toEqual([true, true]);
    expect(state).toMatchObject({ step: 'schedule', proposal: null });
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('rejected, then approved: there is nothing to approve', () => {
    const { applied } = decideInOrder(proposed, reject('schedule', 'support'), approve('schedule', 'client'));
    expect(applied).toEqual([true, false]);
  });
});

test('a pause and a resume at the same time: the later one counts', () => {
  const pause: DecisionDraft = { kind: 'pause', role: 'support' };
  const resume: DecisionDraft = { kind: 'resume', role: 'support' };
  expect(decideInOrder(stateAt('schedule'), pause, resume)).toMatchObject({
    applied: [true, true],
    state: { pause: null },
  });
  expect(decideInOrder(stateAt('schedule'), resume, pause)).toMatchObject({
    applied: [false, true],
    state: { pause: { by: 'Sam' } },
  });
});
