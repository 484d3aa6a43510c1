/** Tests the examples of times in messages and help texts. */
import { DateTime } from 'luxon';
import { exampleTime, parseTime } from '../../../cli/terminal/times';
import { ferry } from '../captured-terminal';

afterEach(() => jest.useRealTimers());

test('the example of a time is tomorrow evening', () => {
  expect(exampleTime(new Date(2031, 1, 28, 9, 30))).toBe('2031-03-01 22:00');
});

test('an invalid time is answered with examples that are in the future', () => {
  jest.useFakeTimers({ now: new Date(2031, 1, 28, 9, 30) });
  const utc = DateTime.local(2031, 3, 1, 22).toUTC().toISO({ suppressMilliseconds: true });
  expect(() => parseTime('someday')).toThrow(`Write it like "2031-03-01 22:00" or ${utc}, or use the word now.`);
});

test('a day that does not exist is named as the reason', () => {
  expect(() => parseTime('2031-11-31 22:00')).toThrow('There is no such day or time.');
});

test('help texts show a time that is in the future', async () => {
  const tomorrow = exampleTime(new Date());
  const { out } = await ferry(['propose-time', '--help']);
  expect(out.replace(/\s+/g, ' ').split(tomorrow)).toHaveLength(4);
});
