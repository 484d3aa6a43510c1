/**
 * Fuzzes requests to the service: any method, path, query, header and body, as raw bytes. The service answers with a
 * success or with its own error body, never with 5xx, and keeps working. See test/support/faults/fuzz.ts for longer
 * runs.
 */
import { connect } from 'node:net';
import fc from 'fast-check';
import { createKey } from '../../../company-data-service';
import { runService, type RunningService } from '../running-service';
import {
  anyBytes,
  anyJson,
  anyText,
  brokenJson,
  fuzzer,
  NASTY_JSON,
  NASTY_TEXTS,
  withinMs,
} from '../../support/faults/fuzz';
import { companyWithEverything, ENDPOINTS, type PathParameters } from './endpoints';
import { error } from './response-schemas';
import { COMPANY, encoded, input, type Input, PATHS, raw } from './raw-requests';

const requests = fuzzer('service requests');

let service: RunningService;
let keys: Readonly<Record<'client' | 'administrator', string>>;
let known: PathParameters;
beforeAll(async () => {
  service = await runService();
  const key = async (role: 'client' | 'administrator') =>
    Buffer.from((await createKey(service.database.url, { accountId: service.accountId, role })).key).toString('base64');
  keys = { client: await key('client'), administrator: await key('administrator') };
  known = await companyWithEverything(service.administrator);
});
afterAll(() => service.close());

/** Requests that a service easily answers in the wrong form. */
const CORPUS: readonly Input[] = [
  ...NASTY_TEXTS.flatMap((text) => [
    input('GET', '/companies', { query: `query=name=${encoded(text)}&tags=${encoded(text)}` }),
    input('GET', '/companies', { query: `page=${encoded(text)}&orderBy=${encoded(text)}` }),
    input('GET', `/companies/${encoded(text)}/data/invoices`),
    input('GET', `${COMPANY}/data/invoices`, {
      query: `${encoded(text)}=${encoded(text)}&query=totalAmount>${encoded(text)}`,
    }),
    input('GET', `${COMPANY}/data/invoices/${encoded(text)}`),
    input('POST', '/companies', { text: JSON.stringify({ name: text, description: text, tags: { [text]: text } }) }),
    input('POST', `${COMPANY}/connections/{connectionId}/push/invoices`, {
      text: JSON.stringify({ invoiceNumber: text, [text]: 1 }),
    }),
    input('PUT', `${COMPANY}/connections/{connectionId}/authorization`, {
      text: JSON.stringify({ accessToken: text, refreshToken: `sbx-ok-1.${text}`, realmId: text }),
    }),
    input('PUT', '/integrations/qhyg/credentials', {
      text: JSON.stringify({ clientId: text, clientSecret: text, environment: 'sandbox' }),
    }),
    input('GET', '/account', {
      headers: [['authorization', `Basic ${Buffer.from(text).toString('base64')}`]],
      key: null,
    }),
    input('POST', '/companies', { headers: [['Idempotency-Key', encoded(text)]], text: '{"name":"a"}' }),
  ]),
  ...NASTY_JSON.flatMap((text) => [
    ...ENDPOINTS.filter(({ body }) => body).map(({ method, path }) => input(method, path, { text })),
    input('POST', '/companies', { text: `{"name":${text},"tags":${text}}` }),
    input('POST', `${COMPANY}/syncSettings`, {
      text: `{"settings":[{"dataType":"invoices","fetchOnFirstLink":true,"syncSchedule":${text},"syncOrder":${text}}]}`,
    }),
    input('POST', `${COMPANY}/connections/{connectionId}/push/invoices`, {
      text: `{"totalAmount":${text},"issueDate":${text}}`,
    }),
  ]),
  ...['CONNECT', 'TRACE', 'OPTIONS', 'HEAD', 'PROPFIND', 'PURGE', 'QUERY', 'get', 'FOO', ''].flatMap((method) => [
    input(method, '/companies'),
    input(method, '*'),
  ]),
  input('GET', 'http://a.example/companies'),
  input('GET', '//companies'),
  input('GET', '/%'),
  input('GET', '/%c0%ae%c0%ae/'),
  input('GET', '/companies/%00'),
  input('GET', '/companies', {
    headers: [
      ['host', ''],
      ['host', 'b'],
    ],
  }),
  input('GET', '/companies', {
    headers: [
      ['upgrade', 'websocket'],
      ['connection', 'upgrade'],
    ],
  }),
  input('POST', '/companies', { headers: [['expect', '100-continue']], text: '{"name":"a"}' }),
  input('POST', '/companies', { headers: [['expect', 'a miracle']], text: '{"name":"a"}' }),
  input('POST', '/companies', { headers: [['content-encoding', 'gzip']], text: '{"name":"a"}' }),
  input('POST', '/companies', {
    headers: [['content-type', 'application/json; charset=utf-16']],
    text: '{"name":"a"}',
  }),
  input('POST', '/companies', { text: `{"name":"${'x'.repeat(1_100_000)}"}` }),
  input('POST', '/companies', { text: '\uFEFF{"name":"a"}' }),
  input('POST', '/companies', { body: Buffer.from('{"name":"a"}', 'utf16le') }),
  raw(''),
  raw('GET / HTTP/9.9\r\n\r\n'),
  raw('GET /companies HTTP/1.1\r\n\r\n'),
  raw('GET /companies HTTP/1.0\r\n\r\n'),
  raw('GET /companies HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n'),
  raw('GET /companies HTTP/1.1\r\nhost: a\r\n x: folded\r\n\r\n'),
  raw('POST /companies HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
  raw('POST /companies HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
  raw('POST /companies HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
  raw('POST /companies HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999999999999\r\n\r\n'),
  raw('POST /companies HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n'),
  raw(Buffer.from('16030100a5010000a1', 'hex')),
  raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
];

const text = fc.oneof({ arbitrary: anyText, weight: 2 }, fc.constantFrom('invoices', 'qhyg', '1', 'name', 'created'));
const segment = text.map(encoded);
const path = fc.oneof(
  { arbitrary: fc.constantFrom(...PATHS), weight: 6 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom(...PATHS), segment)
      .map(([of, each]) => of.replace(/\{\w+\}(?=[^{]*$)/, () => each)),
    weight: 3,
  },
  fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
  fc.constantFrom('/sandbox/qhyg/token', '/link/{companyId}', '/healthz', '/docs', '/openapi.json', '/'),
);
const parameter = fc
  .tuple(
    fc.oneof(
      {
        arbitrary: fc.constantFrom('page', 'pageSize', 'query', 'orderBy', 'tags', 'status', 'connectionId'),
        weight: 5,
      },
      text,
    ),
    fc.oneof(text, fc.constantFrom('name=a', 'id!=1', 'created>2020-01-01', '{a=b}||c=d', '-created', 'uid=1 && b=2')),
  )
  .map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
const FIELDS = [
  ...['name', 'description', 'tags', 'platformKey', 'status', 'accessToken', 'refreshToken', 'realmId', 'settings'],
  ...['overridesDefaults', 'dataType', 'syncSchedule', 'clientId', 'clientSecret', 'environment', 'invoiceNumber'],
  ...['totalAmount', 'issueDate', 'lineItems', 'currency', 'companyId'],
];
const GOOD = ENDPOINTS.flatMap(({ body }) => Object.entries(body ?? {})).map(([name, value]): [string, string] => [
  name,
  JSON.stringify(value),
]);
const body = fc.oneof(
  {
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(...GOOD), fc.tuple(fc.constantFrom(...FIELDS), anyJson)), { maxLength: 6 })
      .map((fields) => Buffer.from(`{${fields.map(([name, value]) => `"${name}":${value}`).join()}}`)),
    weight: 6,
  },
  anyJson.map((json) => Buffer.from(json)),
  brokenJson.map((json) => Buffer.from(json)),
  anyBytes,
);
const header = fc
  .tuple(
    fc.constantFrom(
      ...[
        'content-type',
        'content-length',
        'transfer-encoding',
        'content-encoding',
        'authorization',
        'idempotency-key',
      ],
      ...['accept', 'expect', 'host', 'connection', 'x-forwarded-for', 'origin', 'cookie', 'range', 'x\u00e9', 'a b'],
    ),
    fc.oneof(text, fc.constantFrom('application/json', 'text/plain', 'gzip', 'chunked', '0', '*/*', '100-continue')),
  )
  .map(([name, value]): readonly [string, string] => [name, value]);

const anyRequest: fc.Arbitrary<Input> = fc.oneof(
  {
    arbitrary: fc.record({
      method: fc.oneof(
        { arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'), weight: 9 },
        fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'x'),
      ),
      path,
      query: fc.array(parameter, { maxLength: 3 }).map((parameters) => parameters.join('&')),
      headers: fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, fc.array(header, { maxLength: 3 })),
      key: fc.constantFrom('client', 'administrator', 'administrator', 'administrator', null),
      body: fc.option(body, { freq: 4 }),
    }),
    weight: 12,
  },
  anyBytes.map((bytes) => raw(bytes)),
);

function bytesOf({ method, path: template, query, headers, key, body: sent, raw: bytes }: Input): Buffer {
  if (bytes) return bytes;
  const filled = template.replace(/\{(\w+)\}/g, (braces, name: string) => known[name] ?? braces);
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [
    `${method} ${filled}${query === '' ? '' : `?${query}`} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(own.has('host') ? [] : ['host: a']),
    ...(own.has('connection') ? [] : ['connection: close']),
    ...(key === null || own.has('authorization') ? [] : [`authorization: Basic ${keys[key]}`]),
    ...(sent === null || own.has('content-type') ? [] : ['content-type: application/json']),
    ...(sent === null || own.has('content-length') || own.has('transfer-encoding')
      ? []
      : [`content-length: ${sent.length}`]),
  ];
  // Latin-1 writes each character of a header as one byte.
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent ?? Buffer.alloc(0)]);
}

/** The time to wait for a response to bytes that are possibly half a request. Then the test ends the connection. */
const HALF_A_REQUEST_MS = 200;

const isComplete = ({ raw: bytes, headers }: Input): boolean => !bytes && headers.length === 0;

/**
 * Sends a request and returns the complete answer; empty if the service has closed the connection without an answer.
 */
async function send(tried: Input): Promise<Buffer> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytesOf(tried)));
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    // The service can refuse the request while it is still being sent.
    socket.on('error', () => undefined).on('close', () => resolve(Buffer.concat(pieces)));
    if (!isComplete(tried)) setTimeout(() => socket.end(), HALF_A_REQUEST_MS);
    socket.setTimeout(10_000, () => {
      socket.destroy();
      reject(new Error('the service neither answers nor closes the connection'));
    });
  });
}

async function assertAnswered(tried: Input): Promise<void> {
  const answer = (await send(tried)).toString('utf8').replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  // The service does not have to answer bytes that are possibly half a request.
  if (answer === '' && !isComplete(tried)) return;
  const [, code = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
  const status = Number(code);
  expect({ status, isExpected: status >= 200 && status < 500 }).toEqual({ status, isExpected: true });
  if (status < 400 || tried.method === 'HEAD') {
    if (tried.method === 'DELETE' && status < 300) known = await companyWithEverything(service.administrator);
    return;
  }
  const [head = '', content = ''] = answer.split(/\r\n\r\n([^]*)/);
  const { correlationId, statusCode } = error.parse(JSON.parse(content.split('\r\nHTTP/1.1 ')[0] ?? ''));
  expect(statusCode).toBe(status);
  expect(head.toLowerCase()).toContain(`x-correlation-id: ${correlationId}`);
}

async function assertHealthy(): Promise<void> {
  expect((await service.client('GET', '/healthz')).status).toBe(200);
  expect((await service.client('GET', '/companies')).status).toBe(200);
}

test(
  'any request gets a success or the error body, and the service keeps working',
  async () => {
    await requests.tryAll({ corpus: CORPUS, any: anyRequest, generated: 600 }, assertAnswered);
    await assertHealthy();
  },
  withinMs(240_000),
);
