import { findPlatform } from '../../../domain/platforms';
import { ConnectionSchema } from '../../../company-data-service/http/schemas/connection';
import {
  authorized,
  newConnection,
  quickBooks,
  runService,
  synced,
  type Body,
  type RunningService,
} from '../running-service';

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
  return { ...paths, put, answer: await put(quickBooks(credential)) };
}

describe('a new connection', () => {
  it('waits for an authorization', async () => {
    const { connection, company } = await newConnection(service.client);
    const { body } = await service.client('GET', connection);
    expect(ConnectionSchema.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({ status: 'PendingAuth', integrationKey: 'qhyg', platformName: 'QuickBooks Online' });
    expect(body).not.toHaveProperty('connectionInfo');
    expect((await service.client('GET', company)).body.dataConnections).toEqual([body]);
    expect((await service.client('GET', `${company}/connections`)).body).toMatchObject({
      results: [body],
      totalResults: 1,
    });
  });
});

describe('an authorization', () => {
  it('links when the platform accepts, and says whose organization it is', async () => {
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

  it('that the platform cannot serve may be sent again, and links when it can', async () => {
    const body = quickBooks('sbx-unavailable-2-ok-3');
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

  it('does not use an accepted body again: a rotating token would be dead the second time', async () => {
    const body = quickBooks('sbx-slow-50-ok-3');
    const { connection } = await newConnection(service.administrator);
    const put = () => service.administrator('PUT', `${connection}/authorization`, { body });
    // At once, and afterwards.
    const answers = [...(await Promise.all([put(), put(), put()])), await put()];
    expect(answers.map(({ body: { status } }) => status)).toEqual(['Linked', 'Linked', 'Linked', 'Linked']);
    expect(answers.flatMap((answer) => answer.body.dataConnectionErrors)).toEqual([]);
  });

  it('never replaces an accepted credential by a refused one', async () => {
    const { put, company } = await authorize('sbx-ok-3');
    const refused = await put(quickBooks('sbx-revoked'));
    expect(refused).toMatchObject({ status: 200, body: { status: 'Linked' } });
    expect(activeErrors(refused.body)).toEqual(['GrantRefused']);
    // The first credential is still the one that is used.
    expect(await service.administrator('POST', `${company}/data/all`)).toMatchObject({ status: 204 });
    const renewed = await put(quickBooks('sbx-ok-4'));
    expect(activeErrors(renewed.body)).toEqual([]);
    expect(renewed.body.dataConnectionErrors).toMatchObject([{ statusText: 'GrantRefused', status: 'Resolved' }]);
  });

  it('is the only use of a rotating refresh token: a second company with the same one is refused', async () => {
    const body = quickBooks('sbx-ok-3');
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

  it('is refused with a token that the old application has refreshed since, and accepted with its successor', async () => {
    const { refreshToken } = quickBooks('sbx-ok-3');
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

  it('spends no token on the wrong organization', async () => {
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
      const { body } = await administrator('PUT', `${connection}/authorization`, { body: quickBooks(credential) });
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

  it("is answered 403 by the platform's own name where its endpoint is closed, and changes nothing", async () => {
    const { answer, connection } = await authorize('sbx-inaccessible');
    expect(answer).toMatchObject({ status: 403, body: { service: 'QuickBooks Online' } });
    expect((await service.client('GET', connection)).body).toMatchObject({
      status: 'PendingAuth',
      dataConnectionErrors: [],
    });
  });

  it('names every field that is missing, extra, empty or no string', async () => {
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

  it.each(['qhyg', 'vxvy', 'fztf', 'rwuv', 'ndsk'])(
    'of %s is for administrators only: it has the managed route alone',
    async (key) => {
      const { connection } = await newConnection(service.client, key);
      expect(await service.client('PUT', `${connection}/authorization`, { body: '{' })).toMatchObject({ status: 403 });
    },
  );

  it.each(['fbrh', 'pbtz', 'gbol', 'exgd', 'suuo'])(
    'of %s is open to a client, with the fields of the platform table',
    async (key) => {
      const platform = findPlatform(key);
      const body = Object.fromEntries((platform?.requiredFields ?? []).map((field) => [field, `sbx-ok-1.${key}`]));
      const { connection } = await newConnection(service.client, key);
      expect(await service.client('PUT', `${connection}/authorization`, { body })).toMatchObject({
        body: { status: 'Linked' },
      });
    },
  );

  it('says of a platform without an organization field whose the token is', async () => {
    const { connection } = await newConnection(service.client, 'fbrh');
    const body = { accessToken: 'a', refreshToken: 'sbx-ok-1.org-7' };
    const { connectionInfo } = (await service.client('PUT', `${connection}/authorization`, { body })).body;
    expect(connectionInfo.organizationId).toBe('org-7');
  });
});

describe('a link', () => {
  it('authorizes when it is opened, not when it is only checked', async () => {
    const { connection } = await authorized(service.administrator, 'sbx-revoked');
    const { linkUrl } = (await service.client('GET', connection)).body;
    expect((await fetch(linkUrl, { method: 'HEAD' })).status).toBe(200);
    expect((await service.client('GET', connection)).body.status).toBe('PendingAuth');

    expect((await fetch(linkUrl)).status).toBe(200);
    const { body } = await service.client('GET', connection);
    expect(body.status).toBe('Linked');
    expect(activeErrors(body)).toEqual([]);
  });

  it('leads back to the same organization', async () => {
    const { connection, company } = await synced(service.administrator, 'sbx-expires-during-sync-4');
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

describe('an unlinked connection', () => {
  it('is synced no more, and its data stays readable', async () => {
    const { company, connection } = await synced(service.administrator, 'sbx-ok-3');
    expect(await service.client('PATCH', connection, { body: { status: 'Linked' } })).toMatchObject({ status: 400 });
    expect(await service.client('PATCH', connection, { body: { status: 'Unlinked' } })).toMatchObject({
      status: 200,
      body: { status: 'Unlinked' },
    });
    expect(await service.client('POST', `${company}/data/all`)).toMatchObject({ status: 409 });
    expect((await service.client('GET', `${company}/data/invoices`)).body.totalResults).toBe(3);
  });

  it('is gone with its data when it is deleted', async () => {
    const { company, connection } = await synced(service.administrator, 'sbx-ok-3');
    expect(await service.client('DELETE', connection)).toMatchObject({ status: 200, text: '' });
    expect(await service.client('GET', connection)).toMatchObject({ status: 404 });
    expect(await service.client('GET', `${company}/data/invoices`)).toMatchObject({ status: 409 });
  });
});
