import { createCompanyDataClient } from '../../company-data-client';
import { createRateLimiter, type RateLimiter } from '../../company-data-client/rate-limiter';
import { Secret } from '../../security/secret';
import { type LimitedService, type LimitedServiceOptions, simulateLimitedService } from './rate-limited-service';
import { json, startMisbehavingService } from './misbehaving-service';
import { COMPANY } from './use-misbehaving-service';

/** More microtasks than a request takes to pass through the rate limiter and the simulated service. */
const MICROTASKS = 12;
const MAX_WAIT_MS = 3_600_000;
const HUNDRED_A_SECOND: LimitedServiceOptions = { limit: 100, windowMs: 1_000 };

/** Advances jest's clock, and lets all promises settle in each millisecond. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    for (let task = 0; task < MICROTASKS; task += 1) await Promise.resolve();
    jest.advanceTimersByTime(1);
  }
}

/** Sends one request when the rate limiter permits it. */
async function sendOnce(limiter: RateLimiter, service: LimitedService): Promise<void> {
  const permit = await limiter.acquire(Date.now() + MAX_WAIT_MS, undefined);
  if (permit instanceof Date) throw new Error(`no permit before ${permit.toISOString()}`);
  permit.complete(await service.send());
}

/** Starts callers that send one request at a time for as long as jest's clock runs. */
function keepSending(limiter: RateLimiter, service: LimitedService, callers = 16): void {
  const send = async () => {
    for (;;) await sendOnce(limiter, service);
  };
  for (let caller = 0; caller < callers; caller += 1) void send();
}

/** Counts the requests that the service accepts and refuses in the next `ms` milliseconds. */
async function countRequests(service: LimitedService, ms: number): Promise<{ accepted: number; refused: number }> {
  const before = { accepted: service.accepted.length, refused: service.refused.length };
  await pass(ms);
  return {
    accepted: service.accepted.length - before.accepted,
    refused: service.refused.length - before.refused,
  };
}

describe('the rate limiter', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00.300Z') });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each<[string, LimitedServiceOptions]>([
    ['100 requests a second', HUNDRED_A_SECOND],
    ['100 a second, with windows that begin with a request', { ...HUNDRED_A_SECOND, windows: 'on-demand' }],
    ['100 a second, with a high latency', { ...HUNDRED_A_SECOND, latencyMs: [40, 80] }],
    ['6,000 a minute', { limit: 6_000, windowMs: 60_000 }],
    ['a clock that is an hour behind', { ...HUNDRED_A_SECOND, clockAheadMs: -3_600_000 }],
    ['a clock that is a little behind', { ...HUNDRED_A_SECOND, clockAheadMs: -300 }],
    ['a clock that is a little ahead', { ...HUNDRED_A_SECOND, clockAheadMs: 700 }],
  ])("reaches the service's limit and stays there: %s", async (_service, options) => {
    const service = simulateLimitedService(options);
    keepSending(createRateLimiter(), service);
    await pass(Math.max(3_000, options.windowMs));
    const forMs = Math.max(10_000, options.windowMs);
    const { accepted, refused } = await countRequests(service, forMs);
    expect(accepted).toBeGreaterThanOrEqual(0.95 * options.limit * (forMs / options.windowMs));
    expect(refused).toBeLessThan(0.01 * accepted);
  });

  test('spaces requests evenly over a window if more than half of the limit was used in the previous window', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 10_000 });
    keepSending(createRateLimiter(), service);
    await pass(9_700); // The second window begins at this time.
    for (let second = 0; second < 10; second += 1) {
      const { accepted } = await countRequests(service, 1_000);
      expect(accepted).toBeGreaterThanOrEqual(90);
      expect(accepted).toBeLessThanOrEqual(110);
    }
  });

  test('does not delay requests while at most half of the limit is used', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 60_000, latencyMs: [10, 10] });
    const limiter = createRateLimiter();
    keepSending(limiter, service, 25);
    await pass(20 * 20); // 20 requests of each caller, with a round trip of 20 ms
    expect(service.accepted.length).toBeGreaterThanOrEqual(25 * 20 - 25);
  });

  test('shares the limit of one key with another process, without coordination', async () => {
    const service = simulateLimitedService(HUNDRED_A_SECOND);
    keepSending(createRateLimiter(), service);
    keepSending(createRateLimiter(), service);
    await pass(3_000);
    const { accepted, refused } = await countRequests(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(950);
    expect(refused).toBeLessThan(0.01 * accepted);
  });

  test('waits for a second after a 429 without Retry-After', async () => {
    const service = simulateLimitedService({ limit: 20, windowMs: 10_000, latencyMs: [10, 10], isSilent: true });
    const limiter = createRateLimiter();
    keepSending(limiter, service, 1);
    await pass(450); // The 21st request is refused at 410 ms, and its response arrives at 420 ms.
    expect(service.refused).toHaveLength(1);
    await pass(960);
    expect(service.refused).toHaveLength(1);
    await pass(40);
    expect(service.refused).toHaveLength(2);
  });

  test('uses a window that begins earlier than announced', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 10_000, windows: 'on-demand' });
    keepSending(createRateLimiter(), service);
    await pass(15_000);
    service.beginWindow();
    const { accepted, refused } = await countRequests(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(950);
    expect(refused).toBe(0);
  });

  test.each([
    ['raised', 100, 300],
    ['lowered', 300, 100],
  ])('follows a limit that is %s while it runs', async (_how, before, after) => {
    const service = simulateLimitedService({ limit: before, windowMs: 1_000 });
    keepSending(createRateLimiter(), service);
    await pass(3_000);
    service.changeLimit(after);
    await pass(3_000);
    const { accepted, refused } = await countRequests(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(0.95 * 10 * after);
    expect(refused).toBeLessThan(0.01 * accepted);
  });
});

test('a client delays the next request until the reset if the limit is used up', async () => {
  const service = await startMisbehavingService();
  const client = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret('key') });
  let resetAt = Infinity;
  let nextAt = 0;
  service.answer(
    (response, request) => {
      resetAt = Date.now() + 200;
      const limit = { 'x-rate-limit-limit': '10', 'x-rate-limit-remaining': '0' };
      const headers = { ...limit, 'x-rate-limit-reset': new Date(resetAt).toISOString() };
      json(200, COMPANY, headers)(response, request);
    },
    (response, request) => {
      nextAt = Date.now();
      json(200, COMPANY)(response, request);
    },
  );
  await client.getCompany('c1');
  await client.getCompany('c1');
  expect(nextAt).toBeGreaterThanOrEqual(resetAt);
  await client.close();
  await service.close();
});
