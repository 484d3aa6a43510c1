import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import type { Role, Step } from '../../../domain/migration/steps';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  migrationPlan,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migration-states';

const plan = migrationPlan();

const scheduled = decideAll(stateAt('schedule'), proposeTime('support'));
const first = (some: Parameters<typeof firstCompany>[0]): MigrationState =>
  stateAt('migrate-first-company', { firstCompany: firstCompany(some) });
const rest = (some: Parameters<typeof counts>[0]): MigrationState =>
  stateAt('complete-migration', { counts: counts({ total: 10, ...some }) });

test.each<[string, MigrationState, readonly Role[], string]>([
  ['unchecked details', stateAt('supply-details', { preflight: null }), [], 'are being checked'],
  [
    'problems in the details',
    stateAt('supply-details', { preflight: preflight({ problems: ['no room'] }) }),
    ['client'],
    'details to correct: no room',
  ],
  ['details checked', stateAt('supply-details'), ['support'], 'accept the supplied details'],
  ['no time proposed', stateAt('schedule'), ['client', 'support'], 'propose a time to start'],
  ['a time proposed', scheduled, ['client', 'support'], 'approve the start at 2026-03-07 20:00 UTC'],
  ['one side agreed', decideAll(scheduled, approve('schedule', 'support')), ['client'], 'approve the start'],
  [
    'callback URL not added yet',
    stateAt('update-application'),
    ['client', 'support'],
    'https://service.example/callback',
  ],
  [
    'callback URL added',
    decideAll(stateAt('update-application'), approve('update-application', 'client')),
    ['support'],
    'https://service.example/callback',
  ],
  [
    'unconfirmed companies',
    stateAt('disable-syncing', { counts: counts({ total: 10, waiting: 10, unconfirmed: 3 }) }),
    ['client'],
    '3 of 10 companies',
  ],
  ['the start still ahead', stateAt('migrate-first-company'), [], 'moved from 2026-03-07 20:00 UTC on'],
  [
    'no credential at all',
    stateAt('migrate-first-company', { counts: counts({ total: 10, waiting: 10, withoutCredential: 10 }) }),
    ['client'],
    'supply credentials',
  ],
  ['the first company moving', first({ stage: 'importing' }), [], 'acme-1, is being moved'],
  ['the first company moved', first({ stage: 'proven' }), ['support'], 'approve the first company, acme-1'],
  ['the first company failed', first({ stage: 'failed' }), ['support'], 'decide what to try next'],
  ['companies moving', rest({ waiting: 2, syncing: 3, migrated: 5 }), [], 'the remaining companies are being moved'],
  ['credentials missing', rest({ waiting: 2, withoutCredential: 2, migrated: 8 }), ['client'], 'credentials for 2'],
  [
    'everything missing at once',
    rest({ waiting: 6, unconfirmed: 1, withoutCredential: 2, heldBack: 3, outcomeUnknown: 1, migrated: 3 }),
    ['client', 'support'],
    'turn off syncing for 1 company not confirmed yet, confirm it and supply credentials; supply credentials for 2 companies; correct or leave out 3 companies that cannot be moved as they are; decide what to do about 1 company with an unknown outcome',
  ],
  [
    'one held-back company',
    rest({ waiting: 1, heldBack: 1, migrated: 9 }),
    ['client'],
    'leave out 1 company that cannot be moved as it is',
  ],
  [
    'a correction being checked',
    { ...rest({ waiting: 1, heldBack: 1, migrated: 9 }), changes: 2, changesChecked: 1 },
    [],
    'the changed details are being checked',
  ],
  [
    'one unknown outcome, and others moving',
    rest({ outcomeUnknown: 1, waiting: 2, withoutCredential: 1, migrated: 7 }),
    [],
    'the remaining companies are being moved',
  ],
  [
    'no credentials for the first wave, and others unconfirmed',
    stateAt('migrate-first-company', {
      counts: counts({ total: 10, waiting: 10, withoutCredential: 4, unconfirmed: 6, unconfirmedInFirstWave: 0 }),
    }),
    ['client'],
    'supply credentials for 4 companies',
  ],
  [
    'every company left out',
    stateAt('migrate-first-company', { counts: counts({ total: 10, excluded: 10 }) }),
    ['support'],
    'no company is left to move',
  ],
  ['unknown outcomes', rest({ outcomeUnknown: 2, migrated: 8 }), ['support'], 'decide what to do about 2 companies'],
  ['nothing left', rest({ migrated: 9, failed: 1 }), ['support', 'client'], 'sign off the handover'],
  [
    'one signature',
    decideAll(rest({ migrated: 10 }), approve('complete-migration', 'support')),
    ['client'],
    'sign off the handover',
  ],
  [
    'paused',
    stateAt('schedule', { pause: { reason: 'lunch', by: 'Sam', stop: null, at: AT } }),
    ['support'],
    'paused: lunch',
  ],
  ['completed', stateAt('complete-migration', { closed: 'completed' }), [], 'the migration is completed'],
  ['abandoned', stateAt('migrate-first-company', { closed: 'abandoned' }), [], 'the migration is abandoned'],
])('%s: says who has to act, and what to do', (_, state, roles, what) => {
  const waited = waitingForOf(state);
  expect(waited.roles).toEqual(roles);
  expect(waited.what).toContain(what);
});

test('the overall state is running, waiting, paused or the ending', () => {
  const overall = (state: MigrationState) => progressOf(plan, state).state;
  expect(overall(stateAt('supply-details', { preflight: null }))).toBe('running');
  expect(overall(stateAt('supply-details'))).toBe('waiting');
  expect(overall(stateAt('schedule', { pause: { reason: 'x', by: null, stop: null, at: AT } }))).toBe('paused');
  expect(overall(stateAt('schedule', { closed: 'abandoned' }))).toBe('abandoned');
});

test('each step is done, open or later, and shows who approved it', () => {
  const steps = progressOf(plan, scheduled).steps;
  const states = Object.fromEntries(steps.map(({ step, state }) => [step, state])) as Record<Step, string>;
  expect(states).toEqual({
    'supply-details': 'done',
    schedule: 'open',
    'update-application': 'later',
    'disable-syncing': 'later',
    'migrate-first-company': 'later',
    'complete-migration': 'later',
  });
  expect(steps[0]).toMatchObject({ endedAt: AT, approvals: [{ role: 'support', by: 'Sam' }] });
});

test('when the migration is completed every step is done', () => {
  const { steps } = progressOf(plan, stateAt('complete-migration', { closed: 'completed' }));
  expect(steps.every(({ state }) => state === 'done')).toBe(true);
});

test('in an abandoned migration the last open step is not done', () => {
  const { steps } = progressOf(plan, stateAt('migrate-first-company', { closed: 'abandoned' }));
  expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'open', 'later']);
});
