import fc from 'fast-check';
import { DateTime } from 'luxon';
import {
  isAlwaysOpen,
  isWindow,
  neverCloses,
  windowOccurrences,
  WEEKDAYS,
  type Window,
} from '../../../domain/planning/windows';

const EVERY_DAY = [...WEEKDAYS];
const nights = (changes: Partial<Window> = {}): Window => ({
  days: EVERY_DAY,
  from: '22:00',
  to: '05:00',
  timeZone: 'Europe/London',
  ...changes,
});
const next = (window: Window, at: string) => windowOccurrences([window], at)[0];

test.each<[string, Window, string, string, string]>([
  ['in winter', nights(), '2026-01-10T12:00:00Z', '2026-01-10T22:00:00.000Z', '2026-01-11T05:00:00.000Z'],
  ['in summer', nights(), '2026-07-10T12:00:00Z', '2026-07-10T21:00:00.000Z', '2026-07-11T04:00:00.000Z'],
  [
    'that opened the day before',
    nights(),
    '2026-01-10T03:00:00Z',
    '2026-01-09T22:00:00.000Z',
    '2026-01-10T05:00:00.000Z',
  ],
  ['at its first instant', nights(), '2026-01-10T22:00:00Z', '2026-01-10T22:00:00.000Z', '2026-01-11T05:00:00.000Z'],
  [
    'at the instant it closes',
    nights(),
    '2026-01-10T05:00:00Z',
    '2026-01-10T22:00:00.000Z',
    '2026-01-11T05:00:00.000Z',
  ],
  [
    'that is an hour shorter because clocks go forward',
    nights(),
    '2026-03-28T12:00:00Z',
    '2026-03-28T22:00:00.000Z',
    '2026-03-29T04:00:00.000Z',
  ],
  [
    'that is an hour longer because clocks go back',
    nights(),
    '2026-10-24T12:00:00Z',
    '2026-10-24T21:00:00.000Z',
    '2026-10-25T05:00:00.000Z',
  ],
  [
    'whose start is skipped by a clock change',
    nights({ from: '02:30', to: '06:00', timeZone: 'Europe/Berlin' }),
    '2026-03-28T12:00:00Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-29T04:00:00.000Z',
  ],
  [
    'whose start occurs twice because of a clock change',
    nights({ from: '02:30', to: '06:00', timeZone: 'Europe/Berlin' }),
    '2026-10-24T12:00:00Z',
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T05:00:00.000Z',
  ],
  [
    'in a zone with a half-hour offset',
    nights({ timeZone: 'Asia/Kolkata' }),
    '2026-01-10T12:00:00Z',
    '2026-01-10T16:30:00.000Z',
    '2026-01-10T23:30:00.000Z',
  ],
  [
    'on a weekday that differs from the weekday in UTC',
    nights({ days: ['sat'], from: '00:30', to: '01:00', timeZone: 'Pacific/Auckland' }),
    '2026-01-05T00:00:00Z',
    '2026-01-09T11:30:00.000Z',
    '2026-01-09T12:00:00.000Z',
  ],
])('returns the next occurrence of a window %s', (_, window, at, opensAt, closesAt) => {
  expect(next(window, at)).toEqual({ opensAt, closesAt });
});

test('a window inside a skipped hour does not open', () => {
  const window = nights({ from: '02:15', to: '02:45', timeZone: 'Europe/Berlin' });
  expect(next(window, '2026-03-28T12:00:00Z')?.opensAt).toBe('2026-03-30T00:15:00.000Z');
});

test('windows that overlap or touch are merged', () => {
  const windows = [nights({ days: ['fri'] }), nights({ days: ['sat'], from: '05:00', to: '09:00' })];
  expect(windowOccurrences(windows, '2026-01-09T12:00:00Z')[0]).toEqual({
    opensAt: '2026-01-09T22:00:00.000Z',
    closesAt: '2026-01-10T09:00:00.000Z',
  });
});

test.each(['2026-11-23T00:00:00Z', '2026-11-25T12:00:00Z', '2026-11-27T23:59:00Z'])(
  'a window of several days has the same start on each of its days: %s',
  (at) => {
    const workdays = { days: WEEKDAYS.slice(0, 5), from: '00:00', to: '00:00', timeZone: 'UTC' };
    const opensAt = '2026-11-23T00:00:00.000Z';
    expect(next(workdays, at)).toEqual({ opensAt, closesAt: '2026-11-28T00:00:00.000Z' });
    const untilSaturday = { ...workdays, days: WEEKDAYS.slice(0, 6) };
    const long = [untilSaturday, { ...workdays, days: WEEKDAYS.slice(6), to: '23:00' }];
    expect(windowOccurrences(long, at)[0]).toEqual({ opensAt, closesAt: '2026-11-29T23:00:00.000Z' });
  },
);

test.each(['2026-11-23T00:00:00Z', '2026-11-25T12:00:00Z', '2027-01-27T23:59:00Z'])(
  'windows that never close have the same start on every day, because it identifies the window that was opened: %s',
  (at) => {
    const wholeWeek = nights({ days: EVERY_DAY, from: '17:30', to: '17:30' });
    const opensAt = '2020-01-01T00:00:00.000Z';
    const [occurrence, ...others] = windowOccurrences([wholeWeek, nights()], at);
    expect({ opensAt: occurrence?.opensAt, others }).toEqual({ opensAt, others: [] });
    expect(occurrence && Date.parse(occurrence.closesAt) - Date.parse(at)).toBeGreaterThan(14 * 86_400_000);
  },
);

test('there are no occurrences without windows, and an unknown time zone is an error', () => {
  expect(windowOccurrences([], '2026-01-09T12:00:00Z')).toEqual([]);
  expect(() => next(nights({ timeZone: 'Europe/Atlantis' }), '2026-01-09T12:00:00Z')).toThrow(RangeError);
});

test('every occurrence starts at the local time of its window, in every zone and season', () => {
  const zones = ['Europe/London', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tokyo', 'America/St_Johns', 'UTC'];
  const clock = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([h, m]) => `${`${h}`.padStart(2, '0')}:${`${m}`.padStart(2, '0')}`);
  const window = fc.record({
    days: fc.subarray(EVERY_DAY, { minLength: 1 }),
    from: clock,
    to: clock,
    timeZone: fc.constantFrom(...zones),
  });
  const at = fc.date({ min: new Date('2024-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(window, at, (one, moment) => {
      expect(isWindow(one)).toBe(true);
      for (const { opensAt, closesAt } of windowOccurrences([one], moment.toISOString())) {
        expect(closesAt > opensAt && Date.parse(closesAt) > moment.getTime()).toBe(true);
        const opens = DateTime.fromISO(opensAt, { zone: one.timeZone });
        // Luxon computes the local time independently. If a clock change skips the start, the window opens at the
        // instant of the change.
        const shown = opens.toFormat('HH:mm');
        const jumped = shown > one.from && opens.minus({ minutes: 1 }).toFormat('HH:mm') < one.from;
        expect(shown === one.from || jumped || one.from === one.to).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['a window that covers every day', [nights({ days: EVERY_DAY, from: '00:00', to: '00:00' })], true],
  ['a window that begins again when it ends', [nights({ days: EVERY_DAY, from: '17:30', to: '17:30' })], true],
  [
    'two windows that touch',
    [nights({ days: EVERY_DAY }), nights({ days: EVERY_DAY, from: '05:00', to: '22:00' })],
    true,
  ],
  ['a window that is missing on Sundays', [nights({ days: EVERY_DAY.slice(0, 6), from: '00:00', to: '00:00' })], false],
  ['a window with a gap of a minute', [nights({ days: EVERY_DAY, from: '00:01', to: '00:00' })], false],
  [
    'two windows in different time zones',
    [
      nights({ days: EVERY_DAY, from: '00:00', to: '12:00', timeZone: 'Europe/London' }),
      nights({ days: EVERY_DAY, from: '07:00', to: '19:00', timeZone: 'America/New_York' }),
    ],
    false,
  ],
  ['no windows', [], false],
])('windows that cover the whole week are always open: %s', (_, windows, expected) => {
  expect(isAlwaysOpen(windows)).toBe(expected);
});

test.each<[string, Partial<Window>, boolean]>([
  ['the whole week', { from: '00:00', to: '00:00' }, true],
  ['the whole week but an hour', { from: '06:00', to: '05:00' }, false],
  ['six whole days', { days: WEEKDAYS.slice(0, 6), from: '00:00', to: '00:00' }, false],
])('an occurrence closes unless the windows cover the whole week: %s', (_, changes, expected) => {
  const occurrence = next(nights(changes), '2026-03-27T12:00:00Z');
  expect(occurrence && neverCloses(occurrence)).toBe(expected);
});
