/** Tests how times are parsed and printed, and the examples of times in messages and help texts. */
import { DateTime, Settings } from 'luxon';
import { distinctTimes, exampleTime, inLocalTime, parseTime } from '../../../cli/terminal/times';
import { ferry } from '../captured-terminal';

afterEach(() => jest.useRealTimers());

test('the example of a time is tomorrow evening', () => {
  expect(exampleTime(new Date(2031, 1, 28, 9, 30))).toBe('2031-03-01 22:00');
});

test('an invalid time is refused with examples that are in the future', () => {
  jest.useFakeTimers({ now: new Date(2031, 1, 28, 9, 30) });
  const utc = DateTime.local(2031, 3, 1, 22).toUTC().toISO({ suppressMilliseconds: true });
  expect(() => parseTime('someday')).toThrow(`Write it like "2031-03-01 22:00" or ${utc}, or use the word "now".`);
});

test('a time with the name of a time zone is refused, with its offset', () => {
  expect(() => parseTime('2031-07-01 20:40 Europe/London')).toThrow(
    'Write the time zone as an offset: 2031-07-01T20:40+01:00.',
  );
  expect(() => parseTime('2031-07-01 20:40 Europe/Nowhere')).toThrow('Write it like');
});

test('a day that does not exist is named as the reason', () => {
  expect(() => parseTime('2031-11-31 22:00')).toThrow('There is no such day or time.');
});

describe('in Berlin, where clocks go forward on 28 March and back on 31 October 2027,', () => {
  beforeAll(() => (Settings.defaultZone = 'Europe/Berlin'));
  afterAll(() => (Settings.defaultZone = 'system'));

  test('a skipped time is refused with the nearest times', () => {
    const why =
      '2027-03-28 02:30 does not exist in Europe/Berlin, because clocks go forward then. The nearest times are 2027-03-28 01:59 and 2027-03-28 03:00.';
    expect(() => parseTime('2027-03-28 02:30')).toThrow(why);
    expect(() => parseTime('2027-03-28T02:30')).toThrow(why);
    expect(() => parseTime('2027-03-28 02:00')).toThrow('does not exist');
  });

  test('a time that occurs twice is refused with both times to write instead', () => {
    expect(() => parseTime('2027-10-31 02:30')).toThrow(
      '2027-10-31 02:30 occurs twice in Europe/Berlin, because clocks go back then. Write 2027-10-31T02:30+02:00 or 2027-10-31T02:30+01:00.',
    );
  });

  test.each([
    ['2027-03-28 01:59', '2027-03-28T00:59:00.000Z'],
    ['2027-03-28 03:00', '2027-03-28T01:00:00.000Z'],
    ['2027-10-31T02:30+01:00', '2027-10-31T01:30:00.000Z'],
    ['2027-03-28T02:30Z', '2027-03-28T02:30:00.000Z'],
    ['2027-10-31 03:00', '2027-10-31T02:00:00.000Z'],
    ['2027-06-01', '2027-05-31T22:00:00.000Z'],
  ])('%s is accepted', (text, expected) => {
    expect(parseTime(text).toISOString()).toBe(expected);
  });
});

test.each([
  ['22:57:10.000', '22:58:00.000', ['22:57', '22:58']],
  ['22:57:10.000', '22:57:11.000', ['22:57:10', '22:57:11']],
  ['22:57:10.001', '22:57:10.002', ['22:57:10.001', '22:57:10.002']],
])('two times are shown precisely enough to differ: %s, %s', (one, other, expected) => {
  const on = (clock: string): string => `2026-11-23T${clock}Z`;
  const shown = expected.map((clock) => `Mon 23 Nov 2026, ${clock} UTC`);
  expect(distinctTimes(on(one), on(other))).toEqual(shown);
});

test('the times in a text of the workflow are shown in the zone of the reader, unless it is at UTC then', () => {
  const text = 'approve the start at 2026-11-28 04:30 UTC; moves begin at 2026-11-28 20:00 UTC';
  expect(inLocalTime(text, 'America/Los_Angeles')).toBe(
    'approve the start at Fri 27 Nov 2026, 20:30 UTC-08:00; moves begin at Sat 28 Nov 2026, 12:00 UTC-08:00',
  );
  expect(inLocalTime(text, 'Europe/London')).toBe(text);
});

test('help texts show a time that is in the future', async () => {
  const tomorrow = exampleTime(new Date());
  const { out } = await ferry(['propose-time', '--help']);
  expect(out.replace(/\s+/g, ' ').split(tomorrow)).toHaveLength(4);
});
