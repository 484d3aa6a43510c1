import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { afterNotice, nextNotice, noticeOf, waitOf } from '../../../domain/progress/notices';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { counts, preflight, stateAt } from '../../support/migration-states';

const SINCE = '2026-03-02T12:00:00.000Z';
const LATER = '2026-03-03T12:00:00.000Z';
const HOUR_MS = 3_600_000;

/** The next notices, in hours since the wait began. */
function noticesOf(state: MigrationState, count: number): string[] {
  let wait = waitOf(state, null, SINCE);
  return Array.from({ length: count }, () => {
    if (!wait) throw new Error('nobody is waited for');
    const { kind, dueAt } = nextNotice(state, wait);
    wait = afterNotice(wait, kind);
    return `${kind} after ${(Date.parse(dueAt) - Date.parse(SINCE)) / HOUR_MS} h`;
  });
}

test('before data is dark: a reminder after 2 days, then daily, an escalation after 7', () => {
  expect(noticesOf(stateAt('schedule'), 8)).toEqual([
    ...['reminder after 48 h', 'reminder after 72 h', 'reminder after 96 h', 'reminder after 120 h'],
    ...['reminder after 144 h', 'escalation after 168 h', 'reminder after 168 h', 'reminder after 192 h'],
  ]);
});

test('while data is dark: after 2 hours, then hourly, an escalation after 8', () => {
  const toSignOff = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) });
  expect(noticesOf(toSignOff, 8).slice(5)).toEqual([
    'reminder after 7 h',
    'escalation after 8 h',
    'reminder after 8 h',
  ]);
});

test('other limits hold at once, and escalation may come first', () => {
  const limits = {
    ...DEFAULT_LIMITS,
    remindBeforeDark: { firstAfterMs: 2 * HOUR_MS, everyMs: HOUR_MS, escalateAfterMs: HOUR_MS },
  };
  expect(noticesOf(stateAt('schedule', { limits }), 2)).toEqual(['escalation after 1 h', 'reminder after 2 h']);
});

test('a migration that pauses itself says so at once', () => {
  const pause = { reason: 'the key is refused', by: null, stop: 'key-refused', at: SINCE } as const;
  expect(noticesOf(stateAt('complete-migration', { pause }), 2)).toEqual(['stopped after 0 h', 'reminder after 2 h']);
});

test('a pause that a person asked for is a wait like any other', () => {
  const pause = { reason: 'lunch', by: 'Sam', stop: null, at: SINCE };
  expect(noticesOf(stateAt('complete-migration', { pause }), 1)).toEqual(['reminder after 2 h']);
});

test('a notice says what is waited for, and nothing that names anybody: it leaves the house', () => {
  const said = (state: MigrationState) => {
    const wait = waitOf(state, null, SINCE);
    if (!wait) throw new Error('nobody is waited for');
    return noticeOf('acme.quickbooks-online', state, wait, 'reminder').what;
  };
  const problems = ['acme-1 (row 1): "91" is connected already, to company "Bramble Ltd"', 'no room'];
  expect(said(stateAt('supply-details', { preflight: preflight({ problems }) }))).toBe(
    'details to correct: problems of 2 kinds',
  );
  const pause = { reason: 'Cleo Bramble is on holiday', by: 'Sam', stop: null, at: SINCE };
  expect(said(stateAt('complete-migration', { pause }))).toBe('paused: somebody has paused it');
  const stop = { reason: 'anything', by: null, stop: 'key-refused', at: SINCE } as const;
  expect(said(stateAt('complete-migration', { pause: stop }))).toMatch(/^paused: the service refuses .* API key/);
});

describe('a wait', () => {
  const wait = waitOf(stateAt('schedule'), null, SINCE);

  test('goes on while the same people are waited for in the same step', () => {
    expect(waitOf(stateAt('schedule'), wait, LATER)).toBe(wait);
  });

  test('begins anew with another step', () => {
    expect(waitOf(stateAt('update-application'), wait, LATER)).toMatchObject({ since: LATER, reminders: 0 });
  });

  test('is over when nobody is waited for', () => {
    expect(waitOf(stateAt('supply-details', { preflight: null }), wait, LATER)).toBeNull();
  });
});

test('a notice of the self-service route names no step: people know of none', () => {
  const counted = counts({ total: 10, migrated: 9, failed: 1 });
  const step = (route: MigrationState['route']) => {
    const state = stateAt('complete-migration', { route, counts: counted });
    const wait = waitOf(state, null, SINCE);
    return wait && noticeOf('acme.xero', state, wait, 'reminder').step;
  };
  expect([step('self-service'), step('managed')]).toEqual(['self-service', 'complete-migration']);
});
