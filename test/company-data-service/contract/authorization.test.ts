import { Client } from 'pg';
import { until } from '../../support/async';
import { activeErrors, newConnection, quickBooksCredential, runService, type RunningService } from '../running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

/** Authorizes a new connection to QuickBooks Online. */
async function authorize(credential: string) {
  const paths = await newConnection(service.administrator);
  const put = (body: object) => service.administrator('PUT', `${paths.connection}/authorization`, { body });
  return { ...paths, put, answer: await put(quickBooksCredential(credential)) };
}

describe('4.5 An authorization', () => {
  it('links the connection if the platform accepts it, and reports the organization', async () => {
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
  ])('with %s returns 200 and leaves the connection PendingAuth with the error %s', async (credential, statusText) => {
    const { answer } = await authorize(credential);
    expect(answer).toMatchObject({ status: 200, body: { status: 'PendingAuth' } });
    expect(activeErrors(answer.body)).toEqual([statusText]);
    expect(answer.text).not.toContain(credential);
  });

  it('can be repeated until the platform is able to process it', async () => {
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

  it('does not use an accepted body again, because a rotating token works only once', async () => {
    const body = quickBooksCredential('sbx-slow-50-ok-3');
    const { connection } = await newConnection(service.administrator);
    const put = () => service.administrator('PUT', `${connection}/authorization`, { body });
    // Send the body three times simultaneously, and once more afterwards.
    const answers = [...(await Promise.all([put(), put(), put()])), await put()];
    expect(answers.map(({ body: { status } }) => status)).toEqual(['Linked', 'Linked', 'Linked', 'Linked']);
    expect(answers.flatMap((answer) => answer.body.dataConnectionErrors)).toEqual([]);
  });

  it('waits for an earlier authorization of the same connection', async () => {
    const { connection } = await newConnection(service.administrator);
    const answered: string[] = [];
    const put = async (credential: string) => {
      await service.administrator('PUT', `${connection}/authorization`, { body: quickBooksCredential(credential) });
      answered.push(credential);
    };
    const inspector = new Client({ connectionString: service.database.url });
    await inspector.connect();
    const slow = put('sbx-slow-400-ok-1');
    // Other parts of the service hold advisory locks for a moment. Only this connection's lock shows that its
    // authorization has begun.
    await until(async () => {
      const { rowCount } = await inspector.query(
        `select from pg_locks
         where locktype = 'advisory' and granted and (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`,
        [connection.split('/').at(-1)],
      );
      return rowCount === 1;
    });
    await inspector.end();
    await Promise.all([slow, put('sbx-ok-2')]);
    expect(answered).toEqual(['sbx-slow-400-ok-1', 'sbx-ok-2']);
  });

  it('never replaces an accepted credential with a refused credential', async () => {
    const { put, company } = await authorize('sbx-ok-3');
    const refused = await put(quickBooksCredential('sbx-revoked'));
    expect(refused).toMatchObject({ status: 200, body: { status: 'Linked' } });
    expect(activeErrors(refused.body)).toEqual(['GrantRefused']);
    // The service still uses the first credential.
    expect(await service.administrator('POST', `${company}/data/all`)).toMatchObject({ status: 204 });
    const renewed = await put(quickBooksCredential('sbx-ok-4'));
    expect(activeErrors(renewed.body)).toEqual([]);
    expect(renewed.body.dataConnectionErrors).toMatchObject([{ statusText: 'GrantRefused', status: 'Resolved' }]);
  });

  it('succeeds for only one of several companies with the same rotating refresh token', async () => {
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

  it('is refused once the client’s own application has refreshed the token, and accepted with the new token', async () => {
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

  it('does not use up a token for the wrong organization', async () => {
    const { answer } = await authorize('sbx-wrong-organization-3.shifted');
    expect(activeErrors(answer.body)).toEqual(['WrongOrganization']);
    const refresh = { grant_type: 'refresh_token', refresh_token: 'sbx-wrong-organization-3.shifted' };
    expect(await service.client('POST', '/sandbox/qhyg/token', { body: refresh })).toMatchObject({ status: 200 });
  });

  it('does not use up a refresh token on a platform that keeps refresh tokens', async () => {
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

  it('returns 400 (2.4) and names every field that is missing, unknown, empty or not a string', async () => {
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
