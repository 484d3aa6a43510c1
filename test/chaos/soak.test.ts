/** Tests the soak: its verdict on a figure, and the shares of transient faults that docs/reliability.md states. */
import type { ProxyAction } from '../../chaos/cluster';
import { randomOf } from '../../chaos/random';
import { flatnessOf, medianOf, type Sample } from '../../chaos/soak/flatness';
import { transientFaults } from '../../chaos/soak/transient-faults';

const MINUTE_MS = 60_000;
const WARM_UP_MS = 15 * MINUTE_MS;
const TOLERANCE = { share: 0.1, atLeast: 5 };

/** Returns one sample per half minute, as the soak takes them. */
function samplesOf(minutes: number, valueAt: (minute: number) => number): Sample[] {
  return Array.from({ length: 2 * minutes + 1 }, (_, index) => ({
    atMs: 1_000_000 + index * (MINUTE_MS / 2),
    value: valueAt(index / 2),
  }));
}

const judge = (minutes: number, valueAt: (minute: number) => number) =>
  flatnessOf(samplesOf(minutes, valueAt), WARM_UP_MS, TOLERANCE);

describe('the verdict on a figure', () => {
  it('is flat if the figure stays the same', () => {
    expect(judge(90, () => 200)).toMatchObject({ verdict: 'flat', first: 200, last: 200, slopePerHour: 0 });
  });

  it('is flat if the figure grows only during the warm-up', () => {
    expect(judge(90, (minute) => Math.min(minute, 15) * 20).verdict).toBe('flat');
  });

  it('is "grows" if a slow leak exceeds the tolerated share', () => {
    const leak = judge(90, (minute) => 200 + (minute - 15) * 0.5);
    expect(leak.verdict).toBe('grows');
    expect(leak.slopePerHour).toBeCloseTo(30);
    expect(leak.last - leak.first).toBeCloseTo(25); // two thirds of 75 minutes
    expect(leak.tolerated).toBeCloseTo(leak.first * 0.1);
  });

  it('is flat if a small figure grows by less than the tolerated number', () => {
    expect(judge(90, (minute) => (minute < 50 ? 10 : 14)).verdict).toBe('flat');
    expect(judge(90, (minute) => (minute < 50 ? 10 : 16)).verdict).toBe('grows');
  });

  it('is flat if the figure oscillates, and if it has a few outliers', () => {
    expect(judge(90, (minute) => 200 + 80 * Math.sin(minute)).verdict).toBe('flat');
    const outliers = judge(90, (minute) => (minute > 80 && minute % 3 === 0 ? 2_000 : 200));
    expect(outliers).toMatchObject({ verdict: 'flat', slopePerHour: 0 });
  });

  it('is flat if the figure falls', () => {
    expect(judge(90, (minute) => 500 - minute)).toMatchObject({ verdict: 'flat' });
    expect(judge(90, (minute) => 500 - minute).slopePerHour).toBeCloseTo(-60);
  });

  it('is "too short" with less than 15 minutes after the warm-up, even if the figure grows', () => {
    expect(judge(29, (minute) => minute * 100).verdict).toBe('too short');
    expect(judge(30, (minute) => minute * 100).verdict).toBe('grows');
    expect(judge(3, () => 200)).toMatchObject({ verdict: 'too short', first: NaN, last: NaN, slopePerHour: NaN });
    expect(flatnessOf([], WARM_UP_MS, TOLERANCE).verdict).toBe('too short');
  });
});

describe('the median', () => {
  it.each([
    [[], NaN],
    [[3], 3],
    [[9, 1, 2], 2],
    [[10, 1, 2, 4], 3],
  ])('of %p is %p', (values, median) => {
    expect(medianOf(values)).toBe(median);
  });
});

const REQUEST = { method: 'GET', path: '/companies', body: '' };

/** Returns whether the service gets a request that fails in this way. */
const reachesService = (action: ProxyAction): boolean =>
  action === 'loseAnswer' || (typeof action === 'object' && 'status' in action && action.forward === true);

test('a tenth of the requests fails, and in over a quarter of these failures the service has done the work', () => {
  const fault = transientFaults(0.1, randomOf(1));
  const failures = Array.from({ length: 100_000 }, () => fault(REQUEST)).filter((action) => action !== 'forward');
  expect(failures.length / 100_000).toBeCloseTo(0.1, 2);
  // Of 100 failures: 15 lost answers, 10 errors after the work, and half of 5 unfinished bodies.
  expect(failures.filter(reachesService).length / failures.length).toBeCloseTo(0.275, 1);
});
