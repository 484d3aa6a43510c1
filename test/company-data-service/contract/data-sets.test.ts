import { randomUUID } from 'node:crypto';
import { DataStatusSchema, PullOperationSchema } from '../../../company-data-service/http/schemas/data';
import { RECORD_SCHEMAS } from '../../../company-data-service/platform/record-schemas';
import { DATA_TYPES } from '../../../company-data-service/platform/data-types';
import {
  ANY_STRING,
  newAuthorizedConnection,
  byDataType,
  newConnection,
  quickBooksCredential,
  runService,
  waitForSyncs,
  newSyncedConnection,
  type Body,
  type RunningService,
} from '../running-service';
import { error } from './response-schemas';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const get = (path: string) => service.client('GET', path);
const states = (status: unknown): Record<string, string> =>
  Object.fromEntries(Object.values(byDataType(status)).map(({ dataType, currentStatus }) => [dataType, currentStatus]));

describe('4.6 POST data/all', () => {
  it('starts the syncs, which an authorization does not do', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-ok-3');
    expect(Object.values(states((await get(`${company}/dataStatus`)).body))).toEqual(DATA_TYPES.map(() => 'Initial'));
    expect(await get(`${company}/data/invoices`)).toMatchObject({ status: 409 });
    expect((await get(`${company}/data/history`)).body.totalResults).toBe(0);

    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 204, text: '' });
    expect(states(await waitForSyncs(service.client, company))).toEqual(
      Object.fromEntries(DATA_TYPES.map((type) => [type, 'Complete'])),
    );
    expect(await get(`${company}/data/invoices`)).toMatchObject({ status: 200, body: { totalResults: 3 } });
  });

  it('returns 409 if no connection is linked', async () => {
    const { company } = await newConnection(service.client);
    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 409 });
    expect(await service.client('POST', `${company}/data/queue/invoices`)).toMatchObject({ status: 409 });
    expect((await get(`${company}/dataStatus`)).body).toEqual({});
  });

  it('accepts a content type without a body', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-ok-3');
    const headers = { 'content-type': 'application/json' };
    expect(await service.client('POST', `${company}/data/all`, { headers })).toMatchObject({ status: 204 });
  });

  it('does not start a second sync of a data set that is already syncing', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-slow-200-ok-3');
    await service.client('POST', `${company}/data/all`);
    await service.client('POST', `${company}/data/all`);
    expect((await get(`${company}/data/history`)).body.totalResults).toBe(DATA_TYPES.length);
  });
});

describe('4.6 A sync', () => {
  it('can be queued for one data type, but not twice at the same time', async () => {
    const { company, connection } = await newAuthorizedConnection(service.administrator, 'sbx-slow-200-ok-3');
    const queue = (query = '') => service.client('POST', `${company}/data/queue/invoices${query}`);
    const { status, body } = await queue(`?connectionId=${connection.split('/').at(-1)}`);
    expect(status).toBe(200);
    expect(PullOperationSchema.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      status: 'Queued',
      progress: 0,
      isCompleted: false,
      isErrored: false,
      statusDescription: null,
    });
    expect(await queue()).toMatchObject({ status: 409 });
    expect(await queue(`?connectionId=${randomUUID()}`)).toMatchObject({ status: 404 });

    await waitForSyncs(service.client, company);
    const ended = (await get(`${company}/data/history/${body.id}`)).body;
    expect(ended).toMatchObject({
      ...body,
      status: 'Complete',
      progress: 100,
      isCompleted: true,
      completed: ANY_STRING,
    });
    expect((await get(`${company}/data/history`)).body).toMatchObject({ results: [ended], totalResults: 1 });
    expect(await get(`${company}/data/history/${randomUUID()}`)).toMatchObject({ status: 404 });
    expect(await get(`${company}/data/bills`)).toMatchObject({ status: 409 });
  });

  it('cannot be queued for a connection that is not linked, even if another connection of the company is', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-ok-3');
    const { body } = await service.client('POST', `${company}/connections`, { body: { platformKey: 'qhyg' } });
    expect(await service.client('POST', `${company}/data/queue/invoices?connectionId=${body.id}`)).toMatchObject({
      status: 409,
      body: { error: `Connection ${body.id} is not linked.` },
    });
  });

  it('takes time in proportion to its records and reports its progress', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-ok-600');
    const { body } = await service.client('POST', `${company}/data/queue/invoices`);
    const seen = new Set<number>();
    let operation: Body = body;
    while (!operation.isCompleted) {
      const invoices = await get(`${company}/data/invoices`);
      operation = (await get(`${company}/data/history/${body.id}`)).body;
      seen.add(operation.progress);
      if (!operation.isCompleted) expect(invoices).toMatchObject({ status: 409 });
    }
    // A page has 250 records. The service was started with 20 ms per data set and 1 ms per record.
    expect([0, 41, 83, 100]).toEqual(expect.arrayContaining([...seen]));
    expect(seen.size).toBeGreaterThan(2);
    const tookMs = Date.parse(operation.completed) - Date.parse(operation.requested);
    expect(tookMs).toBeGreaterThanOrEqual(620);
    expect(tookMs).toBeLessThan(2_000);
    expect((await get(`${company}/data/invoices?pageSize=5000`)).body.results).toHaveLength(600);
  });

  it('sets the last successful sync of the data set, the connection and the company', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    const { body } = await get(`${company}/dataStatus`);
    expect(DataStatusSchema.parse(body)).toEqual(body);
    expect(body.invoices.latestSyncId).toBe(body.invoices.latestSuccessfulSyncId);
    const lastSync = Object.values(byDataType(body))
      .map(({ lastSuccessfulSync }) => lastSuccessfulSync)
      .sort()
      .at(-1);
    expect((await get(connection)).body.lastSync).toBe(lastSync);
    expect((await get(company)).body.lastSync).toBe(lastSync);
  });

  it('leaves the data of an earlier sync readable while it runs and after it fails', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    const credential = {
      accessToken: 'a',
      refreshToken: `sbx-expires-during-sync-4.${randomUUID()}`,
      realmId: 'realm-1',
    };
    await service.administrator('PUT', `${connection}/authorization`, { body: credential });
    await service.client('POST', `${company}/data/all`);
    expect(await get(`${company}/data/invoices`)).toMatchObject({ status: 200, body: { totalResults: 3 } });
    const status = await waitForSyncs(service.client, company);
    expect(status['invoices']).toMatchObject({ currentStatus: 'AuthError', lastSuccessfulSync: ANY_STRING });
    expect(await get(`${company}/data/invoices`)).toMatchObject({ status: 200, body: { totalResults: 3 } });
  });

  it('ends with AuthError when the grant ends, and deauthorizes the connection', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-expires-during-sync-4');
    expect(states((await get(`${company}/dataStatus`)).body)).toMatchObject({ invoices: 'AuthError' });
    expect((await get(connection)).body).toMatchObject({
      status: 'Deauthorized',
      dataConnectionErrors: [{ status: 'Active', statusText: 'GrantRefused' }],
    });
    const { results } = (await get(`${company}/data/history`)).body;
    expect(results.find(({ dataType }) => dataType === 'invoices')).toMatchObject({
      isErrored: true,
      isCompleted: false,
      errorMessage: ANY_STRING,
    });
  });

  it('completes without an error even if the platform returns too few records', async () => {
    const { company } = await newSyncedConnection(service.administrator, 'sbx-short-3-of-9');
    expect(states((await get(`${company}/dataStatus`)).body)).toMatchObject({ invoices: 'Complete' });
    expect((await get(`${company}/data/invoices`)).body.totalResults).toBe(3);
  });

  it('deletes records that the platform no longer has', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-ok-5');
    const credential = quickBooksCredential('sbx-ok-2');
    await service.administrator('PUT', `${connection}/authorization`, { body: credential });
    await service.client('POST', `${company}/data/all`);
    await waitForSyncs(service.client, company);
    expect((await get(`${company}/data/invoices`)).body.totalResults).toBe(2);
  });
});

describe('4.6 A sync after a sync that failed halfway', () => {
  it('replaces all records that the failed sync had fetched', async () => {
    // The first of three pages is stored. The grant ends before the second page.
    const { company, connection } = await newAuthorizedConnection(service.administrator, 'sbx-expires-during-sync-600');
    await service.client('POST', `${company}/data/queue/invoices`);
    expect(await waitForSyncs(service.client, company)).toMatchObject({ invoices: { currentStatus: 'AuthError' } });
    expect(await get(`${company}/data/invoices`)).toMatchObject({ status: 409 });
    await service.administrator('PUT', `${connection}/authorization`, { body: quickBooksCredential('sbx-ok-2') });
    await service.client('POST', `${company}/data/all`);
    await waitForSyncs(service.client, company);
    expect((await get(`${company}/data/invoices`)).body.totalResults).toBe(2);
  });
});

describe('4.3 Records', () => {
  let company: string;
  beforeAll(async () => {
    ({ company } = await newSyncedConnection(service.administrator, 'sbx-ok-16'));
  });

  it.each(DATA_TYPES)('match their schema: %s', async (dataType) => {
    const { results, totalResults } = (await get(`${company}/data/${dataType}`)).body;
    expect(totalResults).toBeGreaterThan(0);
    expect(results).toHaveLength(totalResults);
    for (const record of results) expect(RECORD_SCHEMAS[dataType].strict().parse(record)).toEqual(record);
  });

  it('are counted and paged after they have been filtered by their fields', async () => {
    const { body } = await get(`${company}/data/invoices?status=Paid&pageSize=3`);
    expect(body).toMatchObject({ totalResults: 8, pageSize: 3 });
    expect(body.results.map(({ status }) => status)).toEqual(['Paid', 'Paid', 'Paid']);
    expect(body._links.next?.href).toBe(`${company}/data/invoices?page=2&pageSize=3&status=Paid`);
    const [first] = body.results;
    const same = await get(
      `${company}/data/invoices?totalAmount=${first?.totalAmount}&invoiceNumber=${first?.invoiceNumber}`,
    );
    expect(same.body.results).toEqual([first]);
  });

  it('cannot be filtered by unknown fields, which the error lists', async () => {
    const { status, body } = await get(
      `${company}/data/invoices?colour=red&customerRef=x&totalAmount=lots&status=Paid`,
    );
    expect(status).toBe(400);
    expect(body.validation.errors.map(({ itemId }) => itemId)).toEqual(['colour', 'customerRef', 'totalAmount']);
  });

  it('can be read individually if they are invoices', async () => {
    const [invoice] = (await get(`${company}/data/invoices`)).body.results;
    expect(await get(`${company}/data/invoices/${invoice?.id}`)).toMatchObject({ status: 200, body: invoice });
  });

  it('are the same for two connections to the same organization', async () => {
    const twin = await newSyncedConnection(service.administrator, 'sbx-ok-16');
    expect((await get(`${twin.company}/data/invoices`)).body.results).toEqual(
      (await get(`${company}/data/invoices`)).body.results,
    );
  });
});

describe('1.1.4, 3, 4.6 A data set', () => {
  it('returns 409 until POST data/all has been called and the sync is complete', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-slow-100-ok-300');
    const invoices = () => service.client('GET', `${company}/data/invoices`);
    const notReady = await invoices();
    expect(notReady.status).toBe(409);
    expect(error.parse(notReady.body)).toMatchObject({ service: 'PublicApi', canBeRetried: 'True' });

    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 204, text: '' });
    let responsesNotReady = 0;
    for (;;) {
      const response = await invoices();
      const { isCompleted } = (await service.client('GET', `${company}/data/history?query=dataType%3Dinvoices`)).body
        .results[0]!;
      if (isCompleted) break;
      expect(response.status).toBe(409);
      responsesNotReady += 1;
    }
    expect(responsesNotReady).toBeGreaterThan(0);
    expect(await invoices()).toMatchObject({ status: 200, body: { totalResults: 300 } });
  });
});
