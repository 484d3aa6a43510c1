/** Hostile requests. The service answers quickly, with the error body if it refuses a request, and keeps working. */
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { createKey } from '../../../company-data-service';
import { answerUnreadableRequest } from '../../../company-data-service/http/errors/error-answers';
import { newConnection, runService, type RunningService } from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath } from './endpoints';
import { error } from './response-schemas';

let service: RunningService;
let connection: string;
let credentials: string;
beforeAll(async () => {
  service = await runService();
  ({ connection } = await newConnection(service.client));
  const { key } = await createKey(service.database.url, { accountId: service.accountId, role: 'client' });
  credentials = Buffer.from(key).toString('base64');
});
afterAll(() => service.close());

const nested = (open: string, close: string, depth: number, inside = '1'): string =>
  open.repeat(depth) + inside + close.repeat(depth);

describe('a deeply nested body', () => {
  test.each([33, 1_000, 100_000])('is refused with %i levels', async (depth) => {
    for (const body of [
      `{"name":"x","tags":${nested('[', ']', depth)}}`,
      `{"name":"x","more":${nested('{"a":', '}', depth)}}`,
    ]) {
      const answer = await service.client('POST', '/companies', { body });
      expect(answer.status).toBe(400);
      expect(error.parse(answer.body).validation?.errors).toEqual([
        { message: 'The body is nested more than 32 levels deep.' },
      ]);
    }
  });

  test('is accepted if the brackets are inside a string', async () => {
    const body = { name: 'Acme', description: '[{"\\'.repeat(50) };
    expect((await service.client('POST', '/companies', { body })).status).toBe(200);
  });

  test('is refused even in a record, whose unknown fields are not validated', async () => {
    const { status } = await service.client('POST', `${connection}/push/invoices`, {
      body: `{"lines":${nested('[', ']', 50_000)}}`,
    });
    expect(status).toBe(400);
  });
});

describe('a body that is not valid UTF-8', () => {
  test.each([
    ['Latin-1', '436166e9'],
    ['an incomplete character', '436166c3'],
    ['half a surrogate pair', 'eda080'],
    ['an overlong form', 'c0af'],
  ])('is refused, and nothing is stored: %s', async (_what, hex) => {
    const before = (await service.client('GET', '/companies')).body.totalResults;
    const body = Buffer.concat([Buffer.from('{"name":"A'), Buffer.from(hex, 'hex'), Buffer.from('"}')]);
    const head = `POST /companies HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Basic ${credentials}\r\n`;
    const type = `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    const answer = await raw(Buffer.concat([Buffer.from(head + type), body]));
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*The body is not valid UTF-8\./);
    expect((await service.client('GET', '/companies')).body.totalResults).toBe(before);
  });
});

describe('a text in a credential or record that is too long', () => {
  test('is refused, because it would make lists of connections and records arbitrarily large', async () => {
    const authorize = (changes: object) =>
      service.administrator('PUT', `${connection}/authorization`, {
        body: { accessToken: 'a', refreshToken: 'sbx-ok-1.long', realmId: '1', ...changes },
      });
    for (const changes of [{ realmId: 'x'.repeat(1_001) }, { accessToken: 'x'.repeat(20_001) }]) {
      const { status, body } = await authorize(changes);
      expect({ status, field: body.validation.errors[0]?.itemId }).toEqual({
        status: 400,
        field: Object.keys(changes)[0],
      });
    }
    expect((await authorize({ realmId: 'x'.repeat(1_000), accessToken: 'x'.repeat(20_000) })).status).toBe(200);
    const pushed = await service.client('POST', `${connection}/push/invoices`, {
      body: { invoiceNumber: 'x'.repeat(1_001) },
    });
    expect(pushed.status).toBe(400);
  });
});

describe('a very long request', () => {
  const long = 'a'.repeat(10_000);
  test.each<[string, string, number]>([
    ['a long id', `/companies/${'a'.repeat(5_000)}`, 400],
    ['a long path', `/companies/${'a/'.repeat(5_000)}`, 404],
    ['a long query', `/companies?query=name=${long}`, 200],
    ['a query with many parts', `/companies?query=${'name=a||'.repeat(1_000)}name=b`, 400],
    ['many parameters', `/companies?${'page=1&'.repeat(2_000)}`, 400],
    ['the largest page number', '/companies?page=9007199254740991&pageSize=5000', 200],
    ['a page number with many digits', `/companies?page=${'9'.repeat(5_000)}`, 400],
  ])('does not break the service: %s', async (_what, path, status) => {
    const answer = await service.client('GET', path);
    expect(answer.status).toBe(status);
    if (status !== 200) error.parse(answer.body);
  });

  test.each<[string, string]>([
    ['a long header', `GET /companies HTTP/1.1\r\nhost: a\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`],
    [
      'a long authorization',
      `GET /companies HTTP/1.1\r\nhost: a\r\nauthorization: Basic ${'QUFB'.repeat(6_000)}\r\n\r\n`,
    ],
    ['a long URL', `GET /companies/${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`],
    ['many headers', `GET /companies HTTP/1.1\r\nhost: a\r\n${'x-many: a\r\n'.repeat(3_000)}\r\n`],
  ])('is refused with 400 and the error body: %s', async (_what, bytes) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    error.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')).trim()));
  });

  test('is refused if its body is too long, even without a content length', async () => {
    const piece = `${(64 * 1024).toString(16)}\r\n${'a'.repeat(64 * 1024)}\r\n`;
    const head = 'POST /sandbox/qhyg/token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
    const answer = await raw(`${head}transfer-encoding: chunked\r\n\r\n${piece.repeat(20)}0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a request that cannot be read', () => {
  const messagesOf = (answer: string): readonly unknown[] | undefined => {
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    return error.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')).trim())).validation?.errors;
  };

  test.each([
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n', 'The method CONNECT is not supported.'],
    ['invalid HTTP', 'hello\r\n\r\n', 'The request is not valid HTTP.'],
    ['a long URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 'The URL or the headers are too long.'],
  ])('is refused with the reason: %s', async (_what, bytes, message) => {
    expect(messagesOf(await raw(bytes))).toEqual([{ message }]);
  });

  test('is refused with the reason if it did not arrive in time', async () => {
    const connection = new PassThrough();
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    answerUnreadableRequest(pino({ enabled: false }))(late, connection);
    expect(messagesOf(await text(connection))).toEqual([{ message: 'The request did not arrive in time.' }]);
  });
});

test('every response has headers against caching, framing and sniffing', async () => {
  const at = await companyWithEverything(service.administrator);
  for (const { method, path } of ENDPOINTS) {
    const { headers } = await service.administrator(method, fillPath(path, at), method === 'GET' ? {} : { body: {} });
    expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
      path,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src '") as string,
    });
    expect(headers.get('cache-control')).toBe('no-store');
  }
  const nowhere = await service.client('GET', '/nowhere');
  expect(nowhere.headers.get('x-content-type-options')).toBe('nosniff');
  // The documentation page runs only its own scripts.
  const page = await fetch(`${service.url}/docs/`);
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self'/);
});

/** Sends raw bytes and reads the response as text. */
async function raw(bytes: string | Buffer): Promise<string> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    // The service can refuse the request while the client is still sending.
    socket.on('error', () => undefined).on('close', () => resolve(answer));
    socket.setTimeout(5_000, () => socket.destroy());
  });
}
