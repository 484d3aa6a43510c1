import { createKey, revokeKey } from '../../../company-data-service';
import { callerWith, runService, type Caller, type RunningService } from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath, type PathParameters } from './endpoints';
import { error } from './response-schemas';

let service: RunningService;
let names: PathParameters;
beforeAll(async () => {
  service = await runService();
  names = await companyWithEverything(service.administrator);
});
afterAll(() => service.close());

const encoded = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });
const rows = ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);
const rowsOf = (prefix: string) => rows.filter(([, { path }]) => path.startsWith(prefix));

/** Sends an invalid body, because every refusal must come before the body is read. */
async function refused(call: Caller, { method, path }: { method: string; path: string }) {
  const answer = await call(method, fillPath(path, names), method === 'GET' ? {} : { body: '{"bad' });
  return { ...error.parse(answer.body), status: answer.status };
}

describe('5.1 The API key', () => {
  it('is accepted only as HTTP Basic credentials without a user name or a colon', async () => {
    const { key } = await createKey(service.database.url, { accountId: service.accountId, role: 'client' });
    const withoutKey = callerWith(service.url);
    expect(await withoutKey('GET', '/companies', encoded(key))).toMatchObject({ status: 200 });
    expect(await withoutKey('GET', '/companies', encoded(`${key}:`))).toMatchObject({ status: 401 });
    expect(await withoutKey('GET', '/companies', encoded(`user:${key}`))).toMatchObject({ status: 401 });
    const base64 = Buffer.from(key).toString('base64');
    for (const authorization of [base64, `Bearer ${base64}`, `Basic ${key}`, `Basic ${base64} x`]) {
      expect(await withoutKey('GET', '/companies', { headers: { authorization } })).toMatchObject({ status: 401 });
    }
  });
});

describe('5.2 A missing or wrong API key', () => {
  it.each([
    ['missing', {}],
    ['wrong', encoded('wrong')],
    ['malformed: not base64', { headers: { authorization: 'Basic ???' } }],
    ['malformed: empty', { headers: { authorization: 'Basic ' } }],
    ['malformed: bytes that are not text', { headers: { authorization: 'Basic /////w==' } }],
    ['malformed: without a scheme', { headers: { authorization: Buffer.from('key').toString('base64') } }],
    ['sent with another scheme', { headers: { authorization: 'Bearer abc' } }],
  ])('is answered with 401 if it is %s', async (_what, request) => {
    const { status, body } = await callerWith(service.url)('GET', '/companies', request);
    expect(status).toBe(401);
    expect(error.parse(body)).toMatchObject({ statusCode: 401, service: 'PublicApi' });
  });

  it.each(rows)('gets a 401 from %s', async (_name, endpoint) => {
    expect(await refused(callerWith(service.url, 'wrong'), endpoint)).toMatchObject({ status: 401 });
  });
});

describe('5.3 A revoked key', () => {
  let revoked: Caller;
  beforeAll(async () => {
    const { id, key } = await createKey(service.database.url, { accountId: service.accountId, role: 'client' });
    await revokeKey(service.database.url, id);
    revoked = callerWith(service.url, key);
  });

  it.each(rows)('gets a 403 from %s', async (_name, endpoint) => {
    expect(await refused(revoked, endpoint)).toMatchObject({ status: 403, service: 'PublicApi' });
  });
});

describe('5.3 A key of another account', () => {
  let stranger: Caller;
  beforeAll(async () => {
    stranger = await service.newAccount('paid');
  });

  it.each(rowsOf('/companies/{companyId}'))('gets a 403 from %s', async (_name, endpoint) => {
    expect(await refused(stranger, endpoint)).toMatchObject({ status: 403, service: 'PublicApi' });
  });

  it('sees nothing of this account in its lists', async () => {
    expect((await stranger('GET', '/companies')).body.totalResults).toBe(0);
    expect((await stranger('GET', '/account')).body).toMatchObject({ companiesUsed: 0 });
  });
});

describe('5.3 A client’s key', () => {
  const onlyAdministrators = [
    // The connection belongs to a platform that has only the managed route.
    'PUT /companies/{companyId}/connections/{connectionId}/authorization',
    'PUT /integrations/{platformKey}/credentials',
  ];

  it.each(rows.filter(([name]) => onlyAdministrators.includes(name)))('gets a 403 from %s', async (_name, endpoint) => {
    expect(await refused(service.client, endpoint)).toMatchObject({ status: 403, service: 'PublicApi' });
  });

  it.each(rows.filter(([name]) => !onlyAdministrators.includes(name)))('is accepted by %s', async (_name, endpoint) => {
    const { method, path, body, success } = endpoint;
    const own = await companyWithEverything(service.administrator);
    expect(await service.client(method, fillPath(path, own), body ? { body } : {})).toMatchObject({ status: success });
  });
});
