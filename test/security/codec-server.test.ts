/** The codec server over HTTP: which callers can decrypt payloads, and how calls are refused. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload, type KeyLike } from 'jose';
import { pino } from 'pino';
import { createPayloadCodec, parsePayloadKeys, Secret } from '../../security';
import {
  startCodecServer,
  createTokenVerifier,
  type CodecServer,
  type CodecServerOptions,
} from '../../security/codec-server';
import { mapConcurrently } from '../support/async';

const [ISSUER, AUDIENCE, ORIGIN] = ['https://identity.example', 'tokenferry-codec', 'https://temporal.example'];
const payloadKeys = parsePayloadKeys(new Secret(randomBytes(32).toString('base64')));
const log: { readonly subject: string | null; readonly status: number; readonly payloads: number }[] = [];
const logger = pino(
  { base: null },
  { write: (line: string) => void log.push(JSON.parse(line) as (typeof log)[number]) },
);

let folder: string;
let keySet: string;
let key: KeyLike;
let otherKey: KeyLike;
const running: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-codec-'));
  keySet = path.join(folder, 'keys.json');
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey;
  otherKey = (await generateKeyPair('ES256')).privateKey;
  writeFileSync(keySet, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), alg: 'ES256' }] }));
});
beforeEach(() => log.splice(0));
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(running.splice(0).map((each) => each.close()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(overrides: Partial<CodecServerOptions> = {}): Promise<CodecServer> {
  const verifyToken = await createTokenVerifier({ issuer: ISSUER, audience: AUDIENCE, keySet });
  const server = await startCodecServer({
    payloadKeys,
    origins: [ORIGIN],
    verifyToken,
    host: '127.0.0.1',
    port: 0,
    log: logger,
    ...overrides,
  });
  running.push(server);
  return server;
}

const token = (overrides: JWTPayload = {}, signedWith = key, expires: string | number = '5 minutes'): Promise<string> =>
  new SignJWT({ namespaces: ['ours'], sub: 'cleo', iss: ISSUER, aud: AUDIENCE, ...overrides })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime(expires)
    .sign(signedWith);

async function ask(
  { url }: CodecServer,
  call: string,
  payloads: unknown,
  { bearer, namespace = 'ours', ...more }: { bearer?: string; namespace?: string | null; origin?: string } = {},
) {
  const response = await fetch(`${url}/${call}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(namespace === null ? {} : { 'x-namespace': namespace }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...more,
    },
    body: JSON.stringify({ payloads }),
  });
  const body = (await response.json()) as { readonly payloads?: readonly Wire[]; readonly message?: string };
  return { status: response.status, body, headers: response.headers };
}

interface Wire {
  readonly metadata: Readonly<Record<string, string>>;
  readonly data: string;
}

const toWire = ({ metadata, data }: Payload): Wire => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});
const textOf = (wire: Wire | undefined): string => Buffer.from(wire?.data ?? '', 'base64').toString();

async function encrypted(value: unknown): Promise<Wire> {
  const [payload] = await createPayloadCodec(payloadKeys).encode([defaultPayloadConverter.toPayload(value)]);
  return toWire(payload ?? {});
}

test('decrypts and encrypts payloads for a reader of the namespace', async () => {
  const server = await serve();
  const bearer = await token();
  const { status, body, headers } = await ask(server, 'decode', [await encrypted('marker')], { bearer });
  expect(status).toBe(200);
  expect(textOf(body.payloads?.[0])).toBe('"marker"');
  expect(headers.get('cache-control')).toBe('no-store');
  const plain = toWire(defaultPayloadConverter.toPayload('typed'));
  const { body: encoded } = await ask(server, 'encode', [plain], { bearer });
  expect(textOf(encoded.payloads?.[0])).not.toContain('typed');
  expect(textOf((await ask(server, 'decode', encoded.payloads, { bearer })).body.payloads?.[0])).toBe('"typed"');
  expect(log.map(({ subject, status: answered, payloads }) => [subject, answered, payloads])).toEqual([
    ['cleo', 200, 1],
    ['cleo', 200, 1],
    ['cleo', 200, 1],
  ]);
});

test.each<[string, () => Promise<string> | undefined, number, RegExp]>([
  ['no token', () => undefined, 401, /a bearer token is required/],
  ['text that is not a token', () => Promise.resolve('nonsense'), 401, /not valid/],
  ['a token signed with another key', () => token({}, otherKey), 401, /not valid/],
  ['a token that has expired', () => token({}, key, Math.floor(Date.now() / 1000) - 60), 401, /not valid: .*exp/],
  ['a token from another issuer', () => token({ iss: 'https://elsewhere' }), 401, /not valid: .*iss/],
  ['a token for another audience', () => token({ aud: 'another' }), 401, /not valid: .*aud/],
  ['a token without a list of namespaces', () => token({ namespaces: 'ours' }), 401, /claim "namespaces"/],
  ['a token for another namespace', () => token({ namespaces: ['b'] }), 403, /does not give access to namespace ours/],
])('refuses and logs a call with %s', async (_, bearerOf, status, why) => {
  const server = await serve();
  const bearer = await bearerOf();
  const payload = await encrypted('marker');
  for (const call of ['decode', 'encode']) {
    const answer = await ask(server, call, [payload], bearer === undefined ? {} : { bearer });
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(why)]);
    expect(JSON.stringify(answer.body)).not.toContain('marker');
  }
  expect(log.map((line) => line.status)).toEqual([status, status]);
});

test.each([null, ''])('asks for the header X-Namespace if it is missing or empty: %j', async (namespace) => {
  const server = await serve();
  const bearer = await token({ namespaces: ['ours', ''] });
  const { status, body } = await ask(server, 'decode', [await encrypted('marker')], { bearer, namespace });
  expect([status, body]).toEqual([400, { message: 'the header X-Namespace is missing; it must name the namespace' }]);
});

test('refuses a token with the algorithm `none`', async () => {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = encode({ alg: 'none' });
  const payload = encode({ namespaces: ['ours'], sub: 'x', iss: ISSUER, aud: AUDIENCE, exp: 9e9 });
  expect((await ask(await serve(), 'decode', [], { bearer: `${header}.${payload}.` })).status).toBe(401);
});

test('reads the key set from a URL', async () => {
  const keys = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(readFileSync(keySet)),
  );
  await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
  running.push({ close: async () => void keys.close() });
  const address = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`;
  const verifyToken = await createTokenVerifier({ issuer: ISSUER, audience: AUDIENCE, keySet: address });
  const server = await serve({ verifyToken });
  expect((await ask(server, 'decode', [await encrypted('any')], { bearer: await token() })).status).toBe(200);
});

test('rejects a key set from a remote http URL or from an unreadable file', async () => {
  const rules = { issuer: ISSUER, audience: AUDIENCE };
  await expect(createTokenVerifier({ ...rules, keySet: 'http://identity.example/keys' })).rejects.toThrow(
    'must begin with https:',
  );
  await expect(createTokenVerifier({ ...rules, keySet: path.join(folder, 'none.json') })).rejects.toThrow(
    'cannot be read',
  );
});

test('responds with 503 while the key set cannot be fetched', async () => {
  const verifyToken = await createTokenVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    keySet: 'http://127.0.0.1:9/keys',
  });
  const server = await serve({ verifyToken });
  const answer = await ask(server, 'decode', [await encrypted('marker')], { bearer: await token() });
  expect([answer.status, answer.body.message]).toEqual([
    503,
    'tokens cannot be verified at the moment; try again later',
  ]);
});

test('refuses a page from another origin, even with a valid token', async () => {
  const bearer = await token();
  const payload = await encrypted('marker');
  for (const server of [await serve(), await serve({ verifyToken: null })]) {
    const evil = await ask(server, 'decode', [payload], { bearer, origin: 'https://evil.example' });
    expect([evil.status, evil.body.message]).toEqual([
      403,
      'pages from this origin may not call the codec server; allow an origin with --origin',
    ]);
    expect((await ask(server, 'decode', [payload], { bearer, origin: ORIGIN })).status).toBe(200);
  }
});

test.each([
  ['only this machine can reach the address', {}],
  ['the network is trusted', { trustNetwork: true, host: '0.0.0.0' }],
])('refuses a page whose host name resolves to this machine if tokens are not checked and %s', async (_, options) => {
  const server = await serve({ verifyToken: null, ...options });
  const { port } = new URL(server.url);
  const decodeAs = (host: string) =>
    new Promise<readonly [status: number | undefined, body: string]>((resolve, reject) => {
      const headers = { host: `${host}:${port}`, 'content-type': 'application/json' };
      const sending = httpRequest(`http://127.0.0.1:${port}/decode`, { method: 'POST', headers }, (response) => {
        response.setEncoding('utf8').once('data', (body: string) => resolve([response.statusCode, body]));
      });
      sending.on('error', reject).end('{"payloads": []}');
    });
  const refused = [403, expect.stringContaining('the Host header must name this machine')];
  for (const host of ['evil.example', '127.evil.example', 'codec-server'])
    expect(await decodeAs(host)).toEqual(refused);
  for (const host of ['localhost', '127.0.0.1']) expect(await decodeAs(host)).toEqual([200, '{"payloads":[]}']);
});

test('limits calls with invalid tokens per address without blocking valid tokens', async () => {
  const server = await serve();
  const statuses: number[] = [];
  for (let call = 0; call < 70; call += 1) statuses.push((await ask(server, 'decode', [], { bearer: 'bad' })).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  expect((await ask(server, 'decode', [], { bearer: await token() })).status).toBe(200);
});

test('logs the route and subject of a call, but no other text from its URL', async () => {
  const server = await serve();
  await ask(server, 'decode?marker', [], { bearer: await token({ namespaces: ['other'] }) });
  await ask(server, 'marker', [], { bearer: await token() });
  expect(log).toMatchObject([
    { subject: 'cleo', namespace: 'ours', call: '/decode', status: 403 },
    { subject: 'cleo', namespace: 'ours', call: null, status: 404 },
  ]);
});

test('allows CORS only for the configured origins', async () => {
  const server = await serve();
  const preflight = (origin: string) =>
    fetch(`${server.url}/decode`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-namespace' },
    });
  const allowed = await preflight(ORIGIN);
  expect(allowed.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(allowed.headers.get('access-control-allow-headers')).toContain('x-namespace');
  expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).not.toBe(
    'https://evil.example',
  );
});

test.each([
  ['not a list', 'nothing', 400],
  ['not base64', [{ metadata: {}, data: '*' }], 400],
  ['too large', [{ data: 'A'.repeat(7_000_000) }], 413],
])('refuses a body that is %s', async (_, payloads, status) => {
  expect((await ask(await serve(), 'decode', payloads, { bearer: await token() })).status).toBe(status);
});

test('responds with 422 to a payload that was encrypted under an unknown key, and names the key', async () => {
  const otherKeys = parsePayloadKeys(new Secret(randomBytes(32).toString('base64')));
  const [payload] = await createPayloadCodec(otherKeys).encode([defaultPayloadConverter.toPayload('any')]);
  const answer = await ask(await serve(), 'decode', [toWire(payload ?? {})], { bearer: await token() });
  expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(otherKeys.newest.id)]);
});

test('limits the calls of each reader', async () => {
  // All calls are counted in the same minute, however long they take.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const server = await serve();
  const bearer = await token();
  const statusesOf = async (calls: number) => {
    const askOnce = async () => (await ask(server, 'decode', [], { bearer })).status;
    return [...new Set(await mapConcurrently(20, Array.from({ length: calls }), askOnce))];
  };
  expect(await statusesOf(1_200)).toEqual([200]);
  expect(await statusesOf(5_000)).toEqual([200, 429]);
  expect((await ask(server, 'decode', [], { bearer: await token({ sub: 'another' }) })).status).toBe(200);
});

test('listens only on this machine if tokens are not checked', async () => {
  const server = await serve({ verifyToken: null });
  expect((await ask(server, 'decode', [await encrypted('marker')])).status).toBe(200);
  await expect(serve({ verifyToken: null, host: '0.0.0.0' })).rejects.toThrow('127.0.0.1');
});
