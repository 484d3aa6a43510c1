import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { afterNotice, nextNotice, noticeOf, waitOf } from '../../../domain/progress/notices';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { counts, preflight, stateAt } from '../../support/migration-states';

const SINCE = '2026-03-02T12:00:00.000Z';
const LATER = '2026-03-03T12:00:00.000Z';
const HOUR_MS = 3_600_000;

/** The next notices, with the hours since the wait began. */
function noticesOf(state: MigrationState, count: number): string[] {
  let wait = waitOf(state, null, SINCE);
  return Array.from({ length: count }, () => {
    if (!wait) throw new Error('the migration waits for nobody');
    const { kind, dueAt } = nextNotice(state, wait);
    wait = afterNotice(wait, kind);
    return `${kind} after ${(Date.parse(dueAt) - Date.parse(SINCE)) / HOUR_MS} h`;
  });
}

test('while data is up to date: a reminder after 2 days, then daily, and an escalation after 7 days', () => {
  expect(noticesOf(stateAt('schedule'), 8)).toEqual([
    ...['reminder after 48 h', 'reminder after 72 h', 'reminder after 96 h', 'reminder after 120 h'],
    ...['reminder after 144 h', 'escalation after 168 h', 'reminder after 168 h', 'reminder after 192 h'],
  ]);
});

test('while data is out of date: a reminder after 2 hours, then hourly, and an escalation after 8 hours', () => {
  const beforeSignOff = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) });
  expect(noticesOf(beforeSignOff, 8).slice(5)).toEqual([
    'reminder after 7 h',
    'escalation after 8 h',
    'reminder after 8 h',
  ]);
});

test('changed intervals take effect at once, and the escalation can come first', () => {
  const limits = {
    ...DEFAULT_LIMITS,
    remindBeforeDark: { firstAfterMs: 2 * HOUR_MS, everyMs: HOUR_MS, escalateAfterMs: HOUR_MS },
  };
  expect(noticesOf(stateAt('schedule', { limits }), 2)).toEqual(['escalation after 1 h', 'reminder after 2 h']);
});

test('a migration that pauses itself sends a notice at once', () => {
  const pause = { reason: 'the key is refused', by: null, stop: 'key-refused', at: SINCE } as const;
  expect(noticesOf(stateAt('complete-migration', { pause }), 2)).toEqual(['stopped after 0 h', 'reminder after 2 h']);
});

test('a pause by a person is a wait like any other', () => {
  const pause = { reason: 'lunch', by: 'Sam', stop: null, at: SINCE };
  expect(noticesOf(stateAt('complete-migration', { pause }), 1)).toEqual(['reminder after 2 h']);
});

test('a notice says what to do, but contains no names, because webhooks send it to other systems', () => {
  const noticeFor = (state: MigrationState) => {
    const wait = waitOf(state, null, SINCE);
    if (!wait) throw new Error('the migration waits for nobody');
    return noticeOf('acme.quickbooks-online', state, wait, 'reminder').what;
  };
  const problems = ['acme-1 (row 1): "91" is connected already, to company "Bramble Ltd"', 'no room'];
  expect(noticeFor(stateAt('supply-details', { preflight: preflight({ problems }) }))).toBe(
    'details to correct: 2 kinds of problems',
  );
  const pause = { reason: 'Cleo Bramble is on holiday', by: 'Sam', stop: null, at: SINCE };
  expect(noticeFor(stateAt('complete-migration', { pause }))).toBe('paused: someone paused it');
  const stop = { reason: 'anything', by: null, stop: 'key-refused', at: SINCE } as const;
  expect(noticeFor(stateAt('complete-migration', { pause: stop }))).toMatch(/^paused: the service rejects .* API key/);
});

describe('a wait', () => {
  const wait = waitOf(stateAt('schedule'), null, SINCE);

  test('continues while the same roles have to act in the same step', () => {
    expect(waitOf(stateAt('schedule'), wait, LATER)).toBe(wait);
  });

  test('starts again with another step', () => {
    expect(waitOf(stateAt('update-application'), wait, LATER)).toMatchObject({ since: LATER, reminders: 0 });
  });

  test('ends when nobody has to act', () => {
    expect(waitOf(stateAt('supply-details', { preflight: null }), wait, LATER)).toBeNull();
  });
});

test('a notice of the self-service route names no step', () => {
  const counted = counts({ total: 10, migrated: 9, failed: 1 });
  const step = (route: MigrationState['route']) => {
    const state = stateAt('complete-migration', { route, counts: counted });
    const wait = waitOf(state, null, SINCE);
    return wait && noticeOf('acme.xero', state, wait, 'reminder').step;
  };
  expect([step('self-service'), step('managed')]).toEqual(['self-service', 'complete-migration']);
});
