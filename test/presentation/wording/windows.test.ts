/** Tests the time that the portal suggests for a start. */
import { windowsText } from '../../../domain/planning/window-texts';
import { firstMove, parseWindowText } from '../../../presentation/wording/windows';

const FRIDAY_EVENING = new Date('2026-11-27T20:36:00Z');

test.each([
  [null, '2026-11-27T20:36:00.000Z'],
  ['at any time', '2026-11-27T20:36:00.000Z'],
  ['mon-fri 20:00-23:00 UTC', '2026-11-27T20:36:00.000Z'],
  ['mon-thu 20:00-23:00 Europe/Paris', '2026-11-30T19:00:00.000Z'],
  ['mon-thu 20:00-23:00 UTC; sun 04:00-06:00 UTC', '2026-11-29T04:00:00.000Z'],
])('with the windows %s, a start is suggested at %s', (windows, expected) => {
  expect(firstMove(windows, FRIDAY_EVENING).toISOString()).toBe(expected);
});

test('the text of windows can be parsed', () => {
  const text = 'mon-wed,sat 22:00-24:00 Europe/London; daily 00:00-24:00 UTC';
  const windows = text.split(';').map(parseWindowText);
  expect(windowsText(windows.flatMap((window) => ('problem' in window ? [] : [window])))).toBe(text);
});
