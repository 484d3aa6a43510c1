import { createCompanyDataClient } from '../../company-data-client';
import { createRateLimiter, type RateLimiter } from '../../company-data-client/rate-limiter';
import { Secret } from '../../security/secret';
import { type LimitedService, type LimitedServiceOptions, simulateLimitedService } from './limited-service';
import { json, startMisbehavingService } from './misbehaving-service';

/** More than a promise's way through the pacer and the simulated service. */
const MICROTASKS = 12;
const PATIENCE_MS = 3_600_000;
const HUNDRED_A_SECOND: LimitedServiceOptions = { limit: 100, windowMs: 1_000 };

/** Lets the time of jest's clock pass, and everything happen in its millisecond. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    for (let task = 0; task < MICROTASKS; task += 1) await Promise.resolve();
    jest.advanceTimersByTime(1);
  }
}

/** Sends one request in its turn. */
async function askOnce(pacer: RateLimiter, service: LimitedService): Promise<void> {
  const turn = await pacer.acquire(Date.now() + PATIENCE_MS, undefined);
  if (turn instanceof Date) throw new Error(`no turn before ${turn.toISOString()}`);
  turn.complete(await service.send());
}

/** So many callers that ask one thing after the other, as long as jest's clock runs. */
function keepAsking(pacer: RateLimiter, service: LimitedService, callers = 16): void {
  const ask = async () => {
    for (;;) await askOnce(pacer, service);
  };
  for (let caller = 0; caller < callers; caller += 1) void ask();
}

/** How many requests the service accepted and refused in the next so many milliseconds. */
async function counted(service: LimitedService, ms: number): Promise<{ accepted: number; refused: number }> {
  const before = { accepted: service.accepted.length, refused: service.refused.length };
  await pass(ms);
  return {
    accepted: service.accepted.length - before.accepted,
    refused: service.refused.length - before.refused,
  };
}

describe('in simulated time', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00.300Z') });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each<[string, LimitedServiceOptions]>([
    ['100 requests a second', HUNDRED_A_SECOND],
    ['100 a second, each window begun by a request', { ...HUNDRED_A_SECOND, windows: 'opened' }],
    ['100 a second, far away', { ...HUNDRED_A_SECOND, latencyMs: [40, 80] }],
    ['6,000 a minute', { limit: 6_000, windowMs: 60_000 }],
    ['a clock an hour behind', { ...HUNDRED_A_SECOND, clockAheadMs: -3_600_000 }],
    ['a clock a little behind', { ...HUNDRED_A_SECOND, clockAheadMs: -300 }],
    ['a clock a little ahead', { ...HUNDRED_A_SECOND, clockAheadMs: 700 }],
  ])("finds a service's speed without being told, and stays there: %s", async (_service, options) => {
    const service = simulateLimitedService(options);
    keepAsking(createRateLimiter(), service);
    await pass(Math.max(3_000, options.windowMs));
    const forMs = Math.max(10_000, options.windowMs);
    const { accepted, refused } = await counted(service, forMs);
    expect(accepted).toBeGreaterThanOrEqual(0.95 * options.limit * (forMs / options.windowMs));
    expect(refused).toBeLessThan(0.01 * accepted);
  });

  test('spreads its requests evenly once the limit is felt', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 10_000 });
    keepAsking(createRateLimiter(), service);
    await pass(9_700); // up to the beginning of the second window
    for (let second = 0; second < 10; second += 1) {
      const { accepted } = await counted(service, 1_000);
      expect(accepted).toBeGreaterThanOrEqual(90);
      expect(accepted).toBeLessThanOrEqual(110);
    }
  });

  test('holds nothing back while half of the limit suffices', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 60_000, latencyMs: [10, 10] });
    const pacer = createRateLimiter();
    keepAsking(pacer, service, 25);
    await pass(20 * 20); // 20 requests of each caller, 20 ms there and back
    expect(service.accepted.length).toBeGreaterThanOrEqual(25 * 20 - 25);
  });

  test('two processes of one key share the limit without knowing of each other', async () => {
    const service = simulateLimitedService(HUNDRED_A_SECOND);
    keepAsking(createRateLimiter(), service);
    keepAsking(createRateLimiter(), service);
    await pass(3_000);
    const { accepted, refused } = await counted(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(950);
    expect(refused).toBeLessThan(0.01 * accepted);
  });

  test('keeps still for a second after a 429 that says nothing', async () => {
    const service = simulateLimitedService({ limit: 20, windowMs: 10_000, latencyMs: [10, 10], isSilent: true });
    const pacer = createRateLimiter();
    keepAsking(pacer, service, 1);
    await pass(450); // the 21st request is refused at 410 ms, and that is known at 420 ms
    expect(service.refused).toHaveLength(1);
    await pass(960);
    expect(service.refused).toHaveLength(1);
    await pass(40);
    expect(service.refused).toHaveLength(2);
  });

  test('uses a window that begins before it was announced', async () => {
    const service = simulateLimitedService({ limit: 1_000, windowMs: 10_000, windows: 'opened' });
    keepAsking(createRateLimiter(), service);
    await pass(15_000);
    service.beginWindow();
    const { accepted, refused } = await counted(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(950);
    expect(refused).toBe(0);
  });

  test.each([
    ['raised', 100, 300],
    ['lowered', 300, 100],
  ])('follows a limit that is %s on the way', async (_how, before, after) => {
    const service = simulateLimitedService({ limit: before, windowMs: 1_000 });
    keepAsking(createRateLimiter(), service);
    await pass(3_000);
    service.changeLimit(after);
    await pass(3_000);
    const { accepted, refused } = await counted(service, 10_000);
    expect(accepted).toBeGreaterThanOrEqual(0.95 * 10 * after);
    expect(refused).toBeLessThan(0.01 * accepted);
  });
});

test('over HTTP, what an answer says of the limit holds the next request back until the reset', async () => {
  const service = await startMisbehavingService();
  const client = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret('key') });
  let resetAt = Infinity;
  let nextAt = 0;
  service.answer(
    (response, request) => {
      resetAt = Date.now() + 200;
      const limit = { 'x-rate-limit-limit': '10', 'x-rate-limit-remaining': '0' };
      const headers = { ...limit, 'x-rate-limit-reset': new Date(resetAt).toISOString() };
      json(200, { id: 'c1', name: 'Bakery' }, headers)(response, request);
    },
    (response, request) => {
      nextAt = Date.now();
      json(200, { id: 'c1', name: 'Bakery' })(response, request);
    },
  );
  await client.getCompany('c1');
  await client.getCompany('c1');
  expect(nextAt).toBeGreaterThanOrEqual(resetAt);
  await client.close();
  await service.close();
});
