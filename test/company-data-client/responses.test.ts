import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import type { CallFailure } from '../../domain/companies/call-failure';
import { type CompanyDataClientOptions, NoResponse, UnreadableResponse } from '../../company-data-client';
import { Secret } from '../../security/secret';
import { dropped, droppedMidBody, empty, endless, html, json, neverAnswered, type Reply } from './misbehaving-service';
import { COMPANY, failureOf, ID, useMisbehavingService } from './use-misbehaving-service';

const twoLengths = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}';
const switching = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
const found = `HTTP/1.1 200 OK\r\nx-correlation-id: ${ID}\r\ncontent-length: ${JSON.stringify(COMPANY).length}\r\n\r\n${JSON.stringify(COMPANY)}`;

// With a retry budget of 0, clients make a single attempt.
const { service, clientWith } = useMisbehavingService({ retryBudgetMs: 0, firstRetryWaitMs: 5 });

describe('a missing response', () => {
  const noResponse = (reason: 'time-out' | 'dropped' | 'malformed' | 'refused'): CallFailure => ({
    kind: 'no-response',
    reason,
  });

  test.each<[string, Reply, Partial<CompanyDataClientOptions>, CallFailure]>([
    ['when the service never answers', neverAnswered, { requestTimeoutMs: 50 }, noResponse('time-out')],
    [
      'when the body never ends',
      (response) => void response.writeHead(200).write('{"id":'),
      { requestTimeoutMs: 50 },
      noResponse('time-out'),
    ],
    ['when the service hangs up', dropped, {}, noResponse('dropped')],
    ['when the body breaks off', droppedMidBody(200, '{"id":"c1"'), {}, noResponse('dropped')],
    ['when it is not HTTP', raw('hello'), {}, noResponse('malformed')],
    ['when its headers contain two lengths', raw(twoLengths), {}, noResponse('malformed')],
    ['when it is a 101', raw(switching), {}, noResponse('malformed')],
    ['when it is a 101 without headers', raw('HTTP/1.1 101 X\r\n\r\n'), {}, noResponse('malformed')],
    [
      'when a 100 arrives, which no request expects',
      raw(`HTTP/1.1 100 Continue\r\n\r\n${found}`),
      {},
      noResponse('malformed'),
    ],
  ])('has the right reason %s', async (_when, reply, options, failure) => {
    service.answer(reply);
    const error = await failureOf(clientWith(options).getCompany('c1'));
    expect(error).toBeInstanceOf(NoResponse);
    expect(error.toFailure()).toEqual(failure);
  });

  test.each(['http://127.0.0.1:PORT', 'http://localhost:PORT', 'http://does-not-exist.invalid'])(
    'has the reason "refused" if no connection is established: %s',
    async (url) => {
      const error = await failureOf(clientWith({ baseUrl: url.replace('PORT', await freePort()) }).getCompany('c1'));
      expect(error.toFailure()).toEqual(noResponse('refused'));
    },
  );
});

test.each(['102 Processing', '103 Early Hints'])('a response after an interim %s is read', async (interim) => {
  service.answer(raw(`HTTP/1.1 ${interim}\r\nlink: </style.css>\r\n\r\n${found}`));
  expect((await clientWith().getCompany('c1')).value).toMatchObject(COMPANY);
});

test('a client does not mistake excess bytes of a response for the response to the next call', async () => {
  const evil =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 27\r\n\r\n{"id":"evil","name":"other"}';
  service.answer(
    (response) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 27\r\n\r\n';
      response.socket?.write(`${head}{"id":"c1","name":"Bakery"}${evil}`);
    },
    json(200, { id: ID, name: 'Butcher' }),
  );
  const client = clientWith({ connections: 1, retryBudgetMs: 1_000 });
  await client.getCompany('c1').catch(() => undefined);
  expect((await client.getCompany('c2')).value).toMatchObject({ id: ID, name: 'Butcher' });
});

describe('a success status', () => {
  test.each([200, 201, 202, 203])('is accepted if the call expects a body: %i', async (status) => {
    service.answer(json(status, { ...COMPANY, status: 'Linked', isNew: true }));
    expect((await clientWith().getCompany('c1')).value).toEqual(COMPANY);
    const options = { idempotencyKey: randomUUID() };
    expect((await clientWith().createCompany({ name: 'Bakery' }, options)).value).toEqual(COMPANY);
    expect((await clientWith().putAuthorization('c1', 'k1', new Secret({}))).value.status).toBe('Linked');
  });

  test.each<[string, Reply]>([
    ['200 with a body', json(200, { queued: 7 })],
    ['202 without a body', empty(202)],
    ['204', empty(204)],
  ])('is accepted if the call expects no body: %s', async (_what, reply) => {
    service.answer(reply);
    await clientWith().deleteCompany('c1');
  });
});

describe('a success response that cannot be read', () => {
  test('does not count as a success if the call expects no body, because a proxy has sent it', async () => {
    service.answer(html(200, '<html>Log in</html>'));
    const client = clientWith({ retryBudgetMs: 1_000 });
    for (const call of [client.startSync('c1'), client.deleteCompany('c1')])
      expect((await failureOf(call)).toFailure()).toMatchObject({ kind: 'unreadable', status: 200 });
  });

  test.each([json(200, {}), empty(200), empty(202)])(
    'does not count as a start of syncs unless its status is 204, because a proxy has sent it',
    async (reply) => {
      service.answer(reply, empty(204));
      const failure = (await failureOf(clientWith().startSync('c1'))).toFailure();
      expect(failure).toMatchObject({ kind: 'unreadable' });
      await clientWith().startSync('c1');
    },
  );

  test.each<[string, Reply, string]>([
    ['is empty', json(200, undefined), 'answered 200 with an empty body'],
    ['is a page', html(200, '<html>Log in</html>'), 'answered 200 with a body that is not JSON'],
    [
      'is cut off by its content length',
      cutByItsLength('{"id":"c1","name":"Bakery"}', 12),
      'answered 200 with a body that is not JSON',
    ],
    ['is longer than the limit', endless(200), 'is longer than'],
    ['lacks a field', json(200, { name: 'Marker & Sons' }), 'answered 200 in an unexpected form (id: '],
  ])('throws UnreadableResponse if it %s', async (_why, reply, message) => {
    service.answer(reply);
    const error = await failureOf(clientWith({ retryBudgetMs: 1_000 }).getCompany('c1'));
    expect(error).toBeInstanceOf(UnreadableResponse);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('Marker');
    expect(error.toFailure()).toMatchObject({ kind: 'unreadable', status: 200 });
    expect(service.arrived).toHaveLength(1);
  });
});

/** Returns a port on which nothing listens. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Replies with these bytes. */
function raw(bytes: string): Reply {
  return (response) => response.socket?.end(bytes);
}

/** Replies with a body that is longer than its Content-Length. */
function cutByItsLength(body: string, length: number): Reply {
  return (response) => {
    response.socket?.end(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
    );
  };
}
