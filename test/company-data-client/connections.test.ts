/** Tests which connection a request uses, and how the client reacts when the service closes connections. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type CompanyDataClient, createCompanyDataClient, NoResponse } from '../../company-data-client';
import { Secret } from '../../security/secret';
import { until } from '../support/async';
import { json } from './misbehaving-service';
import { COMPANY, CONNECTION, failureOf, useMisbehavingService } from './use-misbehaving-service';

const FIELDS = new Secret({ accessToken: 'a' });
const BOTH = { ...COMPANY, ...CONNECTION };

const { service, clientWith } = useMisbehavingService({ retryBudgetMs: 0 });
const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
const ports = () => service.arrived.map(({ port }) => port);

describe('calls one after another', () => {
  test('use one connection, even for authorizations', async () => {
    service.answer(json(200, BOTH));
    const client = clientWith();
    for (const id of ['c1', 'c2']) {
      await client.getCompany(id);
      await client.putAuthorization(id, 'k1', FIELDS);
    }
    expect(new Set(ports()).size).toBe(1);
  });

  test.each<[string, Record<string, string>, number]>([
    ['half of the announced 5 s', { 'keep-alive': 'timeout=5' }, 2_500],
    ['half of the announced 8 s, with a number of requests', { 'keep-alive': 'max=90, timeout=8' }, 4_000],
    ['10 s if more than 20 s are announced', { 'keep-alive': 'timeout=600' }, 10_000],
    ['a second if nothing is announced', { 'keep-alive': 'max=90' }, 1_000],
  ])('an authorization uses a connection for %s after its last request was sent', async (_time, headers, ms) => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      service.answer(json(200, BOTH, headers));
      const client = clientWith();
      await client.getCompany('c1');
      clock.mockReturnValue(ms - 1);
      await client.putAuthorization('c1', 'k1', FIELDS);
      clock.mockReturnValue(ms - 1 + ms);
      await client.putAuthorization('c2', 'k1', FIELDS);
    } finally {
      clock.mockRestore();
    }
    const [first, second, third] = ports();
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('use another connection after the service has closed the first connection', async () => {
    service.answer(json(200, BOTH, { connection: 'close' }), json(200, BOTH));
    const client = clientWith();
    await client.getCompany('c1');
    await client.putAuthorization('c1', 'k1', FIELDS);
    expect(new Set(ports()).size).toBe(2);
  });
});

test('calls at the same time open as many connections as they need, and keep them', async () => {
  service.answer((response, arrived) => void setTimeout(() => json(200, BOTH)(response, arrived), 200));
  const client = clientWith({ connections: 5, retryBudgetMs: 10_000 });
  const reads = () => Array.from({ length: 7 }, (_, index) => client.getCompany(`c${index}`));
  await Promise.all(reads());
  expect(new Set(ports()).size).toBe(5);
  await Promise.all(reads());
  expect(new Set(ports()).size).toBe(5);
});

test('slow authorizations do not hold up other calls', async () => {
  service.answer(() => undefined, json(200, BOTH));
  const client = clientWith({ connections: 1, authorizationTimeoutMs: 1_000 });
  const slow = failureOf(client.putAuthorization('c1', 'k1', FIELDS));
  await until(() => service.arrived.length === 1);
  await client.getCompany('c1');
  expect((await slow).toFailure()).toMatchObject({ reason: 'time-out' });
});

test('a closed client waits for its calls, and sends no other calls', async () => {
  service.answer((response, arrived) => void setTimeout(() => json(200, BOTH)(response, arrived), 200));
  const client = clientWith();
  const call = client.getCompany('c1');
  await until(() => service.arrived.length === 1);
  await client.close();
  expect((await call).value).toMatchObject(COMPANY);
  expect((await failureOf(client.getCompany('c2'))).toFailure()).toMatchObject({ reason: 'refused' });
  expect(service.arrived).toHaveLength(1);
});

test('no call is lost if the service closes each connection immediately after its response', async () => {
  const closing = await startClosingService({ closesAfterMs: 0, announced: undefined, deafMs: 0 });
  const client = clientOf(closing);
  const lost: string[] = [];
  for (let call = 0; call < 400; call += 1)
    await client.getCompany(`c${call}`).catch((error: Error) => lost.push(error.message));
  expect(lost).toEqual([]);
});

test.each<[string, number, string | undefined]>([
  ['announces that', 4_000, 'timeout=4'],
  ['does not announce that', 2_000, undefined],
])(
  'no authorization is lost if the service closes idle connections and %s',
  async (_how, closesAfterMs, announced) => {
    const closing = await startClosingService({ closesAfterMs, announced });
    const waitAndAuthorize = async (client: CompanyDataClient, waitMs: number) => {
      await client.getCompany('c1');
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      expect((await client.putAuthorization('c1', 'k1', FIELDS)).value.status).toBe('Linked');
    };
    const clients = Array.from({ length: 40 }, () => clientOf(closing));
    // Some waits end before the service closes the connection, some during the closing, and some after it.
    await Promise.all(clients.map((client, index) => waitAndAuthorize(client, (index / 30) * closesAfterMs)));
    expect(closing.unanswered).toEqual([]);
  },
  30_000,
);

test('an authorization arrives at most once if the service closes connections at any moment', async () => {
  const closing = await startClosingService({ closesAfterMs: 60_000, announced: 'timeout=60' });
  const cutting = setInterval(() => closing.cutAny(), 3);
  cleanUps.push(async () => clearInterval(cutting));
  const client = clientOf(closing);
  const tokens = Array.from({ length: 600 }, (_, index) => `token-${index}`);
  const linked = new Set<string>();
  const failures = new Map<string, NoResponse>();
  const authorize = async (token: string) => {
    await client.getCompany('c1').catch(() => undefined);
    await client
      .putAuthorization('c1', 'k1', new Secret({ accessToken: token }))
      .then(() => linked.add(token))
      .catch((error: unknown) => failures.set(token, error as NoResponse));
  };
  const queue = tokens.values();
  const work = async () => {
    for (const token of queue) await authorize(token);
  };
  await Promise.all(Array.from({ length: 12 }, work));

  expect(linked.size + failures.size).toBe(tokens.length);
  expect(failures.size).toBeGreaterThan(0);
  const arrivals = tokens.map((token) => closing.bodies.filter((body) => body.includes(`"${token}"`)).length);
  expect(Math.max(...arrivals)).toBe(1);
  // A failed request that arrived has the reason `dropped`, so that its caller does not repeat it.
  for (const [token, error] of failures) {
    expect(error).toBeInstanceOf(NoResponse);
    if (closing.bodies.some((body) => body.includes(`"${token}"`))) expect(error.reason).toBe('dropped');
  }
}, 60_000);

interface ClosingService {
  readonly url: string;
  /** The bodies of the requests that arrived. */
  readonly bodies: readonly string[];
  /** The requests that arrived on a connection that the service was closing. They got no response. */
  readonly unanswered: readonly string[];
  /** Closes a random open connection at once, whether it is idle or not. */
  cutAny(): void;
}

/** Starts a service that closes a connection when it has been idle for `closesAfterMs`. */
async function startClosingService(options: {
  readonly closesAfterMs: number;
  readonly announced: string | undefined;
  /**
   * How many milliseconds the service ignores requests on a connection before it closes the connection. Default: 300.
   */
  readonly deafMs?: number;
}): Promise<ClosingService> {
  const { closesAfterMs, announced, deafMs = 300 } = options;
  const sockets = new Set<Socket>();
  const closing = new WeakSet<Socket>();
  const timers = new Map<Socket, NodeJS.Timeout>();
  const bodies: string[] = [];
  const unanswered: string[] = [];
  const startTimer = (socket: Socket) => {
    const closeSlowly = () => {
      closing.add(socket);
      if (deafMs === 0) socket.destroy();
      else setTimeout(() => socket.destroy(), deafMs);
    };
    if (closesAfterMs === 0) closeSlowly();
    else timers.set(socket, setTimeout(closeSlowly, closesAfterMs));
  };
  const server: Server = createServer((request, response) => {
    const { socket, method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      if (closing.has(socket)) {
        unanswered.push(`${method} ${url}`);
        return;
      }
      clearTimeout(timers.get(socket));
      const keepAlive = announced === undefined ? {} : { 'keep-alive': announced };
      response.writeHead(200, { 'content-type': 'application/json', connection: 'keep-alive', ...keepAlive });
      response.end(JSON.stringify(BOTH), () => startTimer(socket));
    });
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      clearTimeout(timers.get(socket));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    unanswered,
    cutAny() {
      const open = [...sockets];
      open[Math.floor(Math.random() * open.length)]?.destroy();
    },
  };
}

function clientOf({ url }: ClosingService): CompanyDataClient {
  const client = createCompanyDataClient({ baseUrl: url, apiKey: new Secret('key'), retryBudgetMs: 0 });
  cleanUps.push(() => client.close());
  return client;
}
