import fc from 'fast-check';
import { isInside } from '../../../chaos/checker/windows';
import { windowOccurrences, WEEKDAYS } from '../../../domain/planning/windows';

const clock = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map(([hours, minutes]) => `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`);
const window = fc.record({
  days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  from: clock,
  to: clock,
  timeZone: fc.constantFrom('UTC', 'Europe/London', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Chatham'),
});
/** A time in weeks without a clock change. */
const instant = fc
  .tuple(fc.constantFrom('2026-01-12', '2026-07-06', '2026-12-07'), fc.nat(10 * 24 * 60))
  .map(([day, minutes]) => Date.parse(`${day}T00:00:00Z`) + minutes * 60_000);

it('agrees with the product in weeks without a clock change', () => {
  fc.assert(
    fc.property(fc.array(window, { minLength: 1, maxLength: 3 }), instant, (windows, at) => {
      const [occurrence] = windowOccurrences(windows, new Date(at).toISOString());
      const isOpen = occurrence !== undefined && Date.parse(occurrence.opensAt) <= at;
      expect(isInside(windows, at)).toBe(isOpen);
    }),
  );
});

it.each([
  ['Mon 22:00, when it opens', '2026-01-05T22:00:00Z', true],
  ['Mon 21:59', '2026-01-05T21:59:59Z', false],
  ['Tue 04:59, in the window that opened on Monday', '2026-01-06T04:59:59Z', true],
  ['Tue 05:00, when it closes', '2026-01-06T05:00:00Z', false],
  ['Mon 04:00, because it did not open on Sunday', '2026-01-05T04:00:00Z', false],
])('knows a window past midnight at %s', (_, at, inside) => {
  const windows = [{ days: ['mon'], from: '22:00', to: '05:00', timeZone: 'Europe/London' }];
  expect(isInside(windows, Date.parse(at))).toBe(inside);
});

it('is always inside if there are no windows', () => {
  expect(isInside([], 0)).toBe(true);
});
