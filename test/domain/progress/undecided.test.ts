/** Companies that were not moved wait for a decision, although deferred companies are still tried again. */
import type { Counts } from '../../../domain/companies/counts';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { WEEKDAYS } from '../../../domain/planning/windows';
import { isOpenWithoutEnd, openWindowOf } from '../../../domain/progress/open-window';
import { headline, progressOf } from '../../../domain/progress/progress';
import { noticeOf, waitOf } from '../../../domain/progress/notices';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { headlineText } from '../../../presentation/wording/status-line';
import { continuedState } from '../../../workflows/migration/patches';
import { AT, counts, LATER, migrationPlan, START_AT, stateAt } from '../../support/migrations/migration-states';
import { facts, MOVING, noGos, warned, whyOf } from './go-nogo-sample';

const ASKED = { asksWhileDeferred: true, countsRelinked: true } as const;
const DECIDE = 'decide what to do about 3 companies that were not moved';
const DEFERRED: Partial<Counts> = { total: 8, moved: 4, failed: 3, mustReconnect: 1, waiting: 1, deferred: 1 };
const WHOLE_WEEK = { days: WEEKDAYS, from: '00:00', to: '00:00', timeZone: 'UTC' };
const NEXT_TRY = 'the remaining company is waiting for its next try';
const MOVES_ON = 'the remaining companies are being moved';

const state = (changes: Partial<MigrationState> = {}, some: Partial<Counts> = DEFERRED): MigrationState =>
  stateAt('complete-migration', { ...ASKED, counts: counts(some), ...changes });

test.each([
  ['self-service', 'client'],
  ['managed', 'support'],
] as const)('in the route %s, the %s decides while only deferred companies are left', (route, role) => {
  expect(waitingForOf(state({ route }))).toEqual({ roles: [role], what: DECIDE });
});

test.each<[string, MigrationState, string]>([
  ['other companies move', state({}, { ...DEFERRED, total: 9, syncing: 1 }), MOVES_ON],
  ['no company has failed', state({}, { ...DEFERRED, total: 5, failed: 0 }), NEXT_TRY],
  ['all of them were relinked', state({}, { ...DEFERRED, mustReconnect: 2, relinked: 3 }), NEXT_TRY],
  [
    'an earlier version has not counted who was relinked',
    state({ relinking: 3 }, { ...DEFERRED, mustReconnect: 3 }),
    NEXT_TRY,
  ],
  ['an earlier version has recorded the history', { ...state(), asksWhileDeferred: undefined } as never, NEXT_TRY],
  ['an outage lasts', state({ outage: { why: 'answered 503', since: AT, until: START_AT } }), 'on hold since'],
])('no person has to decide if %s', (_, at, what) => {
  expect(waitingForOf(at)).toEqual({ roles: [], what: expect.stringContaining(what) as string });
});

test('relinked companies need no decision, and missing supplies come first', () => {
  const relinked = { ...DEFERRED, mustReconnect: 2, relinked: 2 };
  expect(waitingForOf(state({ relinking: 2 }, relinked)).what).toBe(
    'decide what to do about 1 company that was not moved',
  );
  // Support has skipped the relinked companies since the last check.
  const skipped = { ...DEFERRED, failed: 1, skipped: 2, mustReconnect: 0, relinked: 0 };
  expect(waitingForOf(state({ relinking: 2 }, skipped)).what).toBe(
    'decide what to do about 1 company that was not moved',
  );
  const lacking = state({}, { ...DEFERRED, total: 9, waiting: 2, withoutCredential: 1 });
  expect(waitingForOf(lacking).roles).toEqual(['client']);
});

test('a company that must reconnect needs a decision until a person has relinked it, whatever was checked', () => {
  const checked = { relinking: 1, route: 'self-service' } as const;
  expect(waitingForOf(state(checked, { ...DEFERRED, relinked: 0 })).what).toBe(DECIDE);
  const atTheEnd = { total: 8, moved: 5, failed: 3, mustReconnect: 1 };
  const texts = (relinked: number): readonly string[] => {
    const end = state(checked, { ...atTheEnd, relinked });
    const progress = progressOf(migrationPlan({ route: 'self-service' }), end);
    return [waitingForOf(end).what, headlineText(progress, 'QuickBooks', LATER)];
  };
  expect(texts(0)).toEqual([DECIDE, `Please ${DECIDE}.`]);
  const decideOne = 'decide what to do about 1 company that was not moved';
  expect(texts(2)).toEqual([decideOne, `Please ${decideOne}.`]);
  const wait = 'wait until 3 companies have been reconnected, or leave them out';
  expect(texts(3)).toEqual([wait, `Please ${wait}.`]);
});

test('counts of relinked companies in a history of an earlier version decide nothing without the marker', () => {
  // A new worker has counted the companies, and an old worker has run the workflow.
  const mixed = { ...DEFERRED, relinked: 3 };
  const asked = (countsRelinked: boolean) =>
    waitingForOf({ ...state({ relinking: 3 }, mixed), countsRelinked: countsRelinked || undefined } as never);
  expect(asked(false).what).toBe('decide what to do about 2 companies that were not moved');
  expect(asked(true)).toEqual({ roles: [], what: NEXT_TRY });
  const end = state({ route: 'self-service' }, { total: 7, moved: 4, failed: 3, mustReconnect: 3, relinked: 3 });
  expect(waitingForOf({ ...end, countsRelinked: undefined } as never).what).toBe(DECIDE);
});

test('every view of a self-service migration asks the client to decide', () => {
  const plan = migrationPlan({ route: 'self-service' });
  const waiting = state({ route: 'self-service' });
  const wait = waitOf(waiting, null, AT);
  const progress = progressOf(plan, { ...waiting, wait });
  expect(headline(progress)).toBe('self-service, waiting for the client');
  expect(headlineText(progress, 'QuickBooks', LATER)).toBe(`4 of 8 companies have moved. Please ${DECIDE}.`);
  const page = currentDetails(progress, { now: LATER });
  expect(page).toContain(`**What to do:** ${DECIDE}`);
  expect(page).not.toMatch(/Expected end|Time left/);
  expect(wait && noticeOf(plan.migrationId, waiting, wait, 'reminder', LATER)).toMatchObject({
    ...{ waitingFor: ['client'], what: DECIDE },
  });
});

test('the page of a managed migration says that support decides', () => {
  const progress = progressOf(migrationPlan(), state());
  expect(headlineText(progress, 'QuickBooks', LATER)).toBe(
    '4 of 8 companies have moved. Support is deciding what to do about 3 companies that were not moved. Nothing for you to do.',
  );
});

test.each([
  ['the deferred company is being tried again', { importing: 1, waiting: 0, deferred: 0 }, ', 1 to go'],
  ['all of them were relinked', { relinked: 3 }, ', 1 waiting for another try'],
])('no view asks about 0 companies if, in the ledger, %s', (_, live, left) => {
  for (const route of ['managed', 'self-service'] as const) {
    const progress = progressOf(migrationPlan({ route }), state({ route }));
    const current = { ...progress, counts: { ...progress.counts, ...live } };
    expect(headlineText(current, 'QuickBooks', LATER)).toContain(`4 of 8 companies have moved${left}.`);
  }
});

test('go-nogo is a go with a warning, because the deferred companies will be tried in the next window', () => {
  const given = facts({}, { ...MOVING, ...state() });
  expect(noGos(given)).not.toContain('decisions');
  expect(warned(given)).toContain('decisions');
  expect(whyOf(given, 'decisions')).toContain(
    `deferred companies will be tried again; meanwhile, support must ${DECIDE}`,
  );
});

test('moves continue in an open window while the migration waits for a decision', () => {
  const window = { opensAt: AT, closesAt: LATER };
  const progress = progressOf(migrationPlan(), state({ window, openedWindow: window }));
  expect(progress.state).toBe('waiting');
  expect(isOpenWithoutEnd(progress, [WHOLE_WEEK], false)).toBe(true);
  const daily = [{ days: ['mon' as const], from: '00:00', to: '23:59', timeZone: 'UTC' }];
  expect(openWindowOf(progress, daily, true, AT)).not.toBeNull();
  // No window opens before somebody resumes the windows.
  const paused = { schedule: 'paused' as const, window, openedWindow: { ...window, opensAt: START_AT } };
  expect(isOpenWithoutEnd(progressOf(migrationPlan(), state(paused)), [WHOLE_WEEK], false)).toBe(false);
});

test('a continued run decides itself whether it waits, because its history has no marker yet', () => {
  const continued = continuedState(state({}, { total: 5, moved: 4, waiting: 1, deferred: 1 }));
  expect(continued).not.toHaveProperty('asksWhileDeferred');
  expect(continued).not.toHaveProperty('countsRelinked');
});
