import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { afterNotice, nextNotice, noticeOf, waitOf } from '../../../domain/progress/notices';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { counts, decideAll, preflight, proposeTime, stateAt } from '../../support/migrations/migration-states';

const SINCE = '2026-03-02T12:00:00.000Z';
const LATER = '2026-03-03T12:00:00.000Z';
const HOUR_MS = 3_600_000;

/** Returns the next notices, with the hours from the start of the wait. */
function noticesOf(state: MigrationState, count: number): string[] {
  let wait = waitOf(state, null, SINCE);
  return Array.from({ length: count }, () => {
    if (!wait) throw new Error('nobody has to act');
    const { kind, dueAt } = nextNotice(state, wait);
    wait = afterNotice(wait, kind);
    return `${kind} after ${(Date.parse(dueAt) - Date.parse(SINCE)) / HOUR_MS} h`;
  });
}

test('reminders come after 2 days and then daily, and an escalation after 7 days, while data is up to date', () => {
  expect(noticesOf(stateAt('schedule'), 8)).toEqual([
    ...['reminder after 48 h', 'reminder after 72 h', 'reminder after 96 h', 'reminder after 120 h'],
    ...['reminder after 144 h', 'escalation after 168 h', 'reminder after 168 h', 'reminder after 192 h'],
  ]);
});

test('reminders come after 2 hours and then hourly, and an escalation after 8 hours, while data is out of date', () => {
  const beforeSignOff = stateAt('complete-migration', { counts: counts({ total: 10, moved: 10 }) });
  expect(noticesOf(beforeSignOff, 8).slice(5)).toEqual([
    'reminder after 7 h',
    'escalation after 8 h',
    'reminder after 8 h',
  ]);
});

test('the limits set the intervals, and the escalation can come before the first reminder', () => {
  const limits = {
    ...DEFAULT_LIMITS,
    remindBeforeStale: { firstAfterMs: 2 * HOUR_MS, everyMs: HOUR_MS, escalateAfterMs: HOUR_MS },
  };
  expect(noticesOf(stateAt('schedule', { limits }), 2)).toEqual(['escalation after 1 h', 'reminder after 2 h']);
});

test('a migration that pauses itself sends a notice at once', () => {
  const pause = { reason: 'the key is refused', by: null, stopReason: 'key-refused', at: SINCE } as const;
  expect(noticesOf(stateAt('complete-migration', { pause }), 2)).toEqual(['stopped after 0 h', 'reminder after 2 h']);
});

test('a pause by a person sends no notice at once, only reminders', () => {
  const pause = { reason: 'lunch', by: 'Sam', stopReason: null, at: SINCE };
  expect(noticesOf(stateAt('complete-migration', { pause }), 1)).toEqual(['reminder after 2 h']);
});

test('a notice says what to do, but contains no names', () => {
  const noticeFor = (state: MigrationState) => {
    const wait = waitOf(state, null, SINCE);
    if (!wait) throw new Error('nobody has to act');
    return noticeOf('acme.quickbooks-online', state, wait, 'reminder', LATER).what;
  };
  const problems = ['acme-1: "91" is connected already, to company "Bramble Ltd"', 'no room'];
  expect(noticeFor(stateAt('supply-details', { preflight: preflight({ problems }) }))).toBe(
    'details to correct: 2 kinds of problem, listed by: ferry show acme.quickbooks-online',
  );
  const missing = preflight({ problems: ['no room', 'no manifest'], problemCodes: ['no-room', 'no-companies'] });
  expect(noticeFor(stateAt('supply-details', { preflight: missing }))).toBe(
    'supply the manifest; details to correct: 1 kind of problem, listed by: ferry show acme.quickbooks-online',
  );
  const pause = { reason: 'Cleo Bramble is on holiday', by: 'Sam', stopReason: null, at: SINCE };
  expect(noticeFor(stateAt('complete-migration', { pause }))).toBe(
    'resume the migration once the pause is no longer needed',
  );
  const stop = { reason: 'anything', by: null, stopReason: 'key-refused', at: SINCE } as const;
  expect(noticeFor(stateAt('complete-migration', { pause: stop }))).toMatch(/^the service rejects .* API key/);
});

describe('a wait', () => {
  const wait = waitOf(stateAt('schedule'), null, SINCE);

  test('continues while the same roles have to act in the same step', () => {
    expect(waitOf(stateAt('schedule'), wait, LATER)).toBe(wait);
  });

  test('starts again in another step', () => {
    expect(waitOf(stateAt('update-application'), wait, LATER)).toMatchObject({ since: LATER, reminders: 0 });
  });

  test('goes on after a refused decision, and in self-service also while it is being recorded', () => {
    for (const route of ['managed', 'self-service'] as const) {
      const failed = { counts: counts({ total: 2, moved: 1, failed: 1 }), route, keepsWait: true } as const;
      const state = stateAt('complete-migration', failed);
      const before = waitOf(state, null, SINCE);
      const recording = decideAll(state, { kind: 'resume', role: 'client' });
      expect(recording.unrecorded).toMatchObject([{ outcome: { applied: false } }]);
      expect(waitOf(recording, before, LATER)).toBe(before);
      expect(waitOf({ ...recording, unrecorded: [] }, before, LATER)).toBe(before);
      expect(waitOf({ ...recording, closed: 'cancelled' }, before, LATER)).toBeNull();
    }
  });

  test('ends when a recorded decision leaves nothing to do for the client', () => {
    const state = stateAt('complete-migration', {
      ...{ counts: counts({ total: 2, moved: 1, failed: 1 }), route: 'self-service', keepsWait: true },
    });
    const before = waitOf(state, null, SINCE);
    const recording = decideAll(state, { kind: 'retry', role: 'client', companies: 'all' });
    expect(waitOf(recording, before, LATER)).toBe(before);
    const retried = { ...recording, unrecorded: [], counts: counts({ total: 2, moved: 1, waiting: 1 }) };
    expect(waitOf(retried, before, LATER)).toBeNull();
  });

  test('ends when neither side has to act', () => {
    expect(waitOf(stateAt('supply-details', { preflight: null }), wait, LATER)).toBeNull();
  });
});

test('a notice in the self-service route contains no step', () => {
  const counted = counts({ total: 10, moved: 9, failed: 1 });
  const step = (route: MigrationState['route']) => {
    const state = stateAt('complete-migration', { route, counts: counted });
    const wait = waitOf(state, null, SINCE);
    return wait && noticeOf('acme.xero', state, wait, 'reminder', LATER).step;
  };
  expect([step('self-service'), step('managed')]).toEqual(['self-service', 'complete-migration']);
});

test('a reminder does not show a start time that has passed', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support', '2026-03-02T22:00:00.000Z'));
  const wait = waitOf(proposed, null, SINCE);
  const whatAt = (at: string) => wait && noticeOf('acme.xero', proposed, wait, 'reminder', at).what;
  expect(whatAt(SINCE)).toBe('approve the start at 2026-03-02 22:00 UTC');
  expect(whatAt(LATER)).toBe('approve the start, which is as soon as everything is ready');
});

test('a reminder about a start outside the windows says when the window opens', () => {
  const proposed = decideAll(stateAt('schedule'), proposeTime('support', '2026-03-02T22:00:00.000Z'));
  const windows = [{ days: ['sun'], from: '22:00', to: '23:00', timeZone: 'UTC' }] as const;
  const state = { ...proposed, limits: { ...proposed.limits, windows } };
  const wait = waitOf(state, null, SINCE);
  const whatAt = (at: string) => wait && noticeOf('acme.xero', state, wait, 'reminder', at).what;
  const opens = '2026-03-08 22:00 UTC';
  expect(whatAt(SINCE)).toBe(`approve the start at 2026-03-02 22:00 UTC; moves begin at ${opens}, when a window opens`);
  expect(whatAt('2026-03-08T12:00:00.000Z')).toBe(
    `approve the start, which is as soon as everything is ready, but not before the window opens at ${opens}`,
  );
  expect(whatAt('2026-03-08T22:30:00.000Z')).toBe('approve the start, which is as soon as everything is ready');
});
