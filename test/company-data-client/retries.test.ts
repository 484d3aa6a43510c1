import { randomUUID } from 'node:crypto';
import {
  type CompanyDataClient,
  type CompanyDataClientOptions,
  NoResponse,
  NotFound,
  NotReady,
  ServiceFailing,
  type RetryWait,
} from '../../company-data-client';
import { Secret } from '../../security/secret';
import { dropped, droppedMidBody, empty, failing, html, json, neverAnswered, type Reply } from './misbehaving-service';
import { COMPANY, CONNECTION, useMisbehavingService } from './use-misbehaving-service';

const FIELDS = new Secret({ accessToken: 'a' });

let waits: RetryWait[] = [];
beforeEach(() => {
  waits = [];
});
const { service, clientWith } = useMisbehavingService({
  retryBudgetMs: 5_000,
  firstRetryWaitMs: 4,
  onWait: (wait) => waits.push(wait),
});

const create = (idempotencyKey: string) => clientWith().createCompany({ name: 'Bakery' }, { idempotencyKey });

describe('a read', () => {
  test.each<[string, Reply]>([
    ['429', failing(429, 'Too many', { 'retry-after': '0' })],
    ['500', failing(500, 'Oops')],
    ['503', failing(503, 'Maintenance')],
    ['a dropped connection', dropped],
    ['a body that breaks off', droppedMidBody(200, '{"id":')],
  ])('is retried after %s', async (_what, reply) => {
    service.answer(reply, reply, json(200, COMPANY));
    const { value, correlationId } = await clientWith().getCompany('c1');
    expect(value).toEqual(COMPANY);
    expect(correlationId).toBeDefined();
    expect(service.arrived).toHaveLength(3);
    expect(waits).toHaveLength(2);
  });

  test('is retried after a time-out', async () => {
    service.answer(neverAnswered, json(200, COMPANY));
    const { value } = await clientWith({ requestTimeoutMs: 1_000 }).getCompany('c1');
    expect(value).toEqual(COMPANY);
    expect(waits.map(({ failure }) => failure)).toEqual([{ kind: 'no-response', reason: 'time-out' }]);
  });

  test('is not retried before the time in Retry-After has passed', async () => {
    service.answer(failing(503, 'Maintenance', { 'retry-after': '1' }), json(200, COMPANY));
    const startedAt = Date.now();
    await clientWith().getCompany('c1');
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  });

  test("is not retried before the date in Retry-After, by the service's clock", async () => {
    const date = new Date('2020-01-01T00:00:00Z');
    const later = new Date(date.getTime() + 1_000);
    const headers = { date: date.toUTCString(), 'retry-after': later.toUTCString() };
    service.answer(failing(503, 'Maintenance', headers), json(200, COMPANY));
    await clientWith().getCompany('c1');
    expect(waits.map(({ failure }) => failure)).toMatchObject([{ retryAfterMs: 1_000 }]);
    expect(waits[0]?.waitMs).toBeGreaterThanOrEqual(1_000);
  });

  test('is retried until the retry budget is used up, and then fails with the last error', async () => {
    service.answer(failing(500, 'Oops'));
    await expect(clientWith({ retryBudgetMs: 1_000 }).getCompany('c1')).rejects.toThrow(ServiceFailing);
    expect(service.arrived.length).toBeGreaterThan(2);
  });

  test('is not retried after a permanent error', async () => {
    service.answer(failing(404, 'No such company'));
    await expect(clientWith().getCompany('c1')).rejects.toThrow(NotFound);
    expect(service.arrived).toHaveLength(1);
  });
});

describe('a creation', () => {
  test('is retried with the same idempotency key, even while the first attempt is in progress', async () => {
    const idempotencyKey = randomUUID();
    service.answer(dropped, failing(409, 'Under way'), json(200, COMPANY));
    await create(idempotencyKey);
    expect(service.arrived.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill(idempotencyKey));
    expect(new Set(service.arrived.map(({ body }) => body))).toEqual(new Set(['{"name":"Bakery"}']));
  });
});

describe('an authorization', () => {
  const put = (options: Partial<CompanyDataClientOptions> = {}) =>
    clientWith(options).putAuthorization('c1', 'k1', FIELDS);

  test.each<[string, Reply, new (...args: never[]) => Error]>([
    ['500', failing(500, 'Oops'), ServiceFailing],
    ['503', failing(503, 'Maintenance', { 'retry-after': '0' }), ServiceFailing],
    ['409', failing(409, 'Conflict'), NotReady],
    ['a dropped connection', dropped, NoResponse],
    ['a lost response', droppedMidBody(200, '{"id":'), NoResponse],
  ])('is never retried after %s, because its token might have been used', async (_what, reply, error) => {
    service.answer(reply, json(200, CONNECTION));
    await expect(put()).rejects.toThrow(error);
    expect(service.arrived).toHaveLength(1);
  });

  test('is never retried after a time-out', async () => {
    service.answer(neverAnswered, json(200, CONNECTION));
    await expect(put({ authorizationTimeoutMs: 1_000 })).rejects.toThrow(NoResponse);
    expect(service.arrived).toHaveLength(1);
  });

  test('is retried after a 429, because its token was not used', async () => {
    service.answer(failing(429, 'Too many', { 'retry-after': '0' }), json(200, CONNECTION));
    expect((await put()).value.status).toBe('Linked');
    expect(service.arrived).toHaveLength(2);
  });
});

describe('every POST and PATCH', () => {
  const OK = json(200, CONNECTION);
  const idempotencyKey = randomUUID();

  test.each<[string, (of: CompanyDataClient) => Promise<unknown>, Reply?]>([
    ['startSync', (of) => of.startSync('c1'), empty(204)],
    ['unlinkConnection', (of) => of.unlinkConnection('c1', 'k1')],
    ['createConnection', (of) => of.createConnection('c1', 'qhyg', { idempotencyKey })],
  ])('is retried with the idempotency key of its first attempt: %s', async (_call, make, answer = OK) => {
    service.answer(dropped, answer);
    await make(clientWith());
    const keys = service.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('has a different idempotency key for each call', async () => {
    service.answer(empty(204));
    await clientWith().startSync('c1');
    await clientWith().startSync('c1');
    const [first, second] = service.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
  });

  test('is retried until its first attempt, whose response was lost, has ended', async () => {
    service.answer(dropped, failing(409, 'The first request is under way'), empty(204));
    await clientWith().startSync('c1');
    expect(service.arrived).toHaveLength(3);
  });

  test('except a creation throws NotReady if its first attempt gets a 409', async () => {
    service.answer(failing(409, 'No linked connection'), OK);
    await expect(clientWith().startSync('c1')).rejects.toThrow(NotReady);
    expect(service.arrived).toHaveLength(1);
  });
});

test('startSync is retried without a body and without a content type', async () => {
  service.answer(dropped, empty(204));
  await clientWith().startSync('c1');
  expect(service.arrived.map(({ method, url, body }) => ({ method, url, body }))).toEqual(
    Array(2).fill({ method: 'POST', url: '/companies/c1/data/all', body: '' }),
  );
  expect(service.arrived[1]?.headers).not.toHaveProperty('content-type');
});

test('a deletion that gets a 404 succeeds if it is a retry, and fails otherwise', async () => {
  service.answer(dropped, failing(404, 'No such company'));
  await clientWith().deleteCompany('c1');
  await expect(clientWith().deleteCompany('c1')).rejects.toThrow(NotFound);
});

test("a deletion does not succeed because of a proxy's 404, which is retried", async () => {
  const notFound = html(404, '<h1>404 page not found</h1>');
  service.answer(dropped, notFound, notFound, empty(204));
  await clientWith().deleteCompany('c1');
  expect(service.arrived).toHaveLength(4);
});
