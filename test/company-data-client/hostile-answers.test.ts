/** Responses with any status, headers and body. A call returns usable values or throws a typed error. */
import fc from 'fast-check';
import { type CompanyDataClient, CompanyDataError } from '../../company-data-client';
import { recordPageSchema } from '../../company-data-client/schemas';
import { Secret } from '../../security/secret';
import { CORRELATION_ID, html, json, page, type Reply } from './misbehaving-service';
import { COMPANY, CONNECTION, failureOf, ID, useMisbehavingService } from './use-misbehaving-service';

const { service, clientWith } = useMisbehavingService({ retryBudgetMs: 0, firstRetryWaitMs: 5 });

async function everyOf<T>(list: AsyncIterable<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for await (const result of list) results.push(result);
  return results;
}

function textsIn(value: unknown): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each === 'string') texts.push(each);
    return each;
  });
  return texts;
}

const idempotencyKey = CORRELATION_ID;
const CALLS: readonly ((client: CompanyDataClient) => Promise<unknown>)[] = [
  (client) => client.account(),
  (client) => client.integration('qbon'),
  (client) => everyOf(client.companies({ tags: { uid: '1' } })),
  (client) => client.createCompany({ name: 'Bakery' }, { idempotencyKey }),
  (client) => client.getCompany('c1'),
  (client) => client.deleteCompany('c1'),
  (client) => everyOf(client.connections('c1')),
  (client) => client.createConnection('c1', 'qbon', { idempotencyKey }),
  (client) => client.getConnection('c1', 'k1'),
  (client) => client.putAuthorization('c1', 'k1', new Secret({ accessToken: 'a' })),
  (client) => client.startSync('c1'),
  (client) => client.dataStatus('c1'),
  (client) => everyOf(client.syncHistory('c1')),
  (client) => client.countRecords('c1', 'invoices'),
  (client) => client.syncSettings('c1'),
];

const anything = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(-1, 1e300, 2 ** 53, '\u0000', '\ud800', '__proto__', '..', 'javascript:alert(1)', '9'.repeat(400)),
);
const FIELDS = [
  ...['id', 'name', 'status', 'key', 'enabled', 'plan', 'role', 'linkUrl', 'connectionInfo', 'dataConnectionErrors'],
  ...['dataType', 'currentStatus', 'totalResults', 'results', '_links', 'settings', 'statusCode', 'error', 'service'],
];
/** Bodies with most fields of a valid response, some of them replaced by any values. */
const nearlyGood = fc.dictionary(fc.constantFrom(...FIELDS), anything, { maxKeys: 4 }).map((replaced) => ({
  ...{ ...COMPANY, ...CONNECTION, key: 'qbon', enabled: true, plan: 'paid', role: 'administrator' },
  ...{ statusCode: 404, error: 'Not found', service: 'PublicApi', correlationId: CORRELATION_ID },
  ...{ results: [], totalResults: 0, _links: {}, settings: [], overridesDefaults: false },
  ...replaced,
}));
const headerText = fc.oneof(
  fc.stringMatching(/^[ -~]{0,30}$/),
  fc.constantFrom('-1', '0', '9'.repeat(400), '1e400', 'Fri, 31 Dec 9999 23:59:59 GMT', '0000-00-00'),
);
const answer = fc.record({
  status: fc.constantFrom(200, 201, 202, 301, 400, 401, 402, 403, 404, 405, 409, 418, 429, 500, 502, 503, 599),
  body: fc.oneof(
    nearlyGood.map((value) => JSON.stringify(value)),
    anything.map((value) => JSON.stringify(value)),
    fc.string(),
  ),
  headers: fc.record(
    {
      'retry-after': headerText,
      'x-rate-limit-limit': headerText,
      'x-rate-limit-remaining': headerText,
      'x-rate-limit-reset': headerText,
      'x-correlation-id': headerText,
      date: headerText,
    },
    { requiredKeys: [] },
  ),
});

test('any answer results in a value that can be stored or in a typed error', async () => {
  await fc.assert(
    fc.asyncProperty(answer, fc.constantFrom(...CALLS), async ({ status, body, headers }, call) => {
      const client = clientWith();
      service.answer((response) => {
        response.writeHead(status, headers);
        response.end(body);
      });
      const outcome = await call(client).catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(CompanyDataError);
        expect(() => JSON.stringify((outcome as CompanyDataError).toFailure())).not.toThrow();
        expect((outcome as CompanyDataError).retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
      }
      // Postgres stores neither NUL nor half of a surrogate pair.
      for (const text of textsIn(outcome instanceof Error ? outcome.message : outcome))
        expect(text).not.toMatch(/\p{Cc}|\p{Cs}/u);
    }),
    { numRuns: 600 },
  );
});

test.each<[string, unknown]>([
  ['a negative number', -1],
  ['a fraction', 1.5],
  ['more than the ledger can hold', 2 ** 31],
  ['a text', '3'],
])('the number of records is not read from a page whose total is %s', async (_what, totalResults) => {
  service.answer(json(200, { results: [], totalResults, _links: {} }));
  const failure = (await failureOf(clientWith().countRecords('c1', 'invoices'))).toFailure();
  expect(failure).toMatchObject({ kind: 'unreadable', status: 200 });
});

test('the largest number of records that the ledger can hold is read', () => {
  const read = recordPageSchema.parse({ results: [], totalResults: 2 ** 31 - 1, _links: {} });
  expect(read.totalResults).toBe(2_147_483_647);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['a script as its link', { linkUrl: 'javascript:alert(1)' }, { linkUrl: undefined }],
  ['a link that is not a text', { linkUrl: 7 }, { linkUrl: undefined }],
  ['an endless link', { linkUrl: `https://a.example/${'x'.repeat(20_000)}` }, { linkUrl: undefined }],
  [
    'control characters',
    { connectionInfo: { organizationId: 'a\u0000b\ud800' } },
    { connectionInfo: { organizationId: 'a b ' } },
  ],
  [
    'an endless organization',
    { connectionInfo: { organizationId: 'x'.repeat(20_000) } },
    { connectionInfo: { organizationId: 'x'.repeat(10_000) } },
  ],
])('a connection with %s is read without it', async (_what, given, expected) => {
  service.answer(json(200, { ...CONNECTION, ...given }));
  const { value } = await clientWith().getConnection('c1', 'k1');
  expect(value).toMatchObject({ id: ID, status: 'Linked', ...expected });
});

test('an expiry of the account that is not a date is ignored', async () => {
  service.answer(json(200, { plan: 'trial', role: 'administrator', expiresAt: 'yesterday' }));
  expect((await clientWith().account()).value).toMatchObject({ plan: 'trial', expiresAt: undefined });
});

test.each<[string, Reply]>([
  ['a page', html(404, '<h1>404 page not found</h1>')],
  ['a page with a success status', html(200, '<h1>Log in</h1>')],
  ['JSON of another service', json(200, { message: 'ok' })],
  ['a list', json(200, [])],
  ['a value', json(200, null)],
])("only a call that expects no body accepts %s as the service's response", async (_what, reply) => {
  service.answer(reply);
  const client = clientWith();
  for (const call of CALLS) {
    const outcome = await call(client).catch((error: unknown) => error);
    if (outcome instanceof CompanyDataError) expect(outcome.toFailure()).not.toMatchObject({ isFromService: true });
    else expect(service.arrived.at(-1)).toMatchObject({ method: expect.stringMatching(/DELETE|POST/) as string });
  }
});

test('a list with the pages of another list is rejected', async () => {
  service.answer(page([{ key: 'qbon', name: 'QuickBooks Online', enabled: true }], 1));
  await expect(everyOf(clientWith().companies())).rejects.toThrow(/in an unexpected form/);
});
