/** The circuit breaker: when a series of deferrals counts as an outage, and since when. */
import { createCircuitBreaker } from '../../../activities/companies/circuit-breaker';

const DEFERRED = { why: 'Maintenance', source: 'service' } as const;
const THRESHOLD = 100;

/** Returns a result; `began` and `ended` are seconds. */
const result = (began: number, ended: number, deferredBy: typeof DEFERRED | null = DEFERRED, isRetry = false) => ({
  ...{ deferredBy, isRetry },
  ...{ beganAt: began * 1_000, endedAt: ended * 1_000 },
});

test('as many deferrals as companies can be in flight open it', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 2));
  expect(breaker.isOpen(2)).toBe(false);
  breaker.record(result(1, 2));
  expect(breaker.isOpen(2)).toBe(true);
});

test('three companies that are deferred over 15 seconds open it, however many can be in flight', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 11));
  breaker.record(result(4, 14));
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
  breaker.record(result(7, 17));
  expect(breaker.isOpen(THRESHOLD)).toBe(true);
  expect(breaker.report(THRESHOLD)).toEqual({ ...DEFERRED, since: 1_000, gotThrough: 0 });
  expect(breaker.series()).toEqual({ since: 1_000, firstTries: 3, lastFirstTryAt: 17_000 });
});

test.each([
  ['two companies', [result(1, 11), result(4, 40)]],
  ['less than 15 seconds', [result(1, 2), result(4, 5), result(7, 15)]],
  ['retries', [result(1, 11), result(4, 14), result(7, 17, DEFERRED, true), result(20, 40, DEFERRED, true)]],
  [
    'a retry long after three companies failed at once',
    [1, 2, 3].map((at) => result(at, at + 5)).concat(result(300, 301, DEFERRED, true)),
  ],
  ['companies that failed long apart', [result(1, 11), result(4, 14), result(200, 210), result(204, 214)]],
  ['a company that got through in between', [result(1, 11), result(4, 14), result(5, 15, null), result(7, 40)]],
])('%s do not open it', (_what, results) => {
  const breaker = createCircuitBreaker(null);
  for (const each of results) breaker.record(each);
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
});

test('the series began with the first company that failed, but after the last company that got through', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 5, null));
  breaker.record(result(2, 12));
  breaker.record(result(3, 13));
  expect(breaker.series()).toMatchObject({ since: 5_000, firstTries: 2 });
  expect(breaker.lastThroughAt()).toBe(5_000);
});

test('the next slice continues the series of the previous slice', () => {
  const earlier = createCircuitBreaker(null);
  earlier.record(result(0, 1, null));
  earlier.record(result(10, 20));
  earlier.record(result(13, 23));
  expect(earlier.report(THRESHOLD)).toBeNull();
  const breaker = createCircuitBreaker(earlier.series());
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
  breaker.record(result(16, 26));
  expect(breaker.isOpen(THRESHOLD)).toBe(true);
  expect(breaker.series()?.since).toBe(10_000);
});

test('a company that is retried again and again in several slices does not open it, and is no series', () => {
  let earlier = createCircuitBreaker(null);
  earlier.record(result(0, 1));
  for (let slice = 1; slice <= 10; slice += 1) {
    const breaker = createCircuitBreaker(slice === 1 ? null : earlier.series());
    breaker.record(result(30 * slice, 30 * slice + 1, DEFERRED, true));
    expect(breaker.isOpen(8)).toBe(false);
    expect(breaker.report(8)).toBeNull();
    expect(breaker.series()).toBeNull();
    earlier = breaker;
  }
});

test('a slice counts only its own deferrals towards the number in flight', () => {
  const earlier = createCircuitBreaker(null);
  earlier.record(result(0, 1));
  const breaker = createCircuitBreaker(earlier.series());
  breaker.record(result(2, 3, DEFERRED, true));
  expect(breaker.isOpen(2)).toBe(false);
});

test('a probe that finds the service down opens it after one deferral, even of a retry', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 2, null));
  breaker.record(result(3, 9, DEFERRED, true));
  expect(breaker.suspectsService()).toBe(true);
  expect(breaker.confirm({ beganAt: 9_500 })).toBe(true);
  expect(breaker.isOpen(THRESHOLD)).toBe(true);
  expect(breaker.report(THRESHOLD)).toEqual({ ...DEFERRED, since: 3_000, gotThrough: 1 });
});

test('a company that gets through closes it again, and makes an older probe invalid', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 2));
  breaker.confirm({ beganAt: 3_000 });
  breaker.record(result(2, 5, null));
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
  breaker.record(result(3, 6));
  expect(breaker.confirm({ beganAt: 4_000 })).toBe(false);
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
});

test('an outage of the platform is not probed, because the service itself responds', () => {
  const breaker = createCircuitBreaker(null);
  expect(breaker.suspectsService()).toBe(false);
  breaker.record({ ...result(1, 2), deferredBy: { why: 'The platform is down', source: 'platform' } });
  expect(breaker.suspectsService()).toBe(false);
});

test('a deferral by the platform after the beginning of a probe does not become an outage of the service', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 2));
  breaker.record({ ...result(1, 3), deferredBy: { why: 'The platform is down', source: 'platform' } });
  expect(breaker.confirm({ beganAt: 2_500 })).toBe(false);
  expect(breaker.isOpen(THRESHOLD)).toBe(false);
});

test('an outage that a probe finds is not older than the last probe that found the service up', () => {
  const breaker = createCircuitBreaker({ since: 0, firstTries: 1, lastFirstTryAt: 10_000 });
  breaker.record(result(60, 70, DEFERRED, true));
  breaker.refute({ beganAt: 70_000 });
  breaker.record(result(80, 90, DEFERRED, true));
  breaker.confirm({ beganAt: 90_000 });
  expect(breaker.report(THRESHOLD)).toMatchObject({ since: 70_000 });
});

test('a retry long after the last deferred first try begins a new series', () => {
  const breaker = createCircuitBreaker({ since: 0, firstTries: 1, lastFirstTryAt: 10_000 });
  breaker.record(result(7_200, 7_210, DEFERRED, true));
  breaker.confirm({ beganAt: 7_210_000 });
  expect(breaker.report(THRESHOLD)).toMatchObject({ since: 7_200_000 });
});

test('a probe that found the service up does not date an outage that companies show', () => {
  const breaker = createCircuitBreaker(null);
  breaker.record(result(1, 11));
  breaker.record(result(4, 14));
  breaker.refute({ beganAt: 15_000 });
  breaker.record(result(7, 17));
  expect(breaker.report(THRESHOLD)).toMatchObject({ since: 1_000 });
});
