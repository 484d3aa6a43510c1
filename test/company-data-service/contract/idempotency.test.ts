import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { until } from '../../support/async';
import { newCompany, newConnection, quickBooksCredential, runService, type RunningService } from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath } from './endpoints';
import { error } from './response-schemas';
import { execute } from '../../support/servers/database';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const withKey = (body: unknown, key: string = randomUUID()) => ({ body, headers: { 'idempotency-key': key } });
const companies = async () => (await service.client('GET', '/companies')).body.totalResults;

/** Selects the locks that statements wait for in this database. `pg_locks` contains the locks of all databases. */
const LOCKS_WAITED_FOR =
  'select from pg_locks join pg_database on database = oid where not granted and datname = current_database()';

describe('Idempotency-Key', () => {
  it('makes the service execute a creation once and repeat its response', async () => {
    const request = withKey({ name: 'Once' });
    const first = await service.client('POST', '/companies', request);
    const count = await companies();
    const second = await service.client('POST', '/companies', request);
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(await companies()).toBe(count);
  });

  it('makes the service execute a creation once even if several requests arrive at the same time', async () => {
    const request = withKey({ name: 'Together' });
    const before = await companies();
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.client('POST', '/companies', request)));
    expect(await companies()).toBe(before + 1);
    const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    expect(new Set(ids).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
  });

  it('is refused with a different body, and if it is not a UUID', async () => {
    const key = randomUUID();
    await service.client('POST', '/companies', withKey({ name: 'A' }, key));
    expect(await service.client('POST', '/companies', withKey({ name: 'B' }, key))).toMatchObject({ status: 400 });
    expect(await service.client('POST', '/companies', withKey({ name: 'B' }, 'mine'))).toMatchObject({ status: 400 });
  });

  it('is separate for each account, method and path', async () => {
    const request = withKey({ name: 'Scoped' });
    const { body } = await service.client('POST', '/companies', request);
    const stranger = await service.newAccount('paid');
    expect((await stranger('POST', '/companies', request)).body.id).not.toBe(body.id);
    expect((await service.client('PATCH', `/companies/${body.id}`, request)).body.id).toBe(body.id);
  });

  it('can be used again after a creation has failed', async () => {
    const trial = await service.newAccount('trial');
    const ids = [];
    for (let index = 0; index < 50; index += 1) ids.push(await newCompany(trial));
    const request = withKey({ name: 'Later' });
    expect(await trial('POST', '/companies', request)).toMatchObject({ status: 402 });
    await trial('DELETE', `/companies/${ids[0]}`);
    expect(await trial('POST', '/companies', request)).toMatchObject({ status: 200 });
  });

  it('is remembered for 90 minutes', async () => {
    const request = withKey({ name: 'Kept' });
    const { body } = await service.client('POST', '/companies', request);
    const age = (minutes: number) =>
      execute(
        service.database.url,
        `update company_data_service.idempotent_responses set created_at = now() - interval '${minutes} minutes'`,
      );
    await age(89);
    expect((await service.client('POST', '/companies', request)).body.id).toBe(body.id);
    await age(91);
    expect((await service.client('POST', '/companies', request)).body.id).not.toBe(body.id);
  });

  it('causes a 409 while the first request is in progress, and the same response afterwards', async () => {
    const request = withKey({ name: 'Under way' });
    const database = new Client({ connectionString: service.database.url });
    await database.connect();
    // Block the creation of companies until this transaction ends.
    await database.query('begin; lock table company_data_service.companies in share mode');
    const first = service.client('POST', '/companies', request);
    await until(async () => (await database.query(LOCKS_WAITED_FOR)).rowCount === 1);
    const second = await service.client('POST', '/companies', request);
    expect(second.status).toBe(409);
    expect(error.parse(second.body)).toMatchObject({ canBeRetried: 'True' });
    await database.query('commit');
    await database.end();
    const { status, text } = await first;
    expect(status).toBe(200);
    expect(await service.client('POST', '/companies', request)).toMatchObject({ status, text });
  });

  it('is ignored by an authorization', async () => {
    const { connection } = await newConnection(service.administrator);
    const headers = { 'idempotency-key': 'no UUID' };
    const put = await service.administrator('PUT', `${connection}/authorization`, {
      body: quickBooksCredential('sbx-ok-1'),
      headers,
    });
    expect(put).toMatchObject({ status: 200, body: { status: 'Linked' } });
  });
});

describe('Idempotency-Key on every POST and PATCH', () => {
  const CONNECTION = '/companies/{companyId}/connections/{connectionId}';
  const ANOTHER_BODY: Readonly<Record<string, object>> = {
    'POST /companies': { name: 'Another' },
    'PATCH /companies/{companyId}': { name: 'Another' },
    'POST /companies/{companyId}/connections': { platformKey: 'exgd' },
    'POST /companies/{companyId}/syncSettings': { settings: [] },
    [`POST ${CONNECTION}/push/{dataType}`]: { invoiceNumber: 'INV-2' },
  };
  const rows = ENDPOINTS.filter(({ method }) => method === 'POST' || method === 'PATCH').map(
    (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
  );

  it.each(rows)(
    '%s repeats its response, and refuses a different body with 400',
    async (_name, { method, path, body, success }) => {
      const names = await companyWithEverything(service.administrator);
      const request = { ...(body && { body }), headers: { 'idempotency-key': randomUUID() } };
      const first = await service.administrator(method, fillPath(path, names), request);
      expect(first.status).toBe(success);
      // Change the state of the connection, which must not affect the repeated response.
      await service.administrator('PATCH', fillPath(CONNECTION, names), { body: { status: 'Unlinked' } });
      const second = await service.administrator(method, fillPath(path, names), request);
      expect(second).toMatchObject({ status: success, text: first.text });
      const another = ANOTHER_BODY[`${method} ${path}`];
      if (!another) return;
      const refused = await service.administrator(method, fillPath(path, names), { ...request, body: another });
      expect(refused.status).toBe(400);
      expect(error.parse(refused.body).validation?.errors).toMatchObject([{ itemId: 'Idempotency-Key' }]);
    },
  );
});
