import { type CompanyDataClient, createCompanyDataClient } from '../../company-data-client';
import { Secret } from '../../security/secret';
import { failing, json, type MisbehavingService, type Reply, startMisbehavingService } from './misbehaving-service';

const COMPANY = { id: 'c1', name: 'Bakery' };

let service: MisbehavingService;
let client: CompanyDataClient;

beforeAll(async () => {
  service = await startMisbehavingService();
});
beforeEach(() => {
  client = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret('key'), retryBudgetMs: 10_000 });
});
afterEach(() => client.close());
afterAll(() => service.close());

interface Limited {
  readonly reply: Reply;
  /** When each request was let through, in milliseconds. */
  readonly accepted: number[];
  readonly refused: number[];
}

/** Takes `limit` requests in each window, which begins with the first request after the one before. */
function limited(limit: number, windowMs: number, clockAheadMs = 0): Limited {
  const accepted: number[] = [];
  const refused: number[] = [];
  let endsAt = 0;
  let used = 0;
  const reply: Reply = (response, request) => {
    const now = Date.now();
    if (now >= endsAt) [endsAt, used] = [now + windowMs, 0];
    used += 1;
    const headers = {
      date: new Date(now + clockAheadMs).toUTCString(),
      'x-rate-limit-limit': String(limit),
      'x-rate-limit-remaining': String(Math.max(0, limit - used)),
      'x-rate-limit-reset': new Date(endsAt + clockAheadMs).toISOString(),
    };
    if (used <= limit) {
      accepted.push(now);
      json(200, COMPANY, headers)(response, request);
      return;
    }
    refused.push(now);
    failing(429, 'Too many', { ...headers, 'retry-after': String(Math.ceil((endsAt - now) / 1_000)) })(
      response,
      request,
    );
  };
  return { reply, accepted, refused };
}

/** As many callers as that ask one thing after the other until the time is over. */
async function keepAsking(callers: number, forMs: number): Promise<void> {
  const endsAt = Date.now() + forMs;
  const ask = async () => {
    while (Date.now() < endsAt) await client.getCompany('c1');
  };
  await Promise.all(Array.from({ length: callers }, ask));
}

test('finds the speed that the service allows, without being told, and stays there', async () => {
  const { reply, accepted, refused } = limited(200, 2_000);
  service.answer(reply);
  await keepAsking(64, 4_000);
  const used = accepted.filter((at) => at < accepted[0]! + 4_000).length;
  // Each window of this service begins with its first request: what is missing is the way there, on a busy machine.
  expect(used).toBeGreaterThanOrEqual(0.9 * 400);
  expect(refused.length).toBeLessThan(0.01 * accepted.length);
});

test('spreads its requests evenly once the limit is felt', async () => {
  const { reply, accepted } = limited(100, 1_000);
  service.answer(reply);
  await keepAsking(16, 3_000);
  const thirdWindow = accepted.filter((at) => at >= accepted[0]! + 2_000 && at < accepted[0]! + 3_000);
  const firstHalf = thirdWindow.filter((at) => at < accepted[0]! + 2_500);
  expect(firstHalf.length / thirdWindow.length).toBeCloseTo(0.5, 1);
});

test('holds nothing back while half of the limit suffices', async () => {
  const { reply, accepted } = limited(1_000, 60_000);
  service.answer(reply);
  const startedAt = Date.now();
  await Promise.all(Array.from({ length: 400 }, () => client.getCompany('c1')));
  expect(accepted).toHaveLength(400);
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test('two clients of one key share the limit without knowing of each other', async () => {
  const other = createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret('key') });
  const { reply, accepted, refused } = limited(100, 1_000);
  service.answer(reply);
  const endsAt = Date.now() + 3_000;
  const ask = async (one: CompanyDataClient) => {
    while (Date.now() < endsAt) await one.getCompany('c1');
  };
  await Promise.all(Array.from({ length: 16 }, (_, index) => ask(index % 2 === 0 ? client : other)));
  expect(accepted.length).toBeGreaterThanOrEqual(0.8 * 300);
  expect(refused.length).toBeLessThan(0.05 * accepted.length);
  await other.close();
});

test("a service whose clock is wrong is paced by the service's own clock", async () => {
  const { reply, accepted, refused } = limited(50, 3_000, -3_600_000);
  service.answer(reply);
  await keepAsking(8, 4_500);
  expect(refused.length).toBeLessThanOrEqual(1);
  expect(accepted.length).toBeGreaterThanOrEqual(60);
});
