/**
 * Fuzzes the service's responses: any bytes, status, headers and body, truncated anywhere. A call of the HTTP client
 * ends within 10 seconds, with a value or one of the client's own errors. A company whose import and verification get
 * such responses reaches a final state, or a state that a person can resolve, once the service responds properly again.
 * See test/support/faults/fuzz.ts for longer runs.
 */
import { createServer, type Server, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import { CompanyDataError, createCompanyDataClient, type CompanyDataClient } from '../../../company-data-client';
import { hasUnsafeCharactersInMultilineText } from '../../../domain/text/untrusted-text';
import { Secret } from '../../../security';
import {
  anyBytes,
  anyJson,
  anyText,
  brokenJson,
  fuzzer,
  NASTY_BYTES,
  NASTY_JSON,
  NASTY_TEXTS,
  withinMs,
} from '../../support/faults/fuzz';
import { useImportRig } from '../../support/migrations/company-import';
import { sendAnswer, type Interceptor } from '../../support/faults/http-proxy';
import { msFromNow, readRow } from '../../support/migrations/ledger';

const answers = fuzzer('service answers');
const KEY = 'hunter2-api-key';
const ENDS_WITHIN_MS = 10_000;

const ID = '5b0c4c1e-7d52-4a55-9f0e-1c2d3e4f5a6b';
const http = (status: number | string, body: string | Buffer, ...headers: string[]): Buffer => {
  const content = Buffer.from(body as string);
  const lines = [`HTTP/1.1 ${status} x`, `content-length: ${content.length}`, 'connection: close', ...headers];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content]);
};
const GOOD = `{"id":"${ID}","name":"A","status":"Linked","key":"qbon","enabled":true,"plan":"paid","role":"administrator","results":[],"totalResults":0,"_links":{}}`;

/** Responses that broke, or could have broken, the HTTP client. */
const CORPUS: readonly Buffer[] = [
  ...NASTY_BYTES,
  ...NASTY_JSON.flatMap((json) => [200, 400, 404, 500].map((status) => http(status, json))),
  ...NASTY_JSON.flatMap((json) => [
    http(
      200,
      `{"id":${json},"name":${json},"status":${json},"results":${json},"totalResults":${json},"_links":${json}}`,
    ),
    http(200, `{"results":[${json}],"totalResults":1,"_links":{"next":{"href":${json}}}}`),
    http(400, `{"statusCode":400,"service":${json},"error":${json},"correlationId":${json},"validation":${json}}`),
  ]),
  ...NASTY_TEXTS.flatMap((text) => [
    http(200, JSON.stringify({ id: text, name: text, status: text, linkUrl: text })),
    http(403, JSON.stringify({ statusCode: 403, service: text, error: text, correlationId: text })),
    http(429, text, `retry-after: ${text}`, `x-rate-limit-reset: ${text}`),
  ]),
  ...['000', '099', '100', '101', '103', '204', '205', '304', '600', '999', '2000', '-1', ''].map((status) =>
    http(status, GOOD),
  ),
  http(200, GOOD, 'content-length: 3'),
  http(200, GOOD, 'transfer-encoding: chunked'),
  http(200, GOOD, 'content-encoding: gzip'),
  http(200, GOOD, 'content-type: application/json; charset=utf-16'),
  http(200, `\uFEFF${GOOD}`),
  http(200, Buffer.from(GOOD, 'utf16le')),
  http(302, '', 'location: http://a.example/'),
  http(302, '', 'location: file:///etc/passwd'),
  http(401, KEY, `www-authenticate: ${KEY}`),
  http(200, GOOD, ...Array.from({ length: 500 }, (_, index) => `x-${index}: ${index}`)),
  http(200, GOOD, `x-long: ${'x'.repeat(100_000)}`),
  http(200, `[${'{},'.repeat(200_000)}{}]`),
  Buffer.concat([http(200, GOOD), http(200, GOOD)]),
  Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffff\r\n'),
  Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n0\r\nx: y\r\n\r\n'),
  Buffer.from('HTTP/2 200\r\n\r\n{}'),
];

const FIELDS = [
  ...[
    'id',
    'name',
    'status',
    'key',
    'enabled',
    'linkUrl',
    'connectionInfo',
    'dataConnectionErrors',
    'results',
    '_links',
  ],
  ...['totalResults', 'dataType', 'currentStatus', 'statusCode', 'service', 'error', 'correlationId', 'settings'],
];
const body = fc.oneof(
  fc
    .array(fc.tuple(fc.constantFrom(...FIELDS), anyJson), { maxLength: 5 })
    .map((fields) => `${GOOD.slice(0, -1)}${fields.map(([name, value]) => `,"${name}":${value}`).join('')}}`),
  anyJson,
  brokenJson,
);
const headerLine = fc
  .tuple(
    fc.constantFrom(
      'content-length',
      'transfer-encoding',
      'content-encoding',
      'retry-after',
      'x-rate-limit-reset',
      'date',
      'x',
    ),
    fc.oneof(
      anyText,
      fc.constantFrom('0', '1', 'chunked', 'gzip', '-1', '9'.repeat(40), 'Fri, 31 Dec 9999 23:59:59 GMT'),
    ),
  )
  .map((parts) => parts.join(': '));
const anyAnswer: fc.Arbitrary<Buffer> = fc.oneof(
  {
    arbitrary: fc
      .record({
        status: fc.oneof(fc.constantFrom(200, 204, 400, 401, 402, 403, 404, 409, 429, 500, 503), fc.nat(1_100)),
        content: body,
        headers: fc.oneof({ arbitrary: fc.constant([]), weight: 2 }, fc.array(headerLine, { maxLength: 2 })),
        cut: fc.oneof({ arbitrary: fc.constant(Infinity), weight: 4 }, fc.nat(400)),
      })
      .map(({ status, content, headers, cut }) => http(status, content, ...headers).subarray(0, cut)),
    weight: 9,
  },
  anyBytes,
);

async function everyOf<T>(list: AsyncIterable<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for await (const result of list) results.push(result);
  return results;
}

describe('a call', () => {
  let server: Server;
  let bytes: Buffer = Buffer.alloc(0);
  let url = '';
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const CALLS: readonly ((client: CompanyDataClient) => Promise<unknown>)[] = [
    (client) => client.account(),
    (client) => everyOf(client.companies()),
    (client) => client.createCompany({ name: 'Bakery' }, { idempotencyKey: ID }),
    (client) => client.getConnection('c1', 'k1'),
    (client) => client.putAuthorization('c1', 'k1', new Secret({ accessToken: 'a' })),
    (client) => client.startSync('c1'),
    (client) => client.dataStatus('c1'),
  ];

  test(
    'ends in time with a value or an error of the client, for any answer',
    async () => {
      let index = 0;
      await answers.tryAll({ corpus: CORPUS, any: anyAnswer, generated: 1_000 }, async (answer) => {
        bytes = answer;
        const client = createCompanyDataClient({
          ...{ baseUrl: url, apiKey: new Secret(KEY), retryBudgetMs: 0, requestTimeoutMs: 2_000 },
          authorizationTimeoutMs: 2_000,
        });
        const began = Date.now();
        const call = CALLS[(index += 1) % CALLS.length];
        const outcome = await call?.(client).catch((error: unknown) => error);
        await client.close();
        expect(Date.now() - began).toBeLessThan(ENDS_WITHIN_MS);
        if (!(outcome instanceof Error)) return;
        expect(outcome).toBeInstanceOf(CompanyDataError);
        const text = `${outcome.message} ${JSON.stringify((outcome as CompanyDataError).toFailure())}`;
        expect(text).not.toContain(KEY);
        expect(hasUnsafeCharactersInMultilineText(text)).toBe(false);
      });
    },
    withinMs(240_000),
  );
});

describe('an import', () => {
  const rig = useImportRig();

  /**
   * Handles each request with the next behaviour. `null` forwards the request. Any other behaviour sends its answer; if
   * `arrives` is true, the request is forwarded first.
   */
  const misbehaving = (queue: (Behaviour | null)[]): Interceptor => {
    return async (response, _request, forward) => {
      const next = queue.shift() ?? null;
      if (next === null) return sendAnswer(response, await forward());
      if (next.arrives) await forward();
      response.socket?.end(next.answer);
    };
  };
  interface Behaviour {
    readonly arrives: boolean;
    readonly answer: Buffer;
  }

  const behaviour = fc.record({ arrives: fc.boolean(), answer: anyAnswer });
  const script = fc.array(fc.option(behaviour, { freq: 2 }), { minLength: 1, maxLength: 8 });
  const TIMES = 3;

  async function becomeDue(id: string): Promise<void> {
    const due = { lease_ends_at: msFromNow(-1), not_before: null, next_check_at: msFromNow(-1) };
    await rig.ledger.db.updateTable('companies').set(due).where('migration_id', '=', id).execute();
    await rig.forgetIdempotencyKeys();
  }

  test(
    'reaches a final state, or one that a person can resolve, after any answers',
    async () => {
      const corpus = CORPUS.filter((_, index) => index % 80 === 0).map((answer) => [null, { arrives: true, answer }]);
      await answers.tryAll({ corpus, any: script, generated: 12 }, async (behaviours) => {
        rig.proxy.reset();
        const { id } = await rig.migration(['sbx-ok-1']);
        const queue = [...behaviours];
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) rig.proxy.on(method, /./, misbehaving(queue));
        for (let time = 0; time < TIMES; time += 1) {
          await rig.importSlice(id);
          await rig.checkDue(id, 60_000);
          await becomeDue(id);
        }
        // From here on, the service answers properly.
        queue.length = 0;
        for (let time = 0; time < TIMES; time += 1) {
          await rig.importSlice(id);
          await rig.verify(id);
          await becomeDue(id);
        }
        const { state, failure, failure_text: why } = await readRow(rig.ledger.db, id, 1);
        expect(['moved', 'failed', 'outcome-unknown']).toContain(state);
        if (state !== 'moved') expect({ failure, hasReason: (why ?? '') !== '' }).toEqual({ failure, hasReason: true });
        expect(hasUnsafeCharactersInMultilineText(why ?? '')).toBe(false);
      });
    },
    withinMs(180_000),
  );
});
