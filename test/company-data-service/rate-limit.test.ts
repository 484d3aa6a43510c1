import { randomUUID } from 'node:crypto';
import { createAccount, createKey, startService, type Service } from '../../company-data-service';
import { createTestDatabase, type TestDatabase, execute } from '../support/servers/database';
import { callerWith, type Caller } from './running-service';
import { SERVICE_CIPHER } from '../support/servers/keys';

const PER_MINUTE = 1_000;
const AT_ONCE = 25;

let database: TestDatabase;
let services: Service[];
beforeAll(async () => {
  database = await createTestDatabase('service');
  services = await Promise.all([1, 2].map(() => startService({ cipher: SERVICE_CIPHER, databaseUrl: database.url })));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await database.drop();
});

/** Creates a key, and returns its id with a caller for each of the two services, which stand for two processes. */
async function newKey(): Promise<{ id: string; callers: [Caller, Caller] }> {
  const accountId = await createAccount(database.url, { name: 'Limited', plan: 'paid' });
  const { id, key } = await createKey(database.url, { accountId, role: 'client' });
  const [one, two] = services.map(({ url }) => callerWith(url, key));
  if (!one || !two) throw new Error('Two processes are needed.');
  return { id, callers: [one, two] };
}

async function send(call: Caller) {
  const { status, headers } = await call('GET', '/account');
  return {
    status,
    remaining: Number(headers.get('x-rate-limit-remaining')),
    limit: Number(headers.get('x-rate-limit-limit')),
    reset: headers.get('x-rate-limit-reset') ?? '',
    retryAfter: headers.get('retry-after'),
  };
}

async function sendMany(calls: readonly Caller[], times: number) {
  const answers: Awaited<ReturnType<typeof send>>[] = [];
  const sendUntilDone = async (call: Caller) => {
    while (times > 0) {
      times -= 1;
      answers.push(await send(call));
    }
  };
  await Promise.all(calls.flatMap((call) => Array.from({ length: AT_ONCE }, () => sendUntilDone(call))));
  return answers;
}

/** Ends the key's window in the database. A process notices this when it leases more requests. */
async function endWindow(keyId: string): Promise<void> {
  const statement = 'update company_data_service.rate_windows set ends_at = clock_timestamp() where key_id = $1';
  await execute(database.url, statement, [keyId]);
}

describe('the rate limit of a key', () => {
  it('counts down without gaps, accepts the 1,000th request and refuses the 1,001st', async () => {
    const { callers } = await newKey();
    const [call] = callers;
    const answers = await sendMany([call], PER_MINUTE);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(answers.map(({ remaining }) => remaining))).toEqual(new Set(Array(PER_MINUTE).keys()));
    const [reset, ...otherResets] = new Set(answers.map((answer) => answer.reset));
    expect(otherResets).toEqual([]);

    const sentAt = Date.now();
    const refused = await send(call);
    expect(refused).toMatchObject({ status: 429, remaining: 0, limit: PER_MINUTE, reset });
    expect(Date.parse(refused.reset) - sentAt).toBeGreaterThan(Number(refused.retryAfter) * 1000 - 1000);
  });

  it('is shared by two processes even if their load is uneven', async () => {
    const { callers } = await newKey();
    const [one, two] = callers;
    for (let request = 0; request < 3; request += 1) expect(await send(one)).toMatchObject({ status: 200 });
    const passed = (await sendMany([two], PER_MINUTE)).filter(({ status }) => status === 200).length;
    // The first process can keep an unused lease of up to a twentieth of the limit.
    expect(passed).toBeLessThanOrEqual(PER_MINUTE - 3);
    expect(passed).toBeGreaterThanOrEqual(PER_MINUTE * 0.95);
    const rest = (await sendMany([one], PER_MINUTE / 10)).filter(({ status }) => status === 200).length;
    expect(3 + passed + rest).toBe(PER_MINUTE);
  });

  it('is reset when the next window begins in the database', async () => {
    const { id, callers } = await newKey();
    const [call] = callers;
    const first = await send(call);
    await endWindow(id);
    // Requests from an existing lease still count against the window that has ended.
    let next = await send(call);
    while (next.reset === first.reset) next = await send(call);
    expect(Date.parse(next.reset)).toBeGreaterThan(Date.parse(first.reset));
    expect(next).toMatchObject({ status: 200, remaining: PER_MINUTE - 1 });
    const passed = (await sendMany([call], PER_MINUTE)).filter(({ status }) => status === 200).length;
    expect(passed).toBe(PER_MINUTE - 1);
  });
});

describe('The rate limit of an address', () => {
  it('answers wrong keys with 429 after a tenth of the limit, and still accepts keys that it has accepted before', async () => {
    const { callers } = await newKey();
    const [call] = callers;
    expect((await send(call)).status).toBe(200);
    const url = services[0]?.url ?? '';
    const statuses: number[] = [];
    for (let index = 0; index < PER_MINUTE / 10 + 2; index += 1) {
      statuses.push((await callerWith(url, `wrong-${index}`)('GET', '/account')).status);
    }
    expect(statuses.slice(0, -2)).toEqual(Array(PER_MINUTE / 10).fill(401));
    expect(statuses.slice(-2)).toEqual([429, 429]);
    const refused = await callerWith(url, 'wrong')('GET', '/account');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(call)).status).toBe(200);
    expect(await callerWith(url)('GET', '/account')).toMatchObject({ status: 401 });
  });

  it('applies to the routes that need no key and read the database', async () => {
    const limited = await startService({ cipher: SERVICE_CIPHER, databaseUrl: database.url, requestsPerMinute: 5 });
    const call = callerWith(limited.url);
    const body = { grant_type: 'refresh_token', refresh_token: 'sbx-ok-1.limited' };
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      statuses.push((await call('POST', '/sandbox/rwuv/token', { body })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await call('POST', `/link/connection/${randomUUID()}`)).toMatchObject({ status: 429 });
    expect(await call('GET', '/healthz')).toMatchObject({ status: 200 });
    await limited.close();
  });
});
