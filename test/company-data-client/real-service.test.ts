import { randomUUID } from 'node:crypto';
import {
  BadRequest,
  type CompanyDataClient,
  createCompanyDataClient,
  type DataStatus,
  KeyRefused,
  NotFound,
  NotReady,
} from '../../company-data-client';
import { createAccount, createKey, type Service, startService } from '../../company-data-service';
import { Secret } from '../../security/secret';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';
import { SERVICE_CIPHER } from '../support/servers/keys';

const QUICKBOOKS = 'qhyg';
const UNKNOWN_COMPANY = randomUUID();

let database: TestDatabase;
let service: Service;
let client: CompanyDataClient;

beforeAll(async () => {
  database = await createTestDatabase('service');
  service = await startService({
    databaseUrl: database.url,
    cipher: SERVICE_CIPHER,
    basePath: '/api/v1',
    syncBaseMs: 20,
    syncMsPerRecord: 1,
  });
  const accountId = await createAccount(database.url, { name: 'Acme', plan: 'paid' });
  const { key } = await createKey(database.url, { accountId, role: 'administrator' });
  client = clientWith(key);
  await client.putApplicationCredentials(QUICKBOOKS, {
    clientId: 'acme',
    clientSecret: new Secret('acme-secret'),
    environment: 'production',
  });
});
afterAll(async () => {
  await client.close();
  await service.close();
  await database.drop();
});

const clientWith = (key: string) => createCompanyDataClient({ baseUrl: service.url, apiKey: new Secret(key) });

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

async function newConnection(name: string): Promise<{ companyId: string; connectionId: string }> {
  const company = await client.createCompany({ name }, { idempotencyKey: randomUUID() });
  const companyId = company.value.id;
  const connection = await client.createConnection(companyId, QUICKBOOKS, { idempotencyKey: randomUUID() });
  return { companyId, connectionId: connection.value.id };
}

const tokens = (token: string) => new Secret({ accessToken: `${token}-access`, refreshToken: token, realmId: 'org-1' });

/** Waits until no sync is in progress and returns the status of the data sets. */
async function syncedStatus(companyId: string): Promise<DataStatus> {
  for (;;) {
    const { value } = await client.dataStatus(companyId);
    const inProgress = Object.values(value).filter(
      ({ currentStatus }) => !/Complete|Error|NotSupported/.test(currentStatus),
    );
    if (inProgress.length === 0) return value;
  }
}

test('the HTTP client reads the account of its key', async () => {
  const { value, correlationId, durationMs } = await client.account();
  expect(value).toMatchObject({ plan: 'paid', role: 'administrator' });
  expect(correlationId).toMatch(/^[0-9a-f-]{36}$/);
  expect(durationMs).toBeGreaterThan(0);
});

test('the HTTP client reads the callback URL of a platform', async () => {
  const { value } = await client.integration(QUICKBOOKS);
  expect(value).toMatchObject({
    key: QUICKBOOKS,
    enabled: true,
    callbackUrl: expect.stringContaining('http') as string,
  });
});

test('the HTTP client moves a company: create, connect, authorize, sync, count', async () => {
  const { companyId, connectionId } = await newConnection('Moved');
  await expect(client.countRecords(companyId, 'invoices')).rejects.toThrow(NotReady);
  const { value: linked } = await client.putAuthorization(companyId, connectionId, tokens('sbx-ok-7.moved'));
  expect(linked).toMatchObject({ id: connectionId, status: 'Linked', dataConnectionErrors: [] });
  await client.startSync(companyId);
  expect(await syncedStatus(companyId)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
  expect((await client.countRecords(companyId, 'invoices')).value).toBe(7);
  const { value: page } = await client.records(companyId, 'invoices', { page: 2, pageSize: 5 });
  expect(page.results).toHaveLength(2);
  const history = await collect(client.syncHistory(companyId));
  const sync = history.find(({ dataType }) => dataType === 'invoices');
  expect(sync).toMatchObject({ isCompleted: true, isErrored: false });
  expect((await client.getSync(companyId, sync?.id ?? '')).value).toEqual(sync);
});

test('the HTTP client reads sync settings', async () => {
  const { companyId } = await newConnection('Settings');
  const { value } = await client.syncSettings(companyId);
  expect(value.overridesDefaults).toBe(false);
  expect(value.settings.map(({ dataType }) => dataType)).toContain('invoices');
});

test('the HTTP client pushes a record once, even if the call is repeated', async () => {
  const { companyId, connectionId } = await newConnection('Pushed');
  await client.putAuthorization(companyId, connectionId, tokens('sbx-ok-1.pushed'));
  const idempotencyKey = randomUUID();
  const push = () => client.push(companyId, connectionId, 'invoices', { invoiceNumber: 'INV-1' }, { idempotencyKey });
  const { value: pushed } = await push();
  expect(pushed).toMatchObject({ status: 'Pending', statusCode: 202 });
  expect((await push()).value.pushOperationKey).toBe(pushed.pushOperationKey);
});

test('an unlinked connection cannot be synced', async () => {
  const { companyId, connectionId } = await newConnection('Unlinked');
  await client.putAuthorization(companyId, connectionId, tokens('sbx-ok-1.unlinked'));
  expect((await client.unlinkConnection(companyId, connectionId)).value.status).toBe('Unlinked');
  await expect(client.startSync(companyId)).rejects.toThrow(NotReady);
});

test("a refused credential leaves the connection pending, with the platform's error and a link", async () => {
  const { companyId, connectionId } = await newConnection('Refused');
  await client.putAuthorization(companyId, connectionId, tokens('sbx-revoked.refused'));
  const { value } = await client.getConnection(companyId, connectionId);
  expect(value.status).toBe('PendingAuth');
  expect(value.linkUrl).toMatch(/^http/);
  expect(value.dataConnectionErrors).toMatchObject([{ statusText: 'GrantRefused' }]);
});

test('starting the syncs of a company without a linked connection throws NotReady', async () => {
  const { companyId } = await newConnection('Not linked');
  await expect(client.startSync(companyId)).rejects.toThrow(NotReady);
});

test('repeated creations with the same idempotency key create one company', async () => {
  const idempotencyKey = randomUUID();
  const tags = { row: randomUUID() };
  const create = () => client.createCompany({ name: 'Once', tags }, { idempotencyKey });
  const ids = (await Promise.all([create(), create(), create()])).map(({ value }) => value.id);
  expect(new Set(ids).size).toBe(1);
  expect((await collect(client.companies({ tags }))).map(({ id }) => id)).toEqual([ids[0]]);
});

test('the HTTP client finds companies by all of their tags, over several pages', async () => {
  const wave = randomUUID();
  const create = (row: string) =>
    client.createCompany({ name: 'Twins', tags: { wave, row } }, { idempotencyKey: randomUUID() });
  await Promise.all(['1', '2', '3', '4', '5'].map(create));
  expect(await collect(client.companies({ tags: { wave }, pageSize: 2 }))).toHaveLength(5);
  expect(await collect(client.companies({ tags: { wave, row: '4' } }))).toMatchObject([{ tags: { wave, row: '4' } }]);
});

test('the HTTP client reads and deletes a company', async () => {
  const { companyId, connectionId } = await newConnection('Deleted');
  expect((await client.getCompany(companyId)).value).toMatchObject({ name: 'Deleted' });
  expect(await collect(client.connections(companyId))).toMatchObject([{ id: connectionId, status: 'PendingAuth' }]);
  await client.deleteCompany(companyId);
  await expect(client.getCompany(companyId)).rejects.toThrow(NotFound);
});

test("a refusal has its own type and the service's text", async () => {
  await expect(client.getCompany(UNKNOWN_COMPANY)).rejects.toThrow(NotFound);
  const { companyId, connectionId } = await newConnection('Incomplete');
  const put = client.putAuthorization(companyId, connectionId, new Secret({ accessToken: 'sbx-ok-1' }));
  await expect(put).rejects.toThrow(BadRequest);
  await expect(put).rejects.toThrow(/refreshToken.*realmId/);
  const stranger = clientWith('wrong');
  await expect(stranger.account()).rejects.toThrow(KeyRefused);
  await stranger.close();
});
