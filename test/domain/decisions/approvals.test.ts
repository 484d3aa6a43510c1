import type { Role, Step } from '../../../domain/migration/steps';
import { STEP_RULES, STEPS, stepNumber } from '../../../domain/migration/steps';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { missingApprovals } from '../../../domain/decisions/approvals';
import {
  approve,
  counts,
  decided,
  deciding,
  firstCompany,
  preflight,
  proposeTime,
  stateAt,
  substance,
} from '../../support/migration-states';

const NOTHING_OPEN = counts({ total: 10, migrated: 10 });

/** The step with everything there that an approval is about. */
const READY: Readonly<Record<Step, MigrationState>> = {
  'supply-details': stateAt('supply-details'),
  schedule: decided(stateAt('schedule'), proposeTime('support')),
  'update-application': stateAt('update-application'),
  'disable-syncing': stateAt('disable-syncing'),
  'migrate-first-company': stateAt('migrate-first-company', { firstCompany: firstCompany() }),
  'complete-migration': stateAt('complete-migration', { counts: NOTHING_OPEN }),
};

const everyPair = STEPS.flatMap((step) => (['client', 'support'] as const).map((role) => [step, role] as const));

describe('an approval by each role, of the step that is open', () => {
  const ENOUGH: Readonly<Record<Step, readonly Role[]>> = {
    'supply-details': ['support'],
    schedule: ['client', 'support'],
    'update-application': ['client', 'support'],
    'disable-syncing': [],
    'migrate-first-company': ['support'],
    'complete-migration': ['client', 'support'],
  };

  test.each(everyPair)('%s by %s', (step, role) => {
    const { state, outcome } = deciding(READY[step], approve(step, role));
    const counted = ENOUGH[step].includes(role);
    expect(outcome).toMatchObject({ applied: counted });
    expect(missingApprovals(state, step)).toEqual(
      STEP_RULES[step].approvers.filter((other) => !counted || other !== role),
    );
    if (!counted) expect(substance(state)).toEqual(substance(READY[step]));
  });

  test('the wrong role is told whose approval it takes', () => {
    const { outcome } = deciding(READY['supply-details'], approve('supply-details', 'client'));
    expect(outcome.text).toBe('supply-details is approved by support, not by client');
  });
});

describe('an approval of a step that is not open yet', () => {
  const later = everyPair.filter(([step]) => stepNumber(step) > 1 && step !== 'disable-syncing');

  test.each(later)('%s by %s counts early only where it states a fact', (step, role) => {
    const { outcome } = deciding(stateAt('supply-details'), approve(step, role));
    expect(outcome.applied).toBe(step === 'update-application');
  });

  test('a fact stated early waits for its step', () => {
    const state = decided(stateAt('supply-details'), approve('update-application', 'client'));
    expect(missingApprovals(state, 'update-application')).toEqual(['support']);
  });
});

describe('an approval of something that does not exist yet', () => {
  const problems = preflight({ problems: ['the key is not valid', 'no room'] });
  test.each<[string, Step, Partial<MigrationState>, string]>([
    ['details not checked', 'supply-details', { preflight: null }, 'the details are still being checked'],
    [
      'details with problems',
      'supply-details',
      { preflight: problems },
      'found 2 problems: the key is not valid; no room',
    ],
    ['no proposal', 'schedule', {}, 'no time has been proposed yet'],
    ['no first company', 'migrate-first-company', {}, 'no first company has been moved'],
    [
      'a first company under way',
      'migrate-first-company',
      { firstCompany: firstCompany({ stage: 'importing' }) },
      'no first company has been moved',
    ],
    [
      'a first company that failed',
      'migrate-first-company',
      { firstCompany: firstCompany({ stage: 'failed' }) },
      'no first company has been moved',
    ],
    ['companies left', 'complete-migration', { counts: counts({ total: 10, syncing: 1, waiting: 2 }) }, '3 companies'],
    ['outcomes unknown', 'complete-migration', { counts: counts({ total: 10, outcomeUnknown: 1 }) }, '1 company is'],
  ])('%s: %s is refused', (_, step, changes, why) => {
    const before = stateAt(step, changes);
    const { state, outcome } = deciding(before, approve(step, 'support'));
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
    expect(substance(state)).toEqual(substance(before));
  });
});

test('the second approval of one role is refused and names the first', () => {
  const { outcome } = deciding(decided(READY.schedule, approve('schedule', 'client')), {
    ...approve('schedule', 'client'),
    by: 'Carl',
  });
  expect(outcome).toMatchObject({ applied: false, text: 'client has approved schedule already, by Cleo' });
});

test('a step that has ended is not approved again', () => {
  const { outcome } = deciding(stateAt('update-application'), approve('supply-details', 'support'));
  expect(outcome).toMatchObject({ applied: false, text: 'supply-details has ended already' });
});
