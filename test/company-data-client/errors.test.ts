import {
  AccessDenied,
  BadRequest,
  DeferredUntil,
  KeyRefused,
  LimitReached,
  NotFound,
  ForeignResponse,
  NotReady,
  ServiceFailing,
  Throttled,
  type CompanyDataError,
} from '../../company-data-client';
import { Secret } from '../../security/secret';
import {
  CORRELATION_ID,
  dropped,
  droppedMidBody,
  endless,
  failing,
  html,
  json,
  type Reply,
} from './misbehaving-service';
import { COMPANY, failureOf, useMisbehavingService } from './use-misbehaving-service';

const KEY = 'key-that-must-not-leak';
/** The service's error body. */
const FORM = { statusCode: 400, service: 'PublicApi', error: 'Bad', correlationId: CORRELATION_ID };

// The clients make a single attempt by default.
const { service, clientWith } = useMisbehavingService({
  apiKey: new Secret(KEY),
  retryBudgetMs: 0,
  firstRetryWaitMs: 5,
});

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
  ])('with status %i becomes an error with the right type, text, service and correlation id', async (status, type) => {
    service.answer(failing(status, 'Some: text'));
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toBe(
      `GET /companies/c1: answered ${status} Some: text (from PublicApi, correlation id ${CORRELATION_ID})`,
    );
    expect(error.toFailure()).toEqual({
      kind: 'response',
      status,
      isFromService: true,
      error: 'Some: text',
      service: 'PublicApi',
      correlationId: CORRELATION_ID,
    });
  });

  test('lists the validation errors of the service', async () => {
    const validation = { errors: [{ message: 'name is missing', itemId: 'x' }] };
    service.answer(json(400, { ...FORM, validation }));
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
    ['empty', html(500, ''), 'no error text'],
    ['cut off', droppedMidBody(500, '{"error":"half'), '{"error":"half'],
    ['JSON of another shape', json(500, ['what']), '["what"]'],
    ['JSON whose fields have other types', json(500, { error: { deep: true } }), '{"error":{"deep":true}}'],
    ['200 KB long', html(500, 'x'.repeat(200_000)), 'x'.repeat(500)],
  ])('becomes an error with a readable text even if the body is %s', async (_body, reply, error) => {
    service.answer(reply);
    const failure = (await failureOf(clientWith().getCompany('c1'))).toFailure();
    expect(failure).toMatchObject({ kind: 'response', isFromService: false, error, service: '' });
  });

  test.each<[string, Reply]>([
    ["a proxy's page", html(400, '<h1>404 page not found</h1>')],
    ["a gateway's JSON", json(400, { message: 'no Route matched with those values' })],
    ['a problem document', json(400, { title: 'Not Found', status: 400, traceId: CORRELATION_ID })],
    ['no correlation id', json(400, { ...FORM, correlationId: undefined })],
    ['a correlation id that is not a UUID', json(400, { ...FORM, correlationId: 'abc' })],
    ['no service', json(400, { ...FORM, service: '' })],
    ['another status', json(400, { ...FORM, statusCode: 404 })],
    ['no body', html(400, '')],
  ])('is not attributed to the service if it has %s', async (_what, reply) => {
    service.answer(reply);
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error).toBeInstanceOf(ForeignResponse);
    expect(error.message).toContain('answered 400; the answer is not from the service, but probably from a proxy: ');
    expect([error.retrySafety, error.toFailure()]).toMatchObject(['risky', { status: 400, isFromService: false }]);
  });

  test.each<[string, Reply]>([
    ['is shorter than announced', announcing(5_000, '{"error":"half')],
    ['never ends', endless(500)],
  ])('has the type of its status even if the body %s', async (_body, reply) => {
    service.answer(reply);
    const error = await failureOf(clientWith({ requestTimeoutMs: 1_000 }).getCompany('c1'));
    expect(error).toBeInstanceOf(ServiceFailing);
  });

  test('that redirects is not followed, and the error contains the target', async () => {
    service.answer((response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end());
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error.message).toContain('redirect to https://elsewhere.example/');
    expect(service.arrived).toHaveLength(1);
  });
});

describe('retrySafety', () => {
  test.each<[CompanyDataError['retrySafety'], string, Reply]>([
    ['safe', 'a 429, because the call had no effect', failing(429, 'x')],
    ['safe', 'a 409, because the call had no effect', failing(409, 'x')],
    ['risky', 'a 503, because the call might have taken effect', failing(503, 'x')],
    ['risky', 'a lost response, because the call might have taken effect', dropped],
    ['useless', 'a 400', failing(400, 'x')],
    ['useless', 'a 401', failing(401, 'x')],
    ['useless', 'a 404', failing(404, 'x')],
    ['useless', 'a page instead of JSON', html(200, 'Log in')],
  ])('is %s after %s', async (safety, _what, reply) => {
    service.answer(reply);
    expect((await failureOf(clientWith().getCompany('c1'))).retrySafety).toBe(safety);
  });

  test('is safe if the service asks for a wait beyond the retry budget', async () => {
    const date = new Date();
    date.setMilliseconds(0);
    const until = new Date(date.getTime() + 1_800_000);
    service.answer(failing(503, 'x', { date: date.toUTCString(), 'retry-after': until.toUTCString() }));
    const error = await failureOf(clientWith().getCompany('c1'));
    expect(error).toBeInstanceOf(DeferredUntil);
    expect([error.retrySafety, error.retryAfterMs]).toEqual(['safe', 1_800_000]);
  });
});

test('an error never contains secrets that the call sent, even if the service quotes them', async () => {
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

test('a call throws DeferredUntil if the service asks for a wait beyond the retry budget', async () => {
  service.answer(failing(429, 'Too many', { 'retry-after': '3600' }));
  const error = await failureOf(clientWith({ retryBudgetMs: 1_000 }).getCompany('c1'));
  expect(error).toBeInstanceOf(DeferredUntil);
  expect(error.message).toMatch(/: answered 429 and asks for a retry after \d/);
  expect(error.retryAfterMs).toBe(3_600_000);
  expect(error.toFailure()).toMatchObject({ kind: 'response', status: 429, retryAfterMs: 3_600_000 });
  expect(error.cause).toBeInstanceOf(Throttled);
  expect((error as DeferredUntil).until.getTime() - Date.now()).toBeGreaterThan(3_590_000);
});

test('a call is deferred if the response to another call asks for a wait', async () => {
  const client = clientWith();
  service.answer(failing(429, 'Too many', { 'retry-after': '3600' }), json(200, COMPANY));
  await failureOf(client.getCompany('c1'));
  const error = await failureOf(client.getCompany('c2'));
  expect(error).toBeInstanceOf(DeferredUntil);
  expect(error.message).toMatch(/: not sent, because the service's rate limit was reached; .* can be sent after \d.*Z/);
  expect(error.toFailure()).toMatchObject({ kind: 'response', status: 429 });
  expect(error.retryAfterMs).toBeGreaterThan(3_590_000);
  expect(service.arrived).toHaveLength(1);
});

/** Replies with a shorter body than its content length, and leaves the connection open. */
function announcing(length: number, piece: string): Reply {
  return (response) => {
    response.writeHead(500, { 'content-type': 'application/json', 'content-length': length });
    response.write(piece);
  };
}
