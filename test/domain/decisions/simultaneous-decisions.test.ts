/** Tests contradictory decisions that arrive together, before the first decision has been carried out. */
import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
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
  type DecisionDraft,
} from '../../support/migrations/migration-states';

const cancel: DecisionDraft = { kind: 'cancel', role: 'client', reason: 'sold' };
const retry: DecisionDraft = { kind: 'retry', role: 'support', companies: 'all' };

/** Applies decisions in order. Returns the final state and whether each decision was applied. */
function decideInOrder(before: MigrationState, ...drafts: readonly DecisionDraft[]) {
  let state = before;
  const applied = drafts.map((draft) => {
    const decision = decideOne(state, draft);
    ({ state } = decision);
    return decision.outcome.applied;
  });
  return { state, applied };
}

describe('a decision against the first company that arrives together with the approval of that company', () => {
  const verified = stateAt('migrate-first-company', {
    firstCompany: firstCompany(),
    counts: counts({ total: 10, waiting: 9, moved: 1 }),
  });
  const approval = approve('migrate-first-company', 'support');
  const contradictions: readonly (readonly [string, DecisionDraft])[] = [
    ['a rejection', reject('migrate-first-company', 'support', { afterwards: { next: 'same-company' } })],
    ['a choice of another company', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ];

  test.each(contradictions)('withdraws the approval if it arrives second: %s', (_, decision) => {
    const { state, applied } = decideInOrder(verified, approval, decision);
    expect(applied).toEqual([true, true]);
    expect(state.firstCompany).toBeNull();
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });

  test.each(contradictions)('prevents the approval if it arrives first: %s', (_, decision) => {
    const { state, applied } = decideInOrder(verified, decision, approval);
    expect(applied).toEqual([true, false]);
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });
});

describe('a decision on companies that arrives together with the sign-offs', () => {
  const finished = stateAt('complete-migration', { counts: counts({ total: 10, moved: 9, failed: 1 }) });
  const signOffs = [approve('complete-migration', 'support'), approve('complete-migration', 'client')] as const;
  const decisions: readonly (readonly [string, DecisionDraft])[] = [
    ['retry', retry],
    ['relink', { kind: 'relink', role: 'support', companies: 'all' }],
    ['skip', { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'closed its books' }],
    ['replace-credential', { kind: 'replace-credential', role: 'support', companies: ['acme-3'] }],
    ['manifest-amended', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 }],
  ];

  test.each(decisions)('withdraws the sign-offs if it arrives last: %s', (_, decision) => {
    const { state, applied } = decideInOrder(finished, ...signOffs, decision);
    expect(applied).toEqual([true, true, true]);
    expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
  });

  test.each(decisions)('prevents the sign-offs until it has been carried out: %s', (_, decision) => {
    const { state, applied } = decideInOrder(finished, decision, ...signOffs);
    expect(applied).toEqual([true, false, false]);
    const carriedOut = { ...state, unrecorded: [] };
    expect(decideInOrder(carriedOut, ...signOffs).applied).toEqual([true, true]);
  });

  test('does not prevent the sign-offs if it is refused', () => {
    const allMoved = stateAt('complete-migration', { counts: counts({ total: 10, moved: 10 }) });
    expect(decideInOrder(allMoved, retry, ...signOffs).applied).toEqual([false, true, true]);
  });
});

describe('a cancellation', () => {
  const halfSigned = decideAll(
    stateAt('complete-migration', { counts: counts({ total: 10, moved: 10 }) }),
    approve('complete-migration', 'support'),
  );
  const signOff = approve('complete-migration', 'client');

  test('cancels the migration after the last sign-off if the step has not ended', () => {
    const { state, applied } = decideInOrder(halfSigned, signOff, cancel);
    expect(applied).toEqual([true, true]);
    expect(withStepEnded(state, 'complete-migration', AT).closed).toBe('cancelled');
  });

  test('prevents a sign-off that follows it', () => {
    expect(decideInOrder(halfSigned, cancel, signOff).applied).toEqual([true, false]);
  });
});

describe('a rejection of a start time that arrives together with its approval', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'support'));

  test('withdraws the proposal if it arrives second', () => {
    const { state, applied } = decideInOrder(proposed, approve('schedule', 'client'), reject('schedule', 'support'));
    expect(applied).toEqual([true, true]);
    expect(state).toMatchObject({ step: 'schedule', proposal: null });
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('prevents the approval if it arrives first', () => {
    const { applied } = decideInOrder(proposed, reject('schedule', 'support'), approve('schedule', 'client'));
    expect(applied).toEqual([true, false]);
  });
});

test('if a pause and a resume arrive together, the second decision takes effect', () => {
  const pause: DecisionDraft = { kind: 'pause', role: 'support' };
  const resume: DecisionDraft = { kind: 'resume', role: 'support' };
  expect(decideInOrder(stateAt('schedule'), pause, resume)).toMatchObject({
    applied: [true, true],
    state: { pause: null, pausesByPeople: [] },
  });
  expect(decideInOrder(stateAt('schedule'), resume, pause)).toMatchObject({
    applied: [false, true],
    state: { pausesByPeople: [{ by: 'Sam' }] },
  });
});
