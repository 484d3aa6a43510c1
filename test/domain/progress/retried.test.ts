/** Tests when the views say that companies are tried again. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { Window } from '../../../domain/planning/windows';
import { progressOf } from '../../../domain/progress/progress';
import { delayedTryText, resumptionText, retriedText } from '../../../domain/progress/retried';
import { AT, counts, LATER, migrationPlan, stateAt } from '../../support/migrations/migration-states';

const DAILY: Window = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '08:00',
  to: '12:00',
  timeZone: 'UTC',
};

const retried = stateAt('complete-migration', {
  counts: counts({ total: 10, waiting: 1, moved: 9, retried: 1, firstRetried: ['M-047'] }),
  limits: { ...DEFAULT_LIMITS, windows: [DAILY] },
});

test.each<[string, Partial<MigrationState>, string]>([
  ['in an open window', {}, 'now'],
  ['in a pause', { pause: { reason: 'lunch', by: 'Sam', stopReason: null, at: AT } }, 'once the migration is resumed'],
  [
    'while the windows are paused',
    { schedule: 'paused', window: { opensAt: AT, closesAt: LATER } },
    'once the windows are resumed',
  ],
  [
    'while the migration and its windows are paused',
    {
      ...{ schedule: 'paused', window: { opensAt: AT, closesAt: LATER } },
      pause: { reason: 'lunch', by: 'Sam', stopReason: null, at: AT },
    },
    'once the migration and its windows are resumed',
  ],
  ['in an outage', { outage: { why: 'no answer', since: AT, until: LATER } }, 'once the outage is over'],
])('a company is tried again %s', (_, changes, when) => {
  const progress = progressOf(migrationPlan(), { ...retried, ...changes });
  expect(retriedText(progress, AT)).toBe(`1 company (M-047) will be tried again ${when}`);
  expect(resumptionText(progress)).toBe(when === 'now' ? null : when);
});

describe('in step 5, a company that was retried', () => {
  const first = { row: 2, reference: 'M-002', stage: 'verified', failure: null, evidence: [] } as const;
  const at = (references: readonly string[], changes: Partial<MigrationState> = {}) => {
    const some = { retried: references.length, firstRetried: references };
    const step5 = stateAt('migrate-first-company', {
      ...{ proposal: null, firstCompany: first, counts: counts({ total: 10, waiting: 9, moved: 1, ...some }) },
      ...changes,
    });
    return retriedText(progressOf(migrationPlan(), step5), AT);
  };

  test('is tried again once another company, which moves first, is approved', () => {
    const once = 'will be tried again once the first company is approved';
    expect(at(['M-047'])).toBe(`1 company (M-047) ${once}`);
    expect(at(['M-047'], { firstCompany: null, requestedFirst: { reference: 'M-002', notReady: false } })).toBe(
      `1 company (M-047) ${once}`,
    );
    const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: AT };
    expect(at(['M-047'], { pause })).toBe(
      '1 company (M-047) will be tried again once the migration is resumed and the first company is approved',
    );
    // Once the migration is resumed, M-047 itself can be chosen.
    expect(at(['M-047'], { pause: { ...pause, by: null, stopReason: 'too-many-failures' } })).not.toContain(
      'first company',
    );
    // The first line of the views says what happens to the first company.
    expect(at(['M-002', 'M-047', 'M-048'])).toBe(`2 companies (M-047, M-048) ${once}`);
  });

  test('is tried again now if it moves first, or if no company has been chosen', () => {
    expect(at(['M-002'])).toBe('1 company (M-002) will be tried again now');
    expect(at(['M-047'], { firstCompany: null, requestedFirst: null })).toBe(
      '1 company (M-047) will be tried again now',
    );
  });
});

test('a company is tried again in the open window if the windows were paused during a batch run', () => {
  const progress = progressOf(migrationPlan(), { ...retried, noFurtherWindow: true });
  expect(retriedText(progress, AT)).toBe('1 company (M-047) will be tried again now');
  expect(retriedText(progress, '2026-03-02T13:00:00.000Z')).toBe(
    '1 company (M-047) will be tried again once the windows are resumed and a window is open',
  );
});

test('outside the windows, a company is tried again only once a window is open too', () => {
  const outsideWindows = '2026-03-02T13:00:00.000Z';
  const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: AT };
  const progress = progressOf(migrationPlan(), { ...retried, pause });
  const text = 'once the migration is resumed and a window is open';
  expect(retriedText(progress, outsideWindows)).toBe(`1 company (M-047) will be tried again ${text}`);
  const times = { windows: [DAILY], once: resumptionText(progress) };
  const now = new Date(outsideWindows);
  expect(delayedTryText(now, times, now, (iso) => iso)).toBe(`next try ${text}`);
});
