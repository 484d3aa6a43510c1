/** Tests decisions about companies that were not moved. */
import type { Companies } from '../../../domain/migration/decision';
import type { MigrationState, Pause } from '../../../domain/migration/migration-state';
import type { Role } from '../../../domain/migration/steps';
import { WEEKDAYS, type Window } from '../../../domain/planning/windows';
import {
  answerTo,
  counts,
  decideOne,
  firstCompany,
  reject,
  stateAt,
  withoutRecord,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

describe('a replacement of a credential', () => {
  const replace = (...companies: readonly string[]): DecisionDraft => ({
    kind: 'replace-credential',
    role: 'support',
    companies,
  });
  const failed = { counts: counts({ total: 10, waiting: 8, moved: 1, failed: 1 }) };
  const allMoved = { counts: counts({ total: 10, moved: 10 }) };

  test('is applied even if the counts do not show the failure yet', () => {
    const lagging = { counts: counts({ total: 10, syncing: 4, moved: 6 }) };
    expect(decideOne(stateAt('complete-migration', lagging), replace('acme-4')).outcome.applied).toBe(true);
  });

  test('moves the first company again', () => {
    const before = stateAt('migrate-first-company', {
      ...failed,
      firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }),
    });
    const { state, outcome } = decideOne(before, replace('acme-4'));
    expect(outcome).toMatchObject({ applied: true, text: '1 company will be tried again with a new credential' });
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-4' } });
    expect(decideOne(before, replace('acme-5')).state.firstCompany).toEqual(before.firstCompany);
  });

  test('is not needed to retry the first company', () => {
    const failedFirst = firstCompany({ reference: 'acme-4', stage: 'failed' });
    const before = stateAt('migrate-first-company', { ...failed, firstCompany: failedFirst });
    const retry = (companies: Companies): DecisionDraft => ({ kind: 'retry', role: 'support', companies });
    for (const companies of ['all', ['acme-4']] as const) {
      const { state } = decideOne(before, retry(companies));
      expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-4' } });
    }
    expect(decideOne(before, retry(['acme-5'])).outcome.applied).toBe(false);
  });

  test.each(['client', 'support'] as const)('of the %s moves other companies again in step 6', (role) => {
    const before = stateAt('complete-migration', { ...failed, firstCompany: firstCompany() });
    const { state, outcome } = decideOne(before, { ...replace('acme-4', 'acme-5'), role });
    expect(outcome.applied).toBe(true);
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });

  test.each<[string, MigrationState, Role, string]>([
    [
      'before any company has failed',
      stateAt('disable-syncing'),
      'support',
      'no company has failed or has an unknown outcome',
    ],
    [
      'when all companies are moved',
      stateAt('complete-migration', allMoved),
      'support',
      'no company has failed or has an unknown outcome',
    ],
    [
      'after the migration has ended',
      stateAt('complete-migration', { ...failed, closed: 'completed' }),
      'support',
      'is completed',
    ],
  ])('is refused %s', (_, before, role, why) => {
    expect(answerTo(before, { ...replace('acme-4'), role })).toContain(why);
  });
});

test.each<[DecisionDraft['kind'], number, string]>([
  ['retry', 0, ''],
  [
    'retry',
    1,
    '; companies that are held back must be corrected or left out instead, unless they are still being checked',
  ],
  ['skip', 0, ''],
  [
    'replace-credential',
    1,
    '; companies that are held back must be corrected or left out instead, unless they are still being checked',
  ],
  ['relink', 1, ''],
])('a refused %s mentions companies that are held back only if that helps: %i held back', (kind, heldBack, also) => {
  const before = stateAt('complete-migration', { counts: counts({ total: 3, moved: 2, waiting: heldBack, heldBack }) });
  const draft = { kind, role: 'support', companies: ['acme-3'], reason: 'any' } as DecisionDraft;
  expect(answerTo(before, draft)).toBe(`no company has failed or has an unknown outcome${also}`);
});

describe('the answer to a decision', () => {
  /** Returns a daily window. The decisions in these tests are made at 10:00 UTC. */
  const daily = (from: string, to: string): Window => ({ days: WEEKDAYS, from, to, timeZone: 'UTC' });
  const LATER_TODAY = daily('13:00', '15:00');

  const texts = (draft: DecisionDraft, windows: readonly Window[]) => {
    const state = stateAt('complete-migration', { counts: counts({ total: 3, moved: 2, failed: 1 }) });
    return decideOne({ ...state, limits: { ...state.limits, windows } }, draft).outcome;
  };

  const retry: DecisionDraft = { kind: 'retry', role: 'support', companies: ['acme-3'] };
  const replace: DecisionDraft = { kind: 'replace-credential', role: 'support', companies: ['acme-3'] };

  test.each<[string, DecisionDraft, string]>([
    ['a retry', retry, '1 company will be tried again'],
    ['a new credential', replace, '1 company will be tried again with a new credential'],
  ])('says after %s outside the windows when the next window opens', (_, draft, text) => {
    const waits = '; no move begins before the next window, which opens at 2026-03-02 13:00 UTC';
    expect(texts(draft, [LATER_TODAY])).toMatchObject({ applied: true, text: `${text}${waits}` });
    expect(texts(draft, [daily('09:00', '15:00')])).toMatchObject({ applied: true, text });
    expect(texts(draft, [])).toMatchObject({ applied: true, text });
  });

  test('says that the windows are paused, unless this window was opened before', () => {
    const paused = '1 company will be tried again; the windows are paused, so no move begins until they are resumed';
    const open = daily('09:00', '15:00');
    const window = { opensAt: '2026-03-02T09:00:00.000Z', closesAt: '2026-03-02T15:00:00.000Z' };
    const textWhilePaused = (hours: Window | null, openedWindow: typeof window | null, pause: Pause | null = null) => {
      const state = stateAt('complete-migration', { counts: counts({ total: 3, moved: 2, failed: 1 }) });
      const limits = { ...state.limits, windows: hours ? [hours] : [] };
      return decideOne({ ...state, limits, window, openedWindow, pause, schedule: 'paused' }, retry).outcome.text;
    };
    expect(textWhilePaused(LATER_TODAY, null)).toBe(paused);
    expect(textWhilePaused(LATER_TODAY, window)).toBe(paused);
    expect(textWhilePaused(open, null)).toBe(paused);
    expect(textWhilePaused(open, window)).toBe('1 company will be tried again');
    expect(textWhilePaused(open, null, { reason: 'lunch', by: 'Sam', stopReason: null, at: '' })).toBe(
      '1 company will be tried again; the migration and its windows are paused, so no move begins until they are resumed',
    );
    // The windows were paused during a batch run, which continues until the window closes.
    const pausedDuringRun = (hours: Window) => {
      const state = stateAt('complete-migration', { counts: counts({ total: 3, moved: 2, failed: 1 }) });
      const limits = { ...state.limits, windows: [hours] };
      return decideOne({ ...state, limits, schedule: 'running', noFurtherWindow: true }, retry).outcome.text;
    };
    expect(pausedDuringRun(LATER_TODAY)).toBe(paused);
    expect(pausedDuringRun(open)).toBe('1 company will be tried again');
    // The windows were removed, but `schedule` stays `paused` until the migration next looks for a window.
    expect(textWhilePaused(null, null)).toBe('1 company will be tried again');
  });

  test('does not mention the next window after other decisions', () => {
    const skip: DecisionDraft = { kind: 'skip', role: 'support', companies: ['acme-3'], reason: 'gone' };
    expect(texts(skip, [LATER_TODAY]).text).toBe('1 company will not be moved: gone');
  });

  test('does not mention the next window after the end of the migration', () => {
    const state = stateAt('migrate-first-company', { firstCompany: firstCompany() });
    const abandon = reject('migrate-first-company', 'support', { afterwards: { next: 'abandon' } });
    const { outcome } = decideOne({ ...state, limits: { ...state.limits, windows: [LATER_TODAY] } }, abandon);
    expect(outcome).toMatchObject({ applied: true, text: 'the migration is abandoned' });
  });
});
