import { STEP_RULES, STEPS, stepNumber, type Role, type Step } from '../../../domain/migration/steps';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { missingApprovals } from '../../../domain/decisions/approvals';
import {
  answerTo,
  approve,
  AT,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  preflight,
  proposeTime,
  stateAt,
  withoutRecord,
} from '../../support/migrations/migration-states';

const NOTHING_OPEN = counts({ total: 10, moved: 10 });

/** For each step, a migration in which the step is ready to be approved. */
const READY: Readonly<Record<Step, MigrationState>> = {
  'supply-details': stateAt('supply-details'),
  schedule: decideAll(stateAt('schedule'), proposeTime('support')),
  'update-application': stateAt('update-application'),
  'disable-syncing': stateAt('disable-syncing'),
  'migrate-first-company': stateAt('migrate-first-company', { firstCompany: firstCompany() }),
  'complete-migration': stateAt('complete-migration', { counts: NOTHING_OPEN }),
};

const everyPair = STEPS.flatMap((step) => (['client', 'support'] as const).map((role) => [step, role] as const));

describe('an approval of the open step', () => {
  const APPROVERS: Readonly<Record<Step, readonly Role[]>> = {
    'supply-details': ['support'],
    schedule: ['client', 'support'],
    'update-application': ['client', 'support'],
    'disable-syncing': [],
    'migrate-first-company': ['support'],
    'complete-migration': ['client', 'support'],
  };

  test.each(everyPair)('(%s) by %s is applied only if the role is an approver', (step, role) => {
    const { state, outcome } = decideOne(READY[step], approve(step, role));
    const isApprover = APPROVERS[step].includes(role);
    expect(outcome).toMatchObject({ applied: isApprover });
    expect(missingApprovals(state, step)).toEqual(
      STEP_RULES[step].approvers.filter((other) => !isApprover || other !== role),
    );
    if (!isApprover) expect(withoutRecord(state)).toEqual(withoutRecord(READY[step]));
  });

  test('by the wrong role is refused, and the refusal contains the right role', () => {
    const { outcome } = decideOne(READY['supply-details'], approve('supply-details', 'client'));
    expect(outcome.text).toBe('only support can approve step 1 (supply details)');
  });
});

describe('an approval of a step that is not open yet', () => {
  const later = everyPair.filter(([step]) => stepNumber(step) > 1 && step !== 'disable-syncing');

  test.each(later)('(%s) by %s is applied early only if it states a fact', (step, role) => {
    const { outcome } = decideOne(stateAt('supply-details'), approve(step, role));
    expect(outcome.applied).toBe(step === 'update-application');
  });

  test('takes effect when its step opens', () => {
    const state = decideAll(stateAt('supply-details'), approve('update-application', 'client'));
    expect(missingApprovals(state, 'update-application')).toEqual(['support']);
  });
});

describe('an approval of a step that is not ready', () => {
  const problems = preflight({ problems: ['the key is not valid', 'no room'] });
  const REJECTED_PROPOSAL: Partial<MigrationState> = {
    reopened: { step: 'schedule', by: 'Sam', role: 'support', reason: 'too early', at: AT, proposed: false },
  };
  test.each<[string, Step, Partial<MigrationState>, string]>([
    [
      'unchecked details',
      'supply-details',
      { preflight: null },
      'the details are still being checked; wait until the check has ended, then decide again',
    ],
    [
      'details with problems',
      'supply-details',
      { preflight: problems },
      'found 2 kinds of problem: the key is not valid; no room',
    ],
    ['no proposal', 'schedule', {}, 'there is no start time to approve; propose one first'],
    ['a rejected proposal', 'schedule', REJECTED_PROPOSAL, 'there is no start time to approve; propose one first'],
    [
      'another first company, after one was moved',
      'migrate-first-company',
      { counts: counts({ total: 3, moved: 1, waiting: 2 }), requestedFirst: { reference: 'C-8', notReady: false } },
      'the first company has no result yet',
    ],
    ['no first company', 'migrate-first-company', {}, 'the first company has no result yet'],
    [
      'a first company that is moving',
      'migrate-first-company',
      { firstCompany: firstCompany({ stage: 'importing', reference: 'C-7' }) },
      'the first company, C-7, is still being moved and checked',
    ],
    [
      'a first company that failed',
      'migrate-first-company',
      { firstCompany: firstCompany({ stage: 'failed', reference: 'C-7' }) },
      'the first company, C-7, was not moved, so it cannot be approved; decide what to try next',
    ],
    [
      'a first company that was rejected',
      'migrate-first-company',
      {
        reopened: { step: 'migrate-first-company', by: 'Sam', role: 'support', reason: 'odd', at: AT, company: 'C-7' },
      },
      'Sam has rejected the first company, C-7, and there is no newer result to approve yet',
    ],
    ['open companies', 'complete-migration', { counts: counts({ total: 10, syncing: 1, waiting: 2 }) }, '3 companies'],
    ['unknown outcomes', 'complete-migration', { counts: counts({ total: 10, outcomeUnknown: 1 }) }, '1 company has'],
  ])('is refused because of %s: %s', (_, step, changes, why) => {
    expect(answerTo(stateAt(step, changes), approve(step, 'support'))).toContain(why);
  });
});

test('a second approval by the same role is refused with the name of the first approver', () => {
  const approved = decideAll(READY.schedule, approve('schedule', 'client'));
  expect(answerTo(approved, { ...approve('schedule', 'client'), by: 'Carl' })).toBe(
    'step 2 (schedule the migration) has already been approved by the client (Cleo)',
  );
});

test('a second sign-off by the same role is refused with the name of the person who has signed off', () => {
  const signedOff = decideAll(READY['complete-migration'], approve('complete-migration', 'support'));
  const again = { ...approve('complete-migration', 'support'), by: 'Ann' };
  expect(answerTo(signedOff, again)).toBe('support (Sam) has already signed off the handover');
});

test('an approval of a step that has ended is refused', () => {
  const answer = answerTo(stateAt('update-application'), approve('supply-details', 'support'));
  expect(answer).toBe('step 1 (supply details) has already ended');
});
