/** Tests what the views say about the moves of step 6 while no person has to act. */
import type { Counts } from '../../../domain/companies/counts';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Window } from '../../../domain/planning/windows';
import { progressOf } from '../../../domain/progress/progress';
import { currentTask } from '../../../domain/progress/waiting-for';
import { headlineText } from '../../../presentation/wording/status-line';
import { AT, counts, migrationPlan, stateAt } from '../../support/migrations/migration-states';

describe('the remaining moves', () => {
  const NIGHT: Window = { days: ['mon'], from: '20:00', to: '22:00', timeZone: 'UTC' };
  const window = { opensAt: '2026-03-02T20:00:00.000Z', closesAt: '2026-03-02T22:00:00.000Z' };
  const from = 'in the window from 2026-03-02 20:00 UTC to 2026-03-02 22:00 UTC';
  const task = (some: Partial<Counts>, now: string, changes: Partial<MigrationState> = {}): string => {
    const state = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 5, moved: 5 }), ...changes });
    const progress = progressOf(migrationPlan(), state);
    return currentTask({ ...progress, counts: counts({ total: 10, ...some }) }, now);
  };
  const nightly = { window, limits: { ...DEFAULT_LIMITS, windows: [NIGHT] } };

  test('begin in the window until it opens, and are in progress in an open window, even while no company is in flight', () => {
    const waiting = { waiting: 5, moved: 5 };
    expect(task(waiting, AT, nightly)).toBe(`the remaining companies are moved ${from}`);
    expect(task(waiting, window.opensAt, nightly)).toBe(`the remaining companies are being moved, ${from}`);
    // The window has closed, and the next one opens in a week.
    expect(task({ syncing: 5, moved: 5 }, window.closesAt, nightly)).toBe('the remaining companies are being moved');
    expect(task({ syncing: 5, waiting: 2, moved: 3 }, window.closesAt, nightly)).toMatch(
      /^moves that have begun continue; no more begin before 2026-\d\d-\d\d \d\d:\d\d UTC$/,
    );
    expect(task(waiting, AT)).toBe('the remaining companies are being moved');
  });

  test('need no further window if the windows were paused during a batch run', () => {
    const paused = { ...nightly, noFurtherWindow: true } as const;
    expect(task({ waiting: 5, moved: 5 }, window.opensAt, paused)).toBe(
      `the remaining companies are being moved, ${from}`,
    );
    expect(task({ waiting: 5, moved: 5 }, window.closesAt, paused)).toBe(
      'no move begins, because the windows are paused',
    );
    expect(task({ syncing: 5, waiting: 2, moved: 3 }, window.closesAt, paused)).toBe('moves that have begun continue');
    expect(task({ syncing: 5, moved: 5 }, window.closesAt, paused)).toBe('the remaining companies are being moved');
    // A run with long syncs has lasted into the next window, which nobody has opened.
    const later = new Date(Date.parse(window.opensAt) + 7 * 86_400_000).toISOString();
    expect(task({ syncing: 5, waiting: 2, moved: 3 }, later, paused)).toBe('moves that have begun continue');
  });

  test('need no window once the windows were removed, although the migration still has the last one', () => {
    const left = { window };
    expect(task({ waiting: 5, moved: 5 }, AT, left)).toBe('the remaining companies are being moved');
    expect(task({ syncing: 5, waiting: 2, moved: 3 }, AT, left)).toBe('the remaining companies are being moved');
    expect(task({ waiting: 1, deferred: 1, moved: 9 }, AT, left)).toBe(
      'the remaining company is waiting for its next try',
    );
    const state = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 5, moved: 5 }), ...left });
    expect(headlineText(progressOf(migrationPlan(), state), 'QuickBooks', AT)).toBe(
      '5 of 10 companies have moved, 5 to go. Nothing for you to do.',
    );
  });

  test('wait for the next try if only deferred companies are left', () => {
    const one = 'the remaining company is waiting for its next try';
    expect(task({ waiting: 1, deferred: 1, moved: 9 }, AT)).toBe(one);
    // The next try can be after the open window and after the next one.
    for (const now of [AT, window.opensAt]) {
      expect(task({ waiting: 1, deferred: 1, moved: 9 }, now, nightly)).toBe(one);
      expect(task({ waiting: 2, deferred: 2, moved: 8 }, now, nightly)).toMatch(/ are waiting for their next try$/);
    }
    expect(task({ waiting: 2, deferred: 2, moved: 8 }, AT)).toBe(
      'the remaining companies are waiting for their next try',
    );
    expect(task({ waiting: 2, deferred: 1, moved: 8 }, AT)).toBe('the remaining companies are being moved');
  });

  test.each([
    { moved: 8, failed: 2, mustReconnect: 1 },
    { moved: 8, waiting: 1, withoutCredential: 1, outcomeUnknown: 1 },
  ])('are over if the ledger says so, although the migration has not counted yet: %j', (some) => {
    expect(task(some, AT)).toBe('no more companies are moving: the results are being recorded');
  });

  test('begin in the present windows, if these were changed while a run was in progress', () => {
    const changed = { window, limits: { ...DEFAULT_LIMITS, windows: [{ ...NIGHT, from: '21:00' }] } };
    const begin = 'the remaining companies are moved in the window from 2026-03-02 21:00 UTC to 2026-03-02 22:00 UTC';
    expect(task({ waiting: 5, moved: 5 }, window.opensAt, changed)).toBe(begin);
    const state = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 5, moved: 5 }), ...changed });
    const progress = progressOf(migrationPlan(), state);
    expect(progress.waitingFor.what).toBe(begin);
    const always = { ...changed, limits: { ...DEFAULT_LIMITS, windows: [] } };
    expect(task({ waiting: 5, moved: 5 }, AT, always)).toBe('the remaining companies are being moved');
    expect(headlineText(progress, 'QuickBooks', window.opensAt)).toBe(
      '5 of 10 companies have moved. The next companies move at 2026-03-02 21:00 UTC. Nothing for you to do.',
    );
  });

  test('are not called ready on the page for the client if only deferred companies are left', () => {
    const state = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 1, deferred: 1, moved: 9 }) });
    expect(headlineText(progressOf(migrationPlan(), state), 'QuickBooks', AT)).toBe(
      '9 of 10 companies have moved, 1 waiting for another try. Nothing for you to do.',
    );
  });
});
