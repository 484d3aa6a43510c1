/** Tests what `ferry show`, `ferry watch` and the dashboard say while the Schedule is paused in Temporal. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Window } from '../../../domain/planning/windows';
import { withWindowsResumed } from '../../../domain/progress/open-window';
import { progressOf } from '../../../domain/progress/progress';
import { counts, decideAll, migrationPlan, proposeTime, stateAt } from '../../support/migrations/migration-states';
import { companyLines, statusLines } from '../../../cli/dashboard/migration-lines';
import { textOf } from '../../../cli/terminal/styled-text';
import { shownMigration } from './shown-migration';

/** 2 March 2026 is a Monday. */
const NIGHTS: Window = { days: ['mon', 'wed'], from: '22:00', to: '23:00', timeZone: 'UTC' };
const MONDAY = { opensAt: '2026-03-02T22:00:00.000Z', closesAt: '2026-03-02T23:00:00.000Z' };
const IN_WINDOW = '2026-03-02T22:10:00.000Z';
const BEFORE_WINDOW = '2026-03-02T12:00:00.000Z';

const MOVING = stateAt('complete-migration', {
  limits: { ...DEFAULT_LIMITS, windows: [NIGHTS] },
  window: MONDAY,
  counts: counts({ total: 600, moved: 100, waiting: 500 }),
  throughput: { moved: 60, withinMs: 600_000 },
});
const OPENED = { ...MOVING, openedWindow: MONDAY };

function shown(state: MigrationState, now: string, windowsPaused: string | null = 'month end, Sam'): string {
  return shownMigration(progressOf(migrationPlan(), state), { windowsPaused }, { now: new Date(now) });
}

test('only the text that promises moves is left out between paused windows', () => {
  const promise = 'The remaining companies are moved in the window';
  expect(shown(MOVING, BEFORE_WINDOW, null)).toContain(promise);
  const lines = shown(MOVING, BEFORE_WINDOW);
  expect(lines).not.toContain(promise);
  expect(lines).toContain('No window opens now');
  const heldBack = { counts: counts({ total: 600, moved: 100, waiting: 500, heldBack: 500 }), changes: 1 };
  expect(shown({ ...MOVING, ...heldBack }, BEFORE_WINDOW)).toContain('The changed details are being checked');
  // The decision is refused, but not recorded yet.
  const recording = decideAll(MOVING, proposeTime('support'));
  expect(shown({ ...recording, route: 'self-service' }, BEFORE_WINDOW)).toContain(
    'The latest decisions are being carried out',
  );
});

test.each([
  ['between two windows', MOVING, BEFORE_WINDOW],
  ['in an open window', OPENED, IN_WINDOW],
])('the dashboard and watch say the same as show %s', (_, state, at) => {
  const now = new Date(at);
  const progress = progressOf(migrationPlan(), state);
  const textWith = (windowsPaused: string | null): string => {
    const snapshot = { progress, overview: null, schedule: { windowsPaused, isBatchRunning: false } };
    const lines = [...statusLines(snapshot, Infinity, now), ...companyLines(snapshot, now)];
    return lines.map((line) => line.map(textOf).join('')).join('\n');
  };
  const ofShow = shown(state, at)
    .split('\n')
    .find((line) => line.includes('To open windows again'));
  expect(ofShow).toContain('(month end, Sam)');
  expect(textWith('month end, Sam')).toContain(`\n${ofShow}`);
  expect(textWith('month end, Sam')).not.toMatch(/ends (about|by) |moves continue/);
  expect(textWith('month end, Sam').includes('in the window from')).toBe(state === OPENED);
  expect(textWith(null)).toMatch(/ends about /);
  expect(textWith(null)).not.toContain('To open windows again');
});

test('an end that needs a further window is not shown, because no further window opens', () => {
  expect(shown(OPENED, IN_WINDOW, null)).toMatch(/^Rate: 6 a minute, ends .*moves continue/m);
  const paused = shown(OPENED, IN_WINDOW);
  expect(paused).toContain('After that, no window opens');
  expect(paused).toMatch(/^Rate: 6 a minute$/m);
  expect(paused).not.toMatch(/moves continue|ends /);
});

test('an open window is not denied while a person must act, because deferred companies can move in it', () => {
  const unconfirmed = { ...OPENED, counts: counts({ total: 600, moved: 100, waiting: 500, unconfirmed: 500 }) };
  const lines = shown(unconfirmed, IN_WINDOW);
  expect(lines).toContain('No further window opens (month end, Sam). To open windows again: ');
  expect(lines).toContain('. To stop moves in the open window: ');
  expect(lines).not.toContain('No window opens now');
});

test('a company is tried again once everything that is paused is resumed', () => {
  const again = (state: MigrationState, windowsPaused?: null): string =>
    shown(state, IN_WINDOW, windowsPaused).split('(M-047) will be tried again ').at(-1)?.split('\n')[0] ?? '';
  const retried = { counts: counts({ total: 600, moved: 100, waiting: 500, retried: 1, firstRetried: ['M-047'] }) };
  const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: BEFORE_WINDOW };
  expect(again({ ...MOVING, ...retried }, null)).toBe('now');
  expect(again({ ...MOVING, ...retried })).toBe('once the windows are resumed');
  expect(again({ ...MOVING, ...retried, pause }, null)).toBe('once the migration is resumed');
  expect(again({ ...MOVING, ...retried, pause })).toBe('once the migration and its windows are resumed');
  // Moves continue in the open window although no further window opens.
  expect(again({ ...OPENED, ...retried })).toBe('now');
  expect(again({ ...OPENED, ...retried, pause })).toBe('once the migration is resumed');
});

test('an end in the open window is shown, because moves continue until it closes', () => {
  const few = { ...OPENED, counts: counts({ total: 600, moved: 500, waiting: 100 }) };
  expect(shown(few, IN_WINDOW)).toMatch(/^Rate: 6 a minute, ends about /m);
});

test.each([
  ['between two windows', BEFORE_WINDOW],
  ['in a window that was not opened', IN_WINDOW],
])('no end is shown %s, because no move begins', (_, now) => {
  expect(shown(MOVING, now, null)).toMatch(/ends about /);
  expect(shown(MOVING, now)).not.toMatch(/ends /);
});

test('the end of moves that have begun is shown, because they need no window', () => {
  const begun = { ...MOVING, counts: counts({ total: 600, moved: 580, importing: 5, syncing: 15 }) };
  expect(shown(begun, '2026-03-02T23:10:00.000Z')).toMatch(/^Rate: 6 a minute, ends about /m);
});

test("windows that were resumed in Temporal are nobody's task, even if the migration has not noticed it yet", () => {
  const resumed = (changes: Partial<MigrationState>) =>
    withWindowsResumed(progressOf(migrationPlan(), { ...MOVING, schedule: 'paused', ...changes }));
  const running = { state: 'running', waitingSince: null, areWindowsPaused: false } as const;
  const what = (text: string): unknown => ({ roles: [], what: expect.stringMatching(text) as unknown });
  for (const route of ['managed', 'self-service'] as const)
    expect(resumed({ route })).toMatchObject({ ...running, waitingFor: what('^the remaining companies are moved in') });
  const outage = { why: 'answered 503', since: BEFORE_WINDOW, until: IN_WINDOW };
  expect(resumed({ outage })).toMatchObject({ ...running, waitingFor: what('^on hold since 2026-03-02 12:00 UTC') });
  const deferred = { counts: counts({ total: 4, moved: 1, failed: 2, waiting: 1, deferred: 1 }) };
  for (const [route, role] of [['managed', 'support'] as const, ['self-service', 'client'] as const])
    expect(resumed({ route, ...deferred })).toMatchObject({
      ...{ state: 'waiting', areWindowsPaused: false },
      waitingFor: { roles: [role], what: 'decide what to do about 2 companies that were not moved' },
    });
  const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: BEFORE_WINDOW };
  expect(resumed({ pause })).toMatchObject({ state: 'paused', waitingFor: { roles: ['support'] } });
});

test('while the ledger is out of date, show promises no move and no end, although a window is open', () => {
  const progress = progressOf(migrationPlan(), OPENED);
  const of = (ledgerBehind: boolean) =>
    shownMigration(progress, { windowsPaused: 'Sam', ledgerBehind }, { now: new Date(IN_WINDOW) });
  expect(of(false)).toMatch(/Moves can begin until[^]*Rate: /);
  expect(of(true)).toContain('No company can move before the ledger is reconciled.');
  expect(of(true)).not.toMatch(/Moves can begin|Rate: |ends |Estimate/);
});
