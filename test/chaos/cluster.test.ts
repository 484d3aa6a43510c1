/** The proxies, the request log and the clock of the chaos suite's cluster, with plain servers behind them. */
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  credentialDigest,
  requestLogAt,
  resetConnection,
  startHttpProxy,
  startTcpProxy,
  type HttpProxy,
  type RequestFault,
  type RequestLogEntry,
  type TcpProxy,
} from '../../chaos/cluster';
import { until } from '../support/async';

describe('the proxy between a worker and the service', () => {
  const arrived: string[] = [];
  let service: Server;
  let proxy: HttpProxy;
  let folder: string;
  let logFile: string;

  beforeEach(async () => {
    arrived.length = 0;
    service = createServer((request, response) => {
      const { method, url, headers } = request;
      request.resume().on('end', () => {
        arrived.push(`${method} ${url} ${String(headers['idempotency-key'] ?? '-')}`);
        response.writeHead(200, { 'x-correlation-id': 'c-1' }).end('from the service');
      });
    });
    await listening(service);
    folder = mkdtempSync(path.join(tmpdir(), 'chaos-proxy-'));
    logFile = path.join(folder, 'requests.jsonl');
    writeFileSync(logFile, '');
    const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    proxy = await startHttpProxy({ worker: 'worker-1', target, log: requestLogAt(logFile) });
  });
  afterEach(async () => {
    await proxy.close();
    service.closeAllConnections();
    service.close();
    rmSync(folder, { recursive: true });
  });

  const logged = (): RequestLogEntry[] =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RequestLogEntry);

  /** Sends one request through the proxy; returns the status, the body and the correlation id, or `lost`. */
  async function send(method = 'GET', body?: string): Promise<string> {
    const headers = { 'idempotency-key': 'k-1' };
    try {
      const answer = await fetch(`${proxy.url}/companies?page=2`, { method, headers, ...(body && { body }) });
      return `${answer.status} ${await answer.text()} ${answer.headers.get('x-correlation-id') ?? '-'}`;
    } catch {
      return 'lost';
    }
  }

  const REQUEST = 'GET /companies?page=2 k-1';
  const cases: [string, RequestFault | null, string, string[], Partial<RequestLogEntry>][] = [
    [
      'forwards',
      null,
      '200 from the service c-1',
      [REQUEST],
      { injected: false, status: 200, forwarded: true, delivered: true },
    ],
    ['loses an answer', () => 'loseAnswer', 'lost', [REQUEST], { status: 200, forwarded: true, delivered: false }],
    ['loses a request', () => 'loseRequest', 'lost', [], { status: null, forwarded: false, delivered: false }],
    [
      'injects a response',
      () => ({ status: 502, headers: {}, body: '<html>' }),
      '502 <html> -',
      [],
      { injected: true, status: 502, forwarded: false, delivered: true },
    ],
    [
      'injects a response once the service has done the work',
      () => ({ status: 502, headers: {}, body: '<html>', forward: true }),
      '502 <html> -',
      [REQUEST],
      { injected: true, status: 502, forwarded: true, delivered: true },
    ],
    [
      'delays a request',
      () => ({ delayMs: 50 }),
      '200 from the service c-1',
      [REQUEST],
      { status: 200, forwarded: true, delivered: true },
    ],
  ];
  test.each(cases)('%s, and logs it', async (title, fault, answer, atService, entry) => {
    proxy.setFault(fault);
    const startedAt = performance.now();
    expect(await send()).toBe(answer);
    if (title === 'delays a request') expect(performance.now() - startedAt).toBeGreaterThanOrEqual(49);
    expect(arrived).toEqual(atService);
    await until(async () => logged().length === 1);
    expect(logged()[0]).toMatchObject({
      ...{ worker: 'worker-1', method: 'GET', path: '/companies?page=2', idempotencyKey: 'k-1', credential: null },
      ...entry,
    });
  });

  test('gives a fault the method, path and body of a request', async () => {
    const seen: Parameters<RequestFault>[0][] = [];
    proxy.setFault((request) => {
      seen.push(request);
      return 'forward';
    });
    await send('POST', '{"name":"Kite"}');
    expect(seen).toEqual([{ method: 'POST', path: '/companies?page=2', body: '{"name":"Kite"}' }]);
  });

  test('logs the digest of a credential, and never the credential', async () => {
    const url = `${proxy.url}/companies/1/connections/2/authorization`;
    await fetch(url, { method: 'PUT', body: '{"refreshToken":"secret-1","realmId":"9"}' });
    await until(async () => logged().length === 1);
    expect(logged()[0]?.credential).toBe(credentialDigest({ realmId: '9', refreshToken: 'secret-1' }));
    expect(readFileSync(logFile, 'utf8')).not.toContain('secret-1');
  });

  test('breaks the connection, and logs no status, when the service does not answer', async () => {
    service.removeAllListeners('request');
    service.on('request', (request) => request.socket.destroy());
    expect(await send()).toBe('lost');
    expect(logged()).toMatchObject([{ status: null, forwarded: true, delivered: false }]);
  });

  test('breaks the connection, and logs that nothing was sent, when the service is down', async () => {
    service.close();
    service.closeAllConnections();
    expect(await send()).toBe('lost');
    expect(logged()).toMatchObject([{ status: null, forwarded: false, delivered: false }]);
  });
});

describe('the proxy between a worker and a database or Temporal', () => {
  const echo = createTcpServer((socket) => socket.on('error', () => undefined).pipe(socket));
  let proxy: TcpProxy;

  beforeAll(async () => {
    await listening(echo);
    proxy = await startTcpProxy(() => (echo.address() as AddressInfo).port);
  });
  afterAll(async () => {
    await proxy.close();
    echo.close();
  });

  async function open() {
    const socket = connect({ host: '127.0.0.1', port: proxy.port });
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    const answers = async (): Promise<string> => {
      socket.write('ping');
      return String((await once(socket, 'data'))[0]);
    };
    return { socket, ended, answers };
  }

  test('cuts open connections and forwards new connections', async () => {
    const first = await open();
    expect(await first.answers()).toBe('ping');
    proxy.cut();
    await first.ended;
    const second = await open();
    expect(await second.answers()).toBe('ping');
    second.socket.destroy();
  });

  test('closes a connection that is being ended, without an error that leaves the socket open', async () => {
    const { socket, ended } = await open();
    await once(socket, 'connect');
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    socket.end();
    resetConnection(socket);
    await ended;
    expect(errors).toEqual([]);
  });

  test('refuses new connections until told otherwise, and keeps open connections', async () => {
    const before = await open();
    expect(await before.answers()).toBe('ping');
    proxy.refuse(true);
    const refused = await open();
    await refused.ended;
    expect(await before.answers()).toBe('ping');
    proxy.refuse(false);
    const after = await open();
    expect(await after.answers()).toBe('ping');
    for (const { socket } of [before, after]) socket.destroy();
  });
});

test.each([360_000, -360_000])('shifts the clock of a process by %i ms', (skewMs) => {
  const preload = path.join(__dirname, '../../dist/chaos/cluster/clock-skew.js');
  const script = `
    const now = Date.now();
    console.log(JSON.stringify([now, new Date().getTime(), Date.parse(Date()), new Date(5).getTime(),
      new Date() instanceof Date, new Date(now).constructor === Date, Date.UTC(1970, 0, 1)]));`;
  const startedAt = Date.now();
  const printed = execFileSync(process.execPath, ['--require', preload, '--eval', script], {
    env: { ...process.env, TOKENFERRY_CLOCK_SKEW_MS: String(skewMs) },
  });
  const elapsedMs = Date.now() - startedAt;
  const [now, constructed, text, ...unchanged] = JSON.parse(String(printed)) as number[];
  for (const time of [now, constructed]) {
    expect(time).toBeGreaterThanOrEqual(startedAt + skewMs);
    expect(time).toBeLessThanOrEqual(startedAt + elapsedMs + skewMs);
  }
  expect(Math.abs((text ?? 0) - (now ?? 0))).toBeLessThanOrEqual(2_000); // the text has whole seconds
  expect(unchanged).toEqual([5, true, true, 0]);
});

async function listening(server: { listen(port: number, host: string, done: () => void): unknown }): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}
