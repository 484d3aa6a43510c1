/** Tests what the progress says about a migration and its steps. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Window } from '../../../domain/planning/windows';
import { headline, progressOf } from '../../../domain/progress/progress';
import { withActingRoles } from '../../../domain/progress/acting-roles';
import { meanwhileTask } from '../../../domain/progress/meanwhile';
import { currentTask } from '../../../domain/progress/waiting-for';
import type { Step } from '../../../domain/migration/steps';
import {
  AT,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';

const plan = migrationPlan();

const scheduled = decideAll(stateAt('schedule'), proposeTime('support'));
const rest = (changes: Parameters<typeof counts>[0]): MigrationState =>
  stateAt('complete-migration', { counts: counts({ total: 10, ...changes }) });

test('the overall state is running, waiting, paused or the ending', () => {
  const overall = (state: MigrationState) => progressOf(plan, state).state;
  expect(overall(stateAt('supply-details', { preflight: null }))).toBe('running');
  expect(overall(stateAt('supply-details'))).toBe('waiting');
  expect(overall(stateAt('schedule', { pause: { reason: 'x', by: null, stopReason: null, at: AT } }))).toBe('paused');
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

test('every step of a completed migration is done', () => {
  const { steps } = progressOf(plan, stateAt('complete-migration', { closed: 'completed' }));
  expect(steps.every(({ state }) => state === 'done')).toBe(true);
});

test('the last open step of an abandoned migration is not done', () => {
  const { steps } = progressOf(plan, stateAt('migrate-first-company', { closed: 'abandoned' }));
  expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'open', 'later']);
});

test('in self-service, the client has every task, so no task says whose it is', () => {
  const missing = rest({ waiting: 2, withoutCredential: 2, outcomeUnknown: 1, moved: 7 });
  expect(progressOf(plan, { ...missing, route: 'self-service' }).waitingFor).toEqual({
    roles: ['client'],
    what: 'supply credentials for 2 companies; decide what to do about 1 company with an unknown outcome',
  });
});

test('a self-service migration that waits for the client is not shown as moving companies', () => {
  const selfServiceHeadline = (changes: Parameters<typeof counts>[0]) =>
    headline(progressOf(plan, { ...rest(changes), route: 'self-service' }));
  expect(selfServiceHeadline({ moved: 8, waiting: 2 })).toBe('self-service, moving the companies');
  expect(selfServiceHeadline({ moved: 8, failed: 2 })).toBe('self-service, waiting for the client');
});

test.each([
  ['completed', 'completed'],
  ['abandoned', 'abandoned'],
] as const)('the headline of a migration that is %s is "%s"', (closed, words) => {
  expect(headline(progressOf(plan, stateAt('complete-migration', { closed })))).toBe(words);
});

test('a person who has to supply something is named, although other companies can be moved', () => {
  const lacking = { withoutCredential: 1, firstWithoutCredential: ['M-060'] };
  const task = (changes: Parameters<typeof counts>[0], more: Partial<MigrationState> = {}) =>
    meanwhileTask(progressOf(plan, { ...rest(changes), ...more }));
  expect(task({ moved: 5, waiting: 5, ...lacking })).toEqual({
    roles: ['client'],
    what: 'supply credentials for 1 company (M-060)',
  });
  expect(task({ moved: 5, waiting: 4, outcomeUnknown: 1 })?.roles).toEqual(['support']);
  expect(task({ moved: 5, waiting: 4, outcomeUnknown: 1 }, { route: 'self-service' })?.roles).toEqual(['client']);
  // The client need not turn off syncing for a later wave before it is the turn of that wave.
  expect(task({ moved: 5, waiting: 5, unconfirmed: 3, unconfirmedInFirstWave: 0 })).toBeNull();
  // The migration itself waits for the client.
  expect(task({ moved: 9, waiting: 1, ...lacking })).toBeNull();
  expect(task({ moved: 5, waiting: 5, ...lacking }, { closed: 'cancelled' })).toBeNull();
});

test('the client is asked at once to confirm companies that were added after step 4', () => {
  const task = (state: MigrationState) => meanwhileTask(progressOf(plan, state));
  const added = { unconfirmed: 2, unconfirmedInFirstWave: 2, unconfirmedInNextWave: 2 };
  const asked = {
    roles: ['client'],
    what: 'turn off syncing for 2 companies, confirm that it is off, and supply credentials',
  };
  expect(task(rest({ moved: 5, waiting: 5, ...added }))).toEqual(asked);
  // The migration waits for support, or is paused.
  const first = { firstCompany: firstCompany(), counts: counts({ total: 10, moved: 1, waiting: 9, ...added }) };
  expect(task(stateAt('migrate-first-company', first))).toEqual(asked);
  const pause = { reason: 'holiday', by: 'Sam', stopReason: null, at: AT };
  expect(task({ ...rest({ moved: 5, waiting: 5, ...added }), pause })).toEqual(asked);
  // The migration itself asks for the confirmation.
  expect(task(rest({ moved: 8, waiting: 2, ...added }))).toBeNull();
  expect(task({ ...rest({ moved: 5, waiting: 5, ...added }), route: 'self-service' })).toBeNull();
});

test('the time of the next attempt in an outage is left out once it has passed', () => {
  const outage = { why: 'GET /account: answered 503 Maintenance', since: AT, until: LATER };
  const progress = progressOf(plan, { ...rest({ waiting: 10 }), outage });
  const onHold = 'on hold since 2026-03-02 09:00 UTC; retries automatically';
  const cause = 'cause: could not read the account: the service answered 503: Maintenance';
  expect(currentTask(progress, AT)).toBe(`${onHold} at 2026-03-02 10:00 UTC; ${cause}`);
  expect(currentTask(progress, LATER)).toBe(`${onHold}; ${cause}`);
  expect(currentTask({ ...progress, outage: null }, LATER)).toContain('retries automatically at');
});

test('a past time for the move of the first company is replaced by now or by the next window', () => {
  const progress = progressOf(plan, stateAt('migrate-first-company'));
  const first = 'the first company will be moved';
  expect(currentTask(progress, AT)).toBe(`${first} at 2026-03-07 20:00 UTC`);
  expect(currentTask(progress, '2026-03-07T20:00:30.000Z')).toBe(`${first} now`);
  const windows: readonly Window[] = [{ days: ['sun'], from: '21:00', to: '23:00', timeZone: 'UTC' }];
  expect(currentTask({ ...progress, windows }, '2026-03-08T09:00:00.000Z')).toBe(`${first} at 2026-03-08 21:00 UTC`);
});

test('while no window is open, only moves that have begun continue', () => {
  const windows: readonly Window[] = [{ days: ['sat', 'sun'], from: '21:00', to: '23:00', timeZone: 'UTC' }];
  const window = { opensAt: '2026-03-07T21:00:00.000Z', closesAt: '2026-03-07T23:00:00.000Z' };
  const state = { ...rest({ waiting: 2, syncing: 3, moved: 5 }), window };
  const progress = progressOf(plan, { ...state, limits: { ...state.limits, windows } });
  const moved = 'the remaining companies are being moved';
  const inWindow = `${moved}, in the window from 2026-03-07 21:00 UTC to 2026-03-07 23:00 UTC`;
  expect(currentTask(progress, '2026-03-07T22:59:00.000Z')).toBe(inWindow);
  expect(currentTask(progress, '2026-03-07T23:00:00.000Z')).toBe(
    'moves that have begun continue; no more begin before 2026-03-08 21:00 UTC',
  );
});

test('an open step that was reopened is open since then, and a step whose result was rejected since its beginning', () => {
  const times = { openedAt: '2026-03-02T10:00:00.000Z', endedAt: null };
  const reopened = { by: 'Sam', role: 'support', at: '2026-03-02T12:00:00.000Z', reason: null } as const;
  const openedAt = (step: 'schedule' | 'complete-migration') =>
    progressOf(plan, stateAt(step, { steps: { [step]: times }, reopened: { ...reopened, step } })).steps.find(
      (each) => each.step === step,
    )?.openedAt;
  expect(openedAt('schedule')).toBe(reopened.at);
  expect(openedAt('complete-migration')).toBe(times.openedAt);
});

test.each([
  [['key-not-administrator', 'application-of-another-migration'], ['support']],
  [['application-missing'], ['client']],
  [
    ['application-missing', 'no-room'],
    ['client', 'support'],
  ],
] as const)('a problem of the details is for the role that can solve it: %j', (problemCodes, roles) => {
  const state = stateAt('supply-details', { preflight: preflight({ problems: [...problemCodes], problemCodes }) });
  expect(withActingRoles(progressOf(plan, state)).waitingFor.roles).toEqual(roles);
  expect(withActingRoles(progressOf(plan, { ...state, route: 'self-service' })).waitingFor.roles).toEqual(['client']);
  const reopened = {
    step: 'supply-details',
    by: 'Sam',
    role: 'support',
    at: AT,
    reason: 'x',
    asksForChanges: true,
  } as const;
  expect(withActingRoles(progressOf(plan, { ...state, reopened })).waitingFor.roles).toContain('client');
});
