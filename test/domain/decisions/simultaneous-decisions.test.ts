/** Tests contradictory decisions that arrive together, before the first one has been carried out. */
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

describe('an approval and a rejection of the first company', () => {
  const proven = stateAt('migrate-first-company', {
    firstCompany: firstCompany(),
    counts: counts({ total: 10, waiting: 9, migrated: 1 }),
  });
  const approval = approve('migrate-first-company', 'support');
  const contradictions: readonly (readonly [string, DecisionDraft])[] = [
    ['rejected', reject('migrate-first-company', 'support', { afterwards: { next: 'same-company' } })],
    ['replaced by another choice', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ];

  test.each(contradictions)('withdraw the approval if the company is approved, then %s', (_, decision) => {
    const { state, applied } = decideInOrder(proven, approval, decision);
    expect(applied).toEqual([true, true]);
    expect(state.firstCompany).toBeNull();
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });

  test.each(contradictions)('refuse the approval if the company is %s, then approved', (_, decision) => {
    const { state, applied } = decideInOrder(proven, decision, approval);
    expect(applied).toEqual([true, false]);
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });
});

describe('a sign-off and a decision on a company', () => {
  const finished = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 9, failed: 1 }) });
  const signOffs = [approve('complete-migration', 'support'), approve('complete-migration', 'client')] as const;
  const decisions: readonly (readonly [string, DecisionDraft])[] = [
    ['retry', retry],
    ['relink', { kind: 'relink', role: 'support', companies: 'all' }],
    ['skip', { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'closed its books' }],
    ['replace-credential', { kind: 'replace-credential', role: 'support', companies: ['acme-3'] }],
    ['manifest-amended', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 }],
  ];

  test.each(decisions)('withdraw the sign-offs if they are followed by %s', (_, decision) => {
    const { state, applied } = decideInOrder(finished, ...signOffs, decision);
    expect(applied).toEqual([true, true, true]);
    expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
  });

  test.each(decisions)('refuse the sign-offs after %s until that decision has been carried out', (_, decision) => {
    const { state, applied } = decideInOrder(finished, decision, ...signOffs);
    expect(applied).toEqual([true, false, false]);
    const carriedOut = { ...state, unrecorded: [] };
    expect(decideInOrder(carriedOut, ...signOffs).applied).toEqual([true, true]);
  });

  test('allow the sign-offs after a refused retry', () => {
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

  test('cancels the migration after the last sign-off if the step has not ended', () => {
    const { state, applied } = decideInOrder(halfSigned, signOff, cancel);
    expect(applied).toEqual([true, true]);
    expect(withStepEnded(state, 'complete-migration', AT).closed).toBe('cancelled');
  });

  test('refuses a sign-off that follows it', () => {
    expect(decideInOrder(halfSigned, cancel, signOff).applied).toEqual([true, false]);
  });
});

describe('an approval and a rejection of a start time', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'support'));

  test('withdraw the proposal if it is fully approved, then rejected', () => {
    const { state, applied } = decideInOrder(proposed, approve('schedule', 'client'), reject('schedule', 'support'));
    expect(applied).toEqual([true, true]);
    expect(state).toMatchObject({ step: 'schedule', proposal: null });
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('refuse the approval if the proposal is rejected first', () => {
    const { applied } = decideInOrder(proposed, reject('schedule', 'support'), approve('schedule', 'client'));
    expect(applied).toEqual([true, false]);
  });
});

test('the later of a pause and a resume counts', () => {
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
