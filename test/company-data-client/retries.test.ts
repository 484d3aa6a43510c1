import { randomUUID } from 'node:crypto';
import {
  type CompanyDataClient,
  type CompanyDataClientOptions,
  createCompanyDataClient,
  DeferredUntil,
  NoAnswer,
  NotFound,
  NotReady,
  ServiceFailing,
  type RetryWait,
} from '../../company-data-client';
import { Secret } from '../../security/secret';
import { until } from '../support/conditions';
import {
  dropped,
  droppedMidBody,
  empty,
  failing,
  json,
  type MisbehavingService,
  neverAnswered,
  type Reply,
  startMisbehavingService,
} from './misbehaving-service';

const COMPANY = { id: 'c1', name: 'Bakery' };
const CONNECTION = { id: 'k1', status: 'Linked' };
const FIELDS = new Secret({ accessToken: 'a' });

let service: MisbehavingService;
let waits: RetryWait[] = [];
const open: CompanyDataClient[] = [];

beforeAll(async () => {
  service = await startMisbehavingService();
});
beforeEach(() => {
  waits = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => service.close());

function client(options: Partial<CompanyDataClientOptions> = {}): CompanyDataClient {
  const opened = createCompanyDataClient({
    baseUrl: service.url,
    apiKey: new Secret('key'),
    retryBudgetMs: 5_000,
    firstRetryWaitMs: 4,
    onWait: (wait) => waits.push(wait),
    ...options,
  });
  open.push(opened);
  return opened;
}

/** Occupies the only connection with an authorization that gets no response, until it is released. */
async function occupy(narrow: CompanyDataClient): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const call = narrow.putAuthorization('c1', 'k1', FIELDS, { signal: controller.signal });
  await Promise.race([call, until(() => service.arrived.length === 1)]);
  return async () => {
    controller.abort(new Error('released'));
    await expect(call).rejects.toThrow('released');
  };
}

const create = (idempotencyKey: string) => client().createCompany({ name: 'Bakery' }, { idempotencyKey });

describe('a read is retried', () => {
  test.each<[string, Reply]>([
    ['429', failing(429, 'Too many', { 'retry-after': '0' })],
    ['500', failing(500, 'Oops')],
    ['503', failing(503, 'Maintenance')],
    ['a dropped connection', dropped],
    ['a body that breaks off', droppedMidBody(200, '{"id":')],
  ])('after %s', async (_what, reply) => {
    service.answer(reply, reply, json(200, COMPANY));
    const { value, correlationId } = await client().getCompany('c1');
    expect(value).toEqual(COMPANY);
    expect(correlationId).toBeDefined();
    expect(service.arrived).toHaveLength(3);
    expect(waits).toHaveLength(2);
  });

  test('after a time-out', async () => {
    service.answer(neverAnswered, json(200, COMPANY));
    const { value } = await client({ requestTimeoutMs: 1_000 }).getCompany('c1');
    expect(value).toEqual(COMPANY);
    expect(waits.map(({ failure }) => failure)).toEqual([{ kind: 'no-answer', reason: 'time-out' }]);
  });

  test('not before the time in Retry-After has passed', async () => {
    service.answer(failing(503, 'Maintenance', { 'retry-after': '1' }), json(200, COMPANY));
    const startedAt = Date.now();
    await client().getCompany('c1');
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  test("not before the date in Retry-After, by the service's own clock", async () => {
    const date = new Date('2020-01-01T00:00:00Z');
    const later = new Date(date.getTime() + 1_000);
    const headers = { date: date.toUTCString(), 'retry-after': later.toUTCString() };
    service.answer(failing(503, 'Maintenance', headers), json(200, COMPANY));
    await client().getCompany('c1');
    expect(waits.map(({ failure }) => failure)).toMatchObject([{ retryAfterMs: 1_000 }]);
    expect(waits[0]?.waitMs).toBeGreaterThanOrEqual(1_000);
  });

  test('until the retry budget is used up, then fails with the last error', async () => {
    service.answer(failing(500, 'Oops'));
    await expect(client({ retryBudgetMs: 1_000 }).getCompany('c1')).rejects.toThrow(ServiceFailing);
    expect(service.arrived.length).toBeGreaterThan(2);
  });

  test('but not after a permanent error', async () => {
    service.answer(failing(404, 'No such company'));
    await expect(client().getCompany('c1')).rejects.toThrow(NotFound);
    expect(service.arrived).toHaveLength(1);
  });
});

describe('a creation', () => {
  test('is retried with the same idempotency key, also while the first attempt is in progress', async () => {
    const idempotencyKey = randomUUID();
    service.answer(dropped, failing(409, 'Under way'), json(200, COMPANY));
    await create(idempotencyKey);
    expect(service.arrived.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill(idempotencyKey));
    expect(new Set(service.arrived.map(({ body }) => body))).toEqual(new Set(['{"name":"Bakery"}']));
  });
});

describe('an authorization', () => {
  const put = (options: Partial<CompanyDataClientOptions> = {}) => client(options).putAuthorization('c1', 'k1', FIELDS);

  test.each<[string, Reply, new (...args: never[]) => Error]>([
    ['500', failing(500, 'Oops'), ServiceFailing],
    ['503', failing(503, 'Maintenance', { 'retry-after': '0' }), ServiceFailing],
    ['409', failing(409, 'Conflict'), NotReady],
    ['a dropped connection', dropped, NoAnswer],
    ['a lost response', droppedMidBody(200, '{"id":'), NoAnswer],
  ])('is never retried after %s, because its token might have been used', async (_what, reply, error) => {
    service.answer(reply, json(200, CONNECTION));
    await expect(put()).rejects.toThrow(error);
    expect(service.arrived).toHaveLength(1);
  });

  test('is never retried after a time-out', async () => {
    service.answer(neverAnswered, json(200, CONNECTION));
    await expect(put({ authorizationTimeoutMs: 1_000 })).rejects.toThrow(NoAnswer);
    expect(service.arrived).toHaveLength(1);
  });

  test('is retried after 429, because nothing was used', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '0' }), json(200, CONNECTION));
    expect((await put()).value.status).toBe('Linked');
    expect(service.arrived).toHaveLength(2);
  });

  test('uses a new connection; other calls reuse theirs', async () => {
    const shared = client();
    service.answer(json(200, { ...CONNECTION, ...COMPANY }));
    for (const turn of ['c1', 'c2']) {
      await shared.getCompany(turn);
      await shared.putAuthorization(turn, 'k1', FIELDS);
    }
    const ports = service.arrived.map(({ port }) => port);
    expect(ports[0]).toBe(ports[2]);
    expect(new Set(ports).size).toBe(3);
  });
});

describe('every POST and PATCH', () => {
  const operation = {
    id: 's1',
    dataType: 'bills',
    status: 'Queued',
    requested: 'now',
    isCompleted: false,
    isErrored: false,
  };
  const OK = json(200, { ...COMPANY, ...CONNECTION, ...operation, pushOperationKey: 'p1', status: 'Linked' });
  const settings = { settings: [], overridesDefaults: false };
  const idempotencyKey = randomUUID();

  test.each<[string, (of: CompanyDataClient) => Promise<unknown>]>([
    ['startSync', (of) => of.startSync('c1')],
    ['queueSync', (of) => of.queueSync('c1', 'bills')],
    ['setSyncSettings', (of) => of.setSyncSettings('c1', settings)],
    ['unlinkConnection', (of) => of.unlinkConnection('c1', 'k1')],
    ['createConnection', (of) => of.createConnection('c1', 'qhyg', { idempotencyKey })],
  ])('%s is retried with the idempotency key of its first attempt', async (_call, make) => {
    service.answer(dropped, OK);
    await make(client());
    const keys = service.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('has another idempotency key for each call', async () => {
    service.answer(OK);
    await client().startSync('c1');
    await client().startSync('c1');
    const [first, second] = service.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
  });

  test('waits for the end of its first attempt, whose response was lost', async () => {
    service.answer(dropped, failing(409, 'The first request is under way'), OK);
    expect((await client().queueSync('c1', 'bills')).value).toMatchObject({ id: 's1' });
    expect(service.arrived).toHaveLength(3);
  });

  test('reports a conflict at its first attempt as NotReady', async () => {
    service.answer(failing(409, 'No linked connection'), OK);
    await expect(client().startSync('c1')).rejects.toThrow(NotReady);
    expect(service.arrived).toHaveLength(1);
  });
});

test('starting the syncs is retried without body and content type', async () => {
  service.answer(dropped, empty(204));
  await client().startSync('c1');
  expect(service.arrived.map(({ method, url, body }) => ({ method, url, body }))).toEqual(
    Array(2).fill({ method: 'POST', url: '/companies/c1/data/all', body: '' }),
  );
  expect(service.arrived[1]?.headers).not.toHaveProperty('content-type');
});

test('a retried deletion that finds nothing succeeds; a first one fails', async () => {
  service.answer(dropped, failing(404, 'No such company'));
  await client().deleteCompany('c1');
  await expect(client().deleteCompany('c1')).rejects.toThrow(NotFound);
});

describe('a cancelled call ends immediately with the reason of its signal', () => {
  const reason = new Error('the batch run was paused');

  test('while the service does not respond', async () => {
    const controller = new AbortController();
    service.answer(() => controller.abort(reason));
    await expect(client().getCompany('c1', { signal: controller.signal })).rejects.toBe(reason);
  });

  test('while it waits for a retry', async () => {
    const controller = new AbortController();
    service.answer(failing(503, 'Maintenance', { 'retry-after': '4' }));
    const onWait = () => controller.abort(reason);
    await expect(client({ onWait }).getCompany('c1', { signal: controller.signal })).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(1);
  });

  test('while all connections are taken', async () => {
    const controller = new AbortController();
    service.answer(() => controller.abort(reason));
    const narrow = client({ connections: 1 });
    const first = narrow.getCompany('c1', { signal: controller.signal });
    const second = narrow.getCompany('c2', { signal: controller.signal });
    await expect(first).rejects.toBe(reason);
    await expect(second).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(1);
  });

  test('before it is sent', async () => {
    service.answer(json(200, COMPANY));
    await expect(client().getCompany('c1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(service.arrived).toHaveLength(0);
  });
});

test('the time limit of a call starts when it gets a connection', async () => {
  service.answer((response, arrived) => void setTimeout(() => json(200, COMPANY)(response, arrived), 600));
  const narrow = client({ connections: 1, requestTimeoutMs: 1_500, retryBudgetMs: 60_000 });
  await Promise.all(['c1', 'c2', 'c3', 'c4'].map((id) => narrow.getCompany(id)));
  expect(service.arrived).toHaveLength(4);
});

test('an authorization that waited too long for a connection is reported as not sent', async () => {
  service.answer(neverAnswered);
  const narrow = client({ connections: 1, retryBudgetMs: 100 });
  const release = await occupy(narrow);
  await expect(narrow.putAuthorization('c2', 'k2', FIELDS)).rejects.toMatchObject({ reason: 'refused' });
  await release();
  expect(service.arrived).toHaveLength(1);
});

describe('a call with sendBefore', () => {
  const soon = (inMs: number) => new Date(Date.now() + inMs);

  test('is not sent after that moment', async () => {
    service.answer(json(200, CONNECTION));
    const put = client().putAuthorization('c1', 'k1', FIELDS, { sendBefore: new Date() });
    await expect(put).rejects.toMatchObject({ reason: 'refused' });
    expect(service.arrived).toHaveLength(0);
  });

  test('is not sent after that moment if it creates something', async () => {
    service.answer(json(200, COMPANY));
    const options = { idempotencyKey: randomUUID(), sendBefore: new Date() };
    await expect(client().createCompany({ name: 'Late' }, options)).rejects.toMatchObject({ reason: 'refused' });
    await expect(client().createConnection('c1', 'qhyg', options)).rejects.toMatchObject({ reason: 'refused' });
    await expect(client().queueSync('c1', 'bills', options)).rejects.toMatchObject({ reason: 'refused' });
    expect(service.arrived).toHaveLength(0);
  });

  test('does not wait longer for a retry', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '60' }), json(200, CONNECTION));
    const put = client({ retryBudgetMs: 120_000 }).putAuthorization('c1', 'k1', FIELDS, { sendBefore: soon(10_000) });
    await expect(put).rejects.toThrow(DeferredUntil);
    expect(service.arrived).toHaveLength(1);
  });

  test('does not wait longer for a connection', async () => {
    service.answer(neverAnswered);
    const narrow = client({ connections: 1 });
    const release = await occupy(narrow);
    const put = narrow.putAuthorization('c2', 'k2', FIELDS, { sendBefore: soon(200) });
    await expect(put).rejects.toMatchObject({ reason: 'refused' });
    await release();
    expect(service.arrived).toHaveLength(1);
  });
});

describe('recordSendIntent', () => {
  test('is called before each attempt, after the wait for a retry', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '0' }), json(200, CONNECTION));
    const arrivedBefore: number[] = [];
    const beforeSending = async () => void arrivedBefore.push(service.arrived.length);
    await client().putAuthorization('c1', 'k1', FIELDS, { recordSendIntent: beforeSending });
    expect(arrivedBefore).toEqual([0, 1]);
  });

  test('prevents the call from being sent when it rejects', async () => {
    service.answer(json(200, CONNECTION));
    const beforeSending = () => Promise.reject(new Error('not ours any more'));
    const put = client().putAuthorization('c1', 'k1', FIELDS, { recordSendIntent: beforeSending });
    await expect(put).rejects.toThrow('not ours any more');
    expect(service.arrived).toHaveLength(0);
  });
});
