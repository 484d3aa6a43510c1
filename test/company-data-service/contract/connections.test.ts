import { DATA_TYPES } from '../../../company-data-service/platform/data-types';
import {
  activeErrors,
  byDataType,
  newAuthorizedConnection,
  newCompany,
  newConnection,
  newSyncedConnection,
  quickBooksCredential,
  runService,
  type RunningService,
} from '../running-service';
import { connection as connectionSchema } from './response-schemas';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

describe('4.4 A new connection', () => {
  it('is pending, and is listed with its company', async () => {
    const { connection, company } = await newConnection(service.client);
    const { body } = await service.client('GET', connection);
    connectionSchema.parse(body);
    expect(body).toMatchObject({ status: 'PendingAuth', integrationKey: 'qhyg', platformName: 'QuickBooks Online' });
    expect(body).not.toHaveProperty('connectionInfo');
    expect((await service.client('GET', company)).body.dataConnections).toEqual([body]);
    expect((await service.client('GET', `${company}/connections`)).body).toMatchObject({
      results: [body],
      totalResults: 1,
    });
  });
});

describe('1.1.5 Fetch on first link', () => {
  it('does not apply to migrated credentials: an authorization starts no sync even if fetchOnFirstLink is true', async () => {
    const { company, connection } = await newConnection(service.administrator);
    const settings = DATA_TYPES.map((dataType) => ({
      dataType,
      fetchOnFirstLink: true,
      syncSchedule: 24,
      syncOrder: 0,
    }));
    const set = await service.administrator('POST', `${company}/syncSettings`, { body: { settings } });
    expect(set.status).toBe(204);
    const put = await service.administrator('PUT', `${connection}/authorization`, {
      body: quickBooksCredential('sbx-ok-3'),
    });
    expect(put).toMatchObject({ status: 200, body: { status: 'Linked' } });
    expect((await service.client('GET', `${company}/data/history`)).body.totalResults).toBe(0);
    const states = Object.values(byDataType((await service.client('GET', `${company}/dataStatus`)).body));
    expect(states.map(({ currentStatus }) => currentStatus)).toEqual(DATA_TYPES.map(() => 'Initial'));
  });
});

describe('The page of linkUrl', () => {
  it('authorizes the connection with its button, but not when it is only opened', async () => {
    const { connection } = await newAuthorizedConnection(service.administrator, 'sbx-revoked');
    const { linkUrl } = (await service.client('GET', connection)).body;
    expect((await fetch(linkUrl, { method: 'HEAD' })).status).toBe(200);
    const page = await (await fetch(linkUrl)).text();
    expect(page).toContain('is not connected to QuickBooks Online');
    expect((await service.client('GET', connection)).body.status).toBe('PendingAuth');

    const action = /<form method="post" action="([^"]+)"><button>Connect</.exec(page)?.[1];
    expect(action).toBe(linkUrl);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fetch(linkUrl, { method: 'POST', headers, body: '' })).status).toBe(200);
    const { body } = await service.client('GET', connection);
    expect(body.status).toBe('Linked');
    expect(activeErrors(body)).toEqual([]);
  });

  it('does not change a linked connection or its organization when it is only opened', async () => {
    const { connection } = await newAuthorizedConnection(service.administrator, 'sbx-ok-1');
    const before = (await service.client('GET', connection)).body;
    const other = `${before.linkUrl}?organization=${encodeURIComponent('another "1"')}`;
    for (const method of ['GET', 'HEAD']) expect((await fetch(other, { method })).status).toBe(200);
    expect((await service.client('GET', connection)).body).toEqual(before);

    const page = await (await fetch(other)).text();
    expect(page).toContain(`action="${before.linkUrl}?organization=another%20%221%22"><button>Connect again<`);
    await fetch(other, { method: 'POST' });
    const { connectionInfo } = (await service.client('GET', connection)).body;
    expect(connectionInfo.organizationId).toBe('another "1"');
  });

  it('links a deauthorized connection to the same organization again', async () => {
    const { connection, company } = await newSyncedConnection(service.administrator, 'sbx-expires-during-sync-4');
    const before = (await service.client('GET', connection)).body;
    expect(before.status).toBe('Deauthorized');
    await fetch(before.linkUrl, { method: 'POST' });
    const after = (await service.client('GET', connection)).body;
    const { lastAuthorized } = after.connectionInfo;
    expect(after).toMatchObject({ status: 'Linked', connectionInfo: { ...before.connectionInfo, lastAuthorized } });
    expect(Date.parse(lastAuthorized)).toBeGreaterThan(Date.parse(before.connectionInfo.lastAuthorized));
    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 204 });
  });

  it('says when a connection that is still linked was authorized again', async () => {
    const { connection } = await newAuthorizedConnection(service.administrator, 'sbx-ok-4');
    const { connectionInfo: first, linkUrl } = (await service.client('GET', connection)).body;
    await fetch(linkUrl, { method: 'POST' });
    const { connectionInfo: second } = (await service.client('GET', connection)).body;
    expect(Date.parse(second.lastAuthorized)).toBeGreaterThan(Date.parse(first.lastAuthorized));
  });

  it('links a connection to the organization that a refused credential named, which the API does not show', async () => {
    const { realmId } = quickBooksCredential('sbx-revoked');
    const { connection } = await newAuthorizedConnection(service.administrator, 'sbx-revoked');
    const refused = (await service.client('GET', connection)).body;
    expect(refused.connectionInfo).toBeUndefined();
    expect(JSON.stringify(refused)).not.toContain(realmId);
    await fetch(refused.linkUrl, { method: 'POST' });
    const { connectionInfo } = (await service.client('GET', connection)).body;
    expect(connectionInfo.organizationId).toBe(realmId);
  });

  it('is linked from the page of its company', async () => {
    const { company, connection } = await newConnection(service.client);
    const page = await (await fetch((await service.client('GET', company)).body.redirect)).text();
    expect(page).toContain((await service.client('GET', connection)).body.linkUrl);
  });

  it('is missing from the page of a company without connections, which says so', async () => {
    const company = `/companies/${await newCompany(service.client)}`;
    const page = await (await fetch((await service.client('GET', company)).body.redirect)).text();
    expect(page).toContain('There is nothing to connect yet.');
  });
});

describe('An existing connection', () => {
  it('is no longer synced once it is unlinked, but its data stays readable', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    expect(await service.client('PATCH', connection, { body: { status: 'Linked' } })).toMatchObject({ status: 400 });
    expect(await service.client('PATCH', connection, { body: { status: 'Unlinked' } })).toMatchObject({
      status: 200,
      body: { status: 'Unlinked' },
    });
    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 409 });
    expect((await service.client('GET', `${company}/data/invoices`)).body.totalResults).toBe(3);
  });

  it('is deleted with its data', async () => {
    const { company, connection } = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    expect(await service.client('DELETE', connection)).toMatchObject({ status: 200, text: '' });
    expect(await service.client('GET', connection)).toMatchObject({ status: 404 });
    expect(await service.client('GET', `${company}/data/invoices`)).toMatchObject({ status: 409 });
  });
});
