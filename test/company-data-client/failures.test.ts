import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { CallFailure } from '../../domain/companies/call-failure';
import {
  AccessDenied,
  BadRequest,
  type CompanyDataClient,
  CompanyDataError,
  type CompanyDataClientOptions,
  createCompanyDataClient,
  DeferredUntil,
  KeyRefused,
  LimitReached,
  NoAnswer,
  NotFound,
  NotReady,
  ServiceFailing,
  Throttled,
  UnreadableAnswer,
} from '../../company-data-client';
import { Secret } from '../../security/secret';
import {
  CORRELATION_ID,
  dropped,
  droppedMidBody,
  empty,
  failing,
  html,
  json,
  type MisbehavingService,
  neverAnswered,
  type Reply,
  startMisbehavingService,
} from './misbehaving-service';

const KEY = 'key-that-must-not-leak';
const COMPANY = { id: 'c1', name: 'Bakery' };

let service: MisbehavingService;
const open: CompanyDataClient[] = [];

beforeAll(async () => {
  service = await startMisbehavingService();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => service.close());

/** Creates a client that makes a single attempt by default. */
function clientWith(options: Partial<CompanyDataClientOptions> = {}): CompanyDataClient {
  const client = createCompanyDataClient({
    baseUrl: service.url,
    apiKey: new Secret(KEY),
    retryBudgetMs: 0,
    firstRetryWaitMs: 5,
    ...options,
  });
  open.push(client);
  return client;
}

async function failureOf(call: Promise<unknown>): Promise<CompanyDataError> {
  const outcome = await call.then(
    () => 'a success',
    (error: unknown) => error,
  );
  if (outcome instanceof CompanyDataError) return outcome;
  throw new Error(`expected a CompanyDataError, got ${String(outcome)}`);
}

describe('an error response', () => {
  test.each([
    [400, BadRequest],
    [401, KeyRefused],
    [402, LimitReached],
    [403, AccessDenied],
    [404, NotFound],
    [409, NotReady],
    [429, Throttled],
    [500, ServiceFailing],
    [503, ServiceFailing],
  ])('with status %i has its own type, with text, service and correlation id', async (status, type) => {
    service.answer(failing(status, 'Some: text'));
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toBe(
      `GET /companies/c1: answered ${status} Some: text (from PublicApi, correlation id ${CORRELATION_ID})`,
    );
    expect(error.toFailure()).toEqual({
      kind: 'answer',
      status,
      error: 'Some: text',
      service: 'PublicApi',
      correlationId: CORRELATION_ID,
    });
  });

  test('lists what the service found invalid', async () => {
    service.answer(json(400, { error: 'Bad', validation: { errors: [{ message: 'name is missing', itemId: 'x' }] } }));
    const error = await failureOf(clientWith().getCompany('c1'));
    expect((error as BadRequest).validation).toEqual(['name is missing']);
    expect(error.message).toContain('Bad; name is missing');
  });

  test.each<[string, Reply, string]>([
    [
      "a proxy's page",
      html(502, '<html><title>502 Bad Gateway</title><body><h1>x</h1></body></html>'),
      '502 Bad Gateway',
    ],
    ['a page without a title', html(500, '<p>It is <b>broken</b></p>'), 'It is broken'],
    ['nothing', html(500, ''), 'no error text'],
    ['a body that breaks off', droppedMidBody(500, '{"error":"half'), '{"error":"half'],
    ['JSON of another shape', json(500, ['what']), '["what"]'],
    ['JSON whose fields have other types', json(500, { error: { deep: true } }), '{"error":{"deep":true}}'],
    ['a body of 200 KB', html(500, 'x'.repeat(200_000)), 'x'.repeat(500)],
  ])('whose body is %s is still an error of its status', async (_body, reply, error) => {
    service.answer(reply);
    const failure = (await failureOf(clientWith().getCompany('c1'))).toFailure();
    expect(failure).toMatchObject({ kind: 'answer', error, service: '' });
  });

  test.each<[string, Reply]>([
    ['is announced longer than it is', announcing(5_000, '{"error":"half')],
    ['never ends', endless(500)],
  ])('whose body %s is still an error of its status', async (_body, reply) => {
    service.answer(reply);
    const error = await failureOf(clientWith({ requestTimeoutMs: 1_000 }).getCompany('c1'));
    expect(error).toBeInstanceOf(ServiceFailing);
  });

  test('that redirects is not followed, and names the target', async () => {
    service.answer((response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end());
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error.message).toContain('redirect to https://elsewhere.example/');
    expect(service.arrived).toHaveLength(1);
  });
});

describe('a missing response', () => {
  const noAnswer = (reason: 'time-out' | 'dropped' | 'refused'): CallFailure => ({ kind: 'no-answer', reason });

  test.each<[string, Reply, Partial<CompanyDataClientOptions>, CallFailure]>([
    ['when the service never answers', neverAnswered, { requestTimeoutMs: 50 }, noAnswer('time-out')],
    [
      'when the body never ends',
      (response) => void response.writeHead(200).write('{"id":'),
      { requestTimeoutMs: 50 },
      noAnswer('time-out'),
    ],
    ['when the service hangs up', dropped, {}, noAnswer('dropped')],
    ['when the body breaks off', droppedMidBody(200, '{"id":"c1"'), {}, noAnswer('dropped')],
    ['when it is no HTTP', (response) => response.socket?.end('hello'), {}, noAnswer('dropped')],
  ])('is typed by its reason %s', async (_when, reply, options, failure) => {
    service.answer(reply);
    const error = await failureOf(clientWith(options).getCompany('c1'));
    expect(error).toBeInstanceOf(NoAnswer);
    expect(error.toFailure()).toEqual(failure);
  });

  test.each(['http://127.0.0.1:PORT', 'http://localhost:PORT', 'http://does-not-exist.invalid'])(
    'is "refused" when no connection is established: %s',
    async (url) => {
      const error = await failureOf(clientWith({ baseUrl: url.replace('PORT', await freePort()) }).getCompany('c1'));
      expect(error.toFailure()).toEqual(noAnswer('refused'));
    },
  );
});

test('does not take the excess of a too long response for the response to the next call', async () => {
  const evil =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 27\r\n\r\n{"id":"evil","name":"other"}';
  service.answer(
    (response) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 27\r\n\r\n';
      response.socket?.write(`${head}{"id":"c1","name":"Bakery"}${evil}`);
    },
    json(200, { id: 'c2', name: 'Butcher' }),
  );
  const client = clientWith({ connections: 1, retryBudgetMs: 1_000 });
  await client.getCompany('c1').catch(() => undefined);
  expect((await client.getCompany('c2')).value).toMatchObject({ id: 'c2', name: 'Butcher' });
});

describe('any success status is accepted', () => {
  test.each([200, 201, 202, 203])('%i with a body, if the call expects one', async (status) => {
    service.answer(json(status, { ...COMPANY, status: 'Linked', isNew: true }));
    expect((await clientWith().getCompany('c1')).value).toEqual(COMPANY);
    const options = { idempotencyKey: randomUUID() };
    expect((await clientWith().createCompany({ name: 'Bakery' }, options)).value).toEqual(COMPANY);
    expect((await clientWith().putAuthorization('c1', 'k1', new Secret({}))).value.status).toBe('Linked');
  });

  test.each<[string, Reply]>([
    ['200 with a body', json(200, { queued: 7 })],
    ['200 with a page', html(200, 'done')],
    ['202 without a body', empty(202)],
    ['204', empty(204)],
  ])('%s, if the call expects no body', async (_what, reply) => {
    service.answer(reply);
    await clientWith().startSync('c1');
    await clientWith().deleteCompany('c1');
    await clientWith().deleteConnection('c1', 'k1');
  });
});

describe('an error says whether a repetition is safe', () => {
  test.each<[string, Reply, CompanyDataError['retrySafety']]>([
    ['429: the call had no effect', failing(429, 'x'), 'safe'],
    ['409: not ready yet', failing(409, 'x'), 'safe'],
    ['503: the call might have taken effect', failing(503, 'x'), 'risky'],
    ['a lost response: the call might have taken effect', dropped, 'risky'],
    ['400: a repetition fails, too', failing(400, 'x'), 'useless'],
    ['401: a repetition fails, too', failing(401, 'x'), 'useless'],
    ['404: a repetition fails, too', failing(404, 'x'), 'useless'],
    ['a page instead of JSON', html(200, 'Log in'), 'useless'],
  ])('%s', async (_what, reply, repetition) => {
    service.answer(reply);
    expect((await failureOf(clientWith().getCompany('c1'))).retrySafety).toBe(repetition);
  });

  test('and when it is possible, even beyond the retry budget', async () => {
    const date = new Date();
    date.setMilliseconds(0);
    const until = new Date(date.getTime() + 7_200_000);
    service.answer(failing(503, 'x', { date: date.toUTCString(), 'retry-after': until.toUTCString() }));
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error).toBeInstanceOf(DeferredUntil);
    expect([error.retrySafety, error.retryAfterMs]).toEqual(['safe', 7_200_000]);
  });
});

describe('a success response that cannot be read', () => {
  test.each<[string, Reply, string]>([
    ['is empty', json(200, undefined), 'answered 200 with an empty body'],
    ['is a page', html(200, '<html>Log in</html>'), 'answered 200 with a body that is not JSON'],
    [
      'is shorter than it says',
      cutByItsLength('{"id":"c1","name":"Bakery"}', 12),
      'answered 200 with a body that is not JSON',
    ],
    ['is longer than the limit', endless(200), 'is longer than'],
    ['lacks a field', json(200, { name: 'Marker & Sons' }), 'answered 200 in an unexpected form (id: '],
  ])('because it %s', async (_why, reply, message) => {
    service.answer(reply);
    const error = await failureOf(clientWith({ retryBudgetMs: 1_000 }).getCompany('c1'));
    expect(error).toBeInstanceOf(UnreadableAnswer);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('Marker');
    expect(error.toFailure()).toMatchObject({ kind: 'unreadable', status: 200 });
    expect(service.arrived).toHaveLength(1);
  });
});

test('an error never contains what the call sent, even if the service quotes it', async () => {
  service.answer((response, { body, headers }) =>
    failing(400, `cannot use ${body} of ${headers.authorization}`)(response, service.arrived[0]!),
  );
  const fields = new Secret({ accessToken: 'access-marker', refreshToken: 'refresh-marker', region: 'eu' });
  const error = await failureOf(clientWith().putAuthorization('c1', 'k1', fields));
  const shown = `${error.stack} ${JSON.stringify(error.toFailure())}`;
  expect(shown).toContain('cannot use {"accessToken":"[secret]","refreshToken":"[secret]","region":"eu"}');
  expect(shown).not.toMatch(/marker/);
  expect(shown).not.toContain(KEY);
  expect(shown).not.toContain(Buffer.from(KEY).toString('base64'));
});

test('a wait beyond the budget is left to the caller: DeferredUntil', async () => {
  service.answer(failing(429, 'Too many', { 'retry-after': '3600' }));
  const error = await failureOf(clientWith({ retryBudgetMs: 1_000 }).getCompany('c1'));
  expect(error).toBeInstanceOf(DeferredUntil);
  expect(error.retryAfterMs).toBe(3_600_000);
  expect(error.toFailure()).toMatchObject({ kind: 'answer', status: 429, retryAfterMs: 3_600_000 });
  expect(error.cause).toBeInstanceOf(Throttled);
  expect((error as DeferredUntil).until.getTime() - Date.now()).toBeGreaterThan(3_590_000);
});

test('other calls also wait while the service asks for it', async () => {
  const client = clientWith();
  service.answer(failing(429, 'Too many', { 'retry-after': '3600' }), json(200, COMPANY));
  await failureOf(client.getCompany('c1'));
  const error = await failureOf(client.getCompany('c2'));
  expect(error).toBeInstanceOf(DeferredUntil);
  expect(error.toFailure()).toMatchObject({ kind: 'answer', status: 429 });
  expect(error.retryAfterMs).toBeGreaterThan(3_590_000);
  expect(service.arrived).toHaveLength(1);
});

/** Returns a port on which nothing listens. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Announces a shorter body than it sends. */
function cutByItsLength(body: string, length: number): Reply {
  return (response) => {
    response.socket?.end(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
    );
  };
}

/** Announces a longer body than it sends, and leaves the connection open. */
function announcing(length: number, piece: string): Reply {
  return (response) => {
    response.writeHead(500, { 'content-type': 'application/json', 'content-length': length });
    response.write(piece);
  };
}

/** Sends a body without end. */
function endless(status: number): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(1024 * 1024, '[');
    const send = () => {
      while (!response.destroyed && response.write(piece));
      response.once('drain', send);
    };
    send();
  };
}
