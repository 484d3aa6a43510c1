import { Client } from 'pg';
import { DATA_TYPES } from '../../../company-data-service/platform/data-types';
import { until } from '../../support/conditions';
import {
  newAuthorizedConnection,
  byDataType,
  newConnection,
  quickBooksCredential,
  runService,
  newSyncedConnection,
  type Body,
  type RunningService,
} from '../running-service';
import { connection as connectionSchema, error } from './response-schemas';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const activeErrors = ({ dataConnectionErrors }: Body): string[] =>
  dataConnectionErrors.filter(({ status }) => status === 'Active').map(({ statusText }) => statusText);

/** Authorizes a new connection to QuickBooks Online. */
async function authorize(credential: string) {
  const paths = await newConnection(service.administrator);
  const put = (body: object) => service.administrator('PUT', `${paths.connection}/authorization`, { body });
  return { ...paths, put, answer: await put(quickBooksCredential(credential)) };
}

describe('4.4 A new connection', () => {
  it('waits for an authorization', async () => {
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
  it('is not supported: a PUT starts no sync even if fetchOnFirstLink is true', async () => {
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

describe('1.1.4, 3, 4.6 A data set', () => {
  it('is answered 409 until data/all was called and its sync is complete', async () => {
    const { company } = await newAuthorizedConnection(service.administrator, 'sbx-slow-100-ok-300');
    const invoices = () => service.client('GET', `${company}/data/invoices`);
    const notReady = await invoices();
    expect(notReady.status).toBe(409);
    expect(error.parse(notReady.body)).toMatchObject({ service: 'PublicApi', canBeRetried: 'True' });

    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 204, text: '' });
    let wereNotReady = 0;
    for (;;) {
      const early = await invoices();
      const { isCompleted } = (await service.client('GET', `${company}/data/history?query=dataType%3Dinvoices`)).body
        .results[0]!;
      if (isCompleted) break;
      expect(early.status).toBe(409);
      wereNotReady += 1;
    }
    expect(wereNotReady).toBeGreaterThan(0);
    expect(await invoices()).toMatchObject({ status: 200, body: { totalResults: 300 } });
  });
});

describe('4.5 An authorization', () => {
  it('links the connection if the platform accepts, and reports its organization', async () => {
    const { answer } = await authorize('sbx-ok-3');
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'Linked',
        connectionInfo: { organizationId: 'realm-1', organizationName: 'Organization realm-1' },
      },
    });
  });

  it.each([
    ['sbx-revoked', 'GrantRefused'],
    ['sbx-expired', 'GrantRefused'],
    ['sbx-refresh-refused', 'GrantRefused'],
    ['sbx-used', 'GrantRefused'],
    ['not-a-test-credential', 'GrantRefused'],
    ['sbx-other-application', 'ApplicationRefused'],
    ['sbx-wrong-organization-3', 'WrongOrganization'],
    ['sbx-unavailable', 'PlatformUnavailable'],
    ['sbx-rate-limited', 'PlatformRateLimited'],
  ])('with %s is answered 200, PendingAuth, with the error %s', async (credential, statusText) => {
    const { answer } = await authorize(credential);
    expect(answer).toMatchObject({ status: 200, body: { status: 'PendingAuth' } });
    expect(activeErrors(answer.body)).toEqual([statusText]);
    expect(answer.text).not.toContain(credential);
  });

  it('that the platform could not process can be sent again, and then links', async () => {
    const body = quickBooksCredential('sbx-unavailable-2-ok-3');
    const { connection } = await newConnection(service.administrator);
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const answer = await service.administrator('PUT', `${connection}/authorization`, { body });
      statuses.push([answer.body.status, activeErrors(answer.body)]);
    }
    expect(statuses).toEqual([
      ['PendingAuth', ['PlatformUnavailable']],
      ['PendingAuth', ['PlatformUnavailable']],
      ['Linked', []],
    ]);
  });

  it('does not use an accepted body twice, because a rotating token works only once', async () => {
    const body = quickBooksCredential('sbx-slow-50-ok-3');
    const { connection } = await newConnection(service.administrator);
    const put = () => service.administrator('PUT', `${connection}/authorization`, { body });
    // Simultaneously, and afterwards.
    const answers = [...(await Promise.all([put(), put(), put()])), await put()];
    expect(answers.map(({ body: { status } }) => status)).toEqual(['Linked', 'Linked', 'Linked', 'Linked']);
    expect(answers.flatMap((answer) => answer.body.dataConnectionErrors)).toEqual([]);
  });

  it('waits for the previous one on the same connection, and the last one counts', async () => {
    const { connection } = await newConnection(service.administrator);
    const answered: string[] = [];
    const put = async (credential: string) => {
      await service.administrator('PUT', `${connection}/authorization`, { body: quickBooksCredential(credential) });
      answered.push(credential);
    };
    const inspector = new Client({ connectionString: service.database.url });
    await inspector.connect();
    const slow = put('sbx-slow-400-ok-1');
    await until(async () => {
      const { rowCount } = await inspector.query(
        `select from pg_locks join pg_database on database = oid
         where locktype = 'advisory' and granted and datname = current_database()`,
      );
      return rowCount === 1;
    });
    await inspector.end();
    await Promise.all([slow, put('sbx-ok-2')]);
    expect(answered).toEqual(['sbx-slow-400-ok-1', 'sbx-ok-2']);
  });

  it('never replaces an accepted credential with a refused one', async () => {
    const { put, company } = await authorize('sbx-ok-3');
    const refused = await put(quickBooksCredential('sbx-revoked'));
    expect(refused).toMatchObject({ status: 200, body: { status: 'Linked' } });
    expect(activeErrors(refused.body)).toEqual(['GrantRefused']);
    // The first credential is still in use.
    expect(await service.administrator('POST', `${company}/data/all`)).toMatchObject({ status: 204 });
    const renewed = await put(quickBooksCredential('sbx-ok-4'));
    expect(activeErrors(renewed.body)).toEqual([]);
    expect(renewed.body.dataConnectionErrors).toMatchObject([{ statusText: 'GrantRefused', status: 'Resolved' }]);
  });

  it('is the only use of a rotating refresh token: a second company with the same one is refused', async () => {
    const body = quickBooksCredential('sbx-ok-3');
    const put = async () => {
      const { connection } = await newConnection(service.administrator);
      return (await service.administrator('PUT', `${connection}/authorization`, { body })).body.status;
    };
    expect((await Promise.all([put(), put(), put(), put()])).sort()).toEqual([
      'Linked',
      'PendingAuth',
      'PendingAuth',
      'PendingAuth',
    ]);
  });

  it('is refused with a token that the old application has refreshed since, and accepted with the new one', async () => {
    const { refreshToken } = quickBooksCredential('sbx-ok-3');
    const refresh = (token: string) =>
      service.client('POST', '/sandbox/fbrh/token', { body: { grant_type: 'refresh_token', refresh_token: token } });
    const successor = await refresh(refreshToken);
    expect(successor).toMatchObject({ status: 200, body: { token_type: 'bearer' } });

    const { connection } = await newConnection(service.client, 'fbrh');
    const put = (token: string) =>
      service.client('PUT', `${connection}/authorization`, { body: { accessToken: 'a', refreshToken: token } });
    expect(activeErrors((await put(refreshToken)).body)).toEqual(['GrantRefused']);
    expect(await put(successor.body.refresh_token)).toMatchObject({ body: { status: 'Linked' } });
    expect(await refresh(successor.body.refresh_token)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('uses no token for the wrong organization', async () => {
    const { answer } = await authorize('sbx-wrong-organization-3.shifted');
    expect(activeErrors(answer.body)).toEqual(['WrongOrganization']);
    const refresh = { grant_type: 'refresh_token', refresh_token: 'sbx-wrong-organization-3.shifted' };
    expect(await service.client('POST', '/sandbox/qhyg/token', { body: refresh })).toMatchObject({ status: 200 });
  });

  it('keeps a refresh token alive where the platform does', async () => {
    const body = { accessToken: 'a', refreshToken: 'sbx-ok-3.kept', organizationId: 'o', region: 'eu' };
    for (let company = 0; company < 2; company += 1) {
      const { connection } = await newConnection(service.administrator, 'rwuv');
      expect(await service.administrator('PUT', `${connection}/authorization`, { body })).toMatchObject({
        body: { status: 'Linked' },
      });
    }
  });

  it('is checked against the application that the client registered', async () => {
    const administrator = await service.newAccount('paid');
    const put = async (credential: string) => {
      const { connection } = await newConnection(administrator);
      const { body } = await administrator('PUT', `${connection}/authorization`, {
        body: quickBooksCredential(credential),
      });
      return body.status === 'Linked' ? 'Linked' : activeErrors(body);
    };
    const register = (clientId: string, clientSecret: string) =>
      administrator('PUT', '/integrations/qhyg/credentials', {
        body: { clientId, clientSecret, environment: 'production' },
      });

    expect(await put('sbx-ok-1.a@old')).toBe('Linked');
    const registered = await register('new', 'top-secret');
    expect(registered).toMatchObject({ status: 200, body: { clientId: 'new', environment: 'production' } });
    expect(registered.text).not.toContain('top-secret');
    expect(await put('sbx-ok-1.b@old')).toEqual(['ApplicationRefused']);
    expect(await put('sbx-ok-1.c@new')).toBe('Linked');
    expect(await put('sbx-ok-1.d')).toBe('Linked');
    await register('new', 'sbx-wrong-secret');
    expect(await put('sbx-ok-1.e@new')).toEqual(['ApplicationRefused']);
  });

  it('2.4 is answered 400 if fields are missing, unknown, empty or not strings, each named', async () => {
    const { connection } = await newConnection(service.administrator);
    const { status, body, text } = await service.administrator('PUT', `${connection}/authorization`, {
      body: { accessToken: 7, refreshToken: '', shop: 'secret-value' },
    });
    expect(status).toBe(400);
    expect(body.validation.errors.map(({ itemId }) => itemId).sort()).toEqual([
      'accessToken',
      'realmId',
      'refreshToken',
      'shop',
    ]);
    expect(text).not.toContain('secret-value');
  });

  it('reports the organization of the token on a platform without an organization field', async () => {
    const { connection } = await newConnection(service.client, 'fbrh');
    const body = { accessToken: 'a', refreshToken: 'sbx-ok-1.org-7' };
    const { connectionInfo } = (await service.client('PUT', `${connection}/authorization`, { body })).body;
    expect(connectionInfo.organizationId).toBe('org-7');
  });
});

describe('linkUrl, where the end customer authorizes,', () => {
  it('authorizes with GET, not with HEAD', async () => {
    const { connection } = await newAuthorizedConnection(service.administrator, 'sbx-revoked');
    const { linkUrl } = (await service.client('GET', connection)).body;
    expect((await fetch(linkUrl, { method: 'HEAD' })).status).toBe(200);
    expect((await service.client('GET', connection)).body.status).toBe('PendingAuth');

    expect((await fetch(linkUrl)).status).toBe(200);
    const { body } = await service.client('GET', connection);
    expect(body.status).toBe('Linked');
    expect(activeErrors(body)).toEqual([]);
  });

  it('connects the same organization again', async () => {
    const { connection, company } = await newSyncedConnection(service.administrator, 'sbx-expires-during-sync-4');
    const before = (await service.client('GET', connection)).body;
    expect(before.status).toBe('Deauthorized');
    await fetch(before.linkUrl);
    const after = (await service.client('GET', connection)).body;
    expect(after).toMatchObject({ status: 'Linked', connectionInfo: before.connectionInfo });
    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 204 });
  });

  it('of a company leads to those of its connections', async () => {
    const { company, connection } = await newConnection(service.client);
    const page = await (await fetch((await service.client('GET', company)).body.redirect)).text();
    expect(page).toContain((await service.client('GET', connection)).body.linkUrl);
  });
});

describe('An unlinked connection', () => {
  it('is no longer synced, and its data stays readable', async () => {
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
