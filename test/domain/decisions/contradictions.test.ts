/** Decisions that contradict one another and come in one moment, before anybody has acted on the first of them. */
import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
import type { Undecided } from '../../support/migration-states';
import {
  approve,
  AT,
  counts,
  decided,
  deciding,
  firstCompany,
  proposeTime,
  reject,
  stateAt,
} from '../../support/migration-states';

const cancel: Undecided = { kind: 'cancel', role: 'client', reason: 'sold' };
const retry: Undecided = { kind: 'retry', role: 'support', companies: 'all' };

/** What each of them was answered, and the state after them. */
function answered(before: MigrationState, ...undecided: readonly Undecided[]) {
  let state = before;
  const applied = undecided.map((each) => {
    const decision = deciding(state, each);
    ({ state } = decision);
    return decision.outcome.applied;
  });
  return { state, applied };
}

describe('the first company, approved and not approved at once', () => {
  const proven = stateAt('migrate-first-company', {
    firstCompany: firstCompany(),
    counts: counts({ total: 10, waiting: 9, migrated: 1 }),
  });
  const approval = approve('migrate-first-company', 'support');
  const otherwise: readonly (readonly [string, Undecided])[] = [
    ['rejected', reject('migrate-first-company', 'support', { afterwards: { next: 'same-company' } })],
    ['another is chosen', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ];

  test.each(otherwise)('approved, then %s: the approval does not outlive what it was about', (_, decision) => {
    const { state, applied } = answered(proven, approval, decision);
    expect(applied).toEqual([true, true]);
    expect(state.firstCompany).toBeNull();
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });

  test.each(otherwise)('%s, then approved: there is nothing to approve', (_, decision) => {
    const { state, applied } = answered(proven, decision, approval);
    expect(applied).toEqual([true, false]);
    expect(isStepComplete(state, 'migrate-first-company')).toBe(false);
  });
});

describe('the handover, while what becomes of a company is decided', () => {
  const over = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 9, failed: 1 }) });
  const signatures = [approve('complete-migration', 'support'), approve('complete-migration', 'client')] as const;
  const settling: readonly (readonly [string, Undecided])[] = [
    ['retry', retry],
    ['relink', { kind: 'relink', role: 'support', companies: 'all' }],
    ['skip', { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'closed its books' }],
    ['replace-credential', { kind: 'replace-credential', role: 'support', companies: ['acme-3'] }],
    ['manifest-amended', { kind: 'manifest-amended', role: 'client', added: 1, corrected: 0 }],
  ];

  test.each(settling)('signed off by both, then %s: signed off anew', (_, decision) => {
    const { state, applied } = answered(over, ...signatures, decision);
    expect(applied).toEqual([true, true, true]);
    expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
  });

  test.each(settling)(
    '%s, and signed off before it was carried out: refused, and accepted afterwards',
    (_, decision) => {
      const { state, applied } = answered(over, decision, ...signatures);
      expect(applied).toEqual([true, false, false]);
      const carriedOut = { ...state, unrecorded: [] };
      expect(answered(carriedOut, ...signatures).applied).toEqual([true, true]);
    },
  );

  test('a refused retry keeps nobody from signing', () => {
    const allMoved = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) });
    expect(answered(allMoved, retry, ...signatures).applied).toEqual([false, true, true]);
  });
});

describe('cancelled', () => {
  const toSign = decided(
    stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) }),
    approve('complete-migration', 'support'),
  );
  const signature = approve('complete-migration', 'client');

  test('after the last signature, and before the step has ended: it is cancelled, as was answered', () => {
    const { state, applied } = answered(toSign, signature, cancel);
    expect(applied).toEqual([true, true]);
    expect(withStepEnded(state, 'complete-migration', AT).closed).toBe('cancelled');
  });

  test('before the last signature: that one is refused', () => {
    expect(answered(toSign, cancel, signature).applied).toEqual([true, false]);
  });
});

describe('a time, approved and rejected at once', () => {
  const proposed = decided(stateAt('schedule'), proposeTime('support'), approve('schedule', 'support'));

  test('approved by the last one, then rejected: it is proposed anew', () => {
    const { state, applied } = answered(proposed, approve('schedule', 'client'), reject('schedule', 'support'));
    expect(applied).toEqual([true, true]);
    expect(state).toMatchObject({ step: 'schedule', proposal: null });
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('rejected, then approved: there is nothing to approve', () => {
    const { applied } = answered(proposed, reject('schedule', 'support'), approve('schedule', 'client'));
    expect(applied).toEqual([true, false]);
  });
});

test('paused and resumed at once, in either order: the later one counts', () => {
  const pause: Undecided = { kind: 'pause', role: 'support' };
  const resume: Undecided = { kind: 'resume', role: 'support' };
  expect(answered(stateAt('schedule'), pause, resume)).toMatchObject({ applied: [true, true], state: { pause: null } });
  expect(answered(stateAt('schedule'), resume, pause)).toMatchObject({
    applied: [false, true],
    state: { pause: { by: 'Sam' } },
  });
});
