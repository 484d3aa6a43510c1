import { randomUUID } from 'node:crypto';
import { newCompany, newConnection, runService, type RunningService } from '../running-service';
import * as schemas from './response-schemas';

/** The platforms in the specification, by route. */
const BOTH_ROUTES = ['fbrh', 'pbtz'];
const MANAGED_ONLY = ['vxvy', 'qhyg', 'ndsk', 'fztf', 'rwuv'];
const SELF_SERVICE_ONLY = [
  ...['gbol', 'trji', 'qudb', 'pbbf', 'pdvj', 'akxx', 'jcrp', 'tgff', 'knfz', 'mqjo', 'qkdj', 'vqzp', 'fqly', 'lqai'],
  ...['zsth', 'exgd', 'ltpp', 'ugxp', 'suuo', 'upvr'],
];
const ALL = [...BOTH_ROUTES, ...MANAGED_ONLY, ...SELF_SERVICE_ONLY];

/** The authorization fields of some platforms in the specification. `?` marks an optional field. */
const FIELDS: Readonly<Record<string, string>> = {
  fbrh: 'accessToken refreshToken',
  vxvy: 'accessToken refreshToken accountId businessId',
  qhyg: 'accessToken refreshToken realmId',
  ndsk: 'accessToken refreshToken realmId',
  fztf: 'accessToken shop refreshToken?',
  pbtz: 'accessToken businessId refreshToken?',
  rwuv: 'accessToken refreshToken organizationId region',
  gbol: 'accessToken refreshToken tenantId',
};

let service: RunningService;
beforeAll(async () => {
  service = await runService({ basePath: '/v1' });
});
afterAll(() => service.close());

const platform = async (key: string) =>
  schemas.integration.parse((await service.client('GET', `/integrations/${key}`)).body);

describe('1.1.1, 1.2 The platforms', () => {
  it('are all listed exactly once', async () => {
    const { body } = await service.client('GET', '/integrations?pageSize=5000');
    const { results } = schemas.pageOf(schemas.integration).parse(body);
    expect(results.map(({ key }) => key).sort()).toEqual([...ALL].sort());
    expect((await service.client('GET', '/integrations?pageSize=10&page=2')).body).toMatchObject({
      results: results.slice(10, 20),
      totalResults: ALL.length,
    });
  });

  it.each(ALL)('%s has its routes, its fields, and the callback URL for an application', async (key) => {
    const { migrationRoutes, authorizationFields, callbackUrl, logoUrl } = await platform(key);
    const managed = MANAGED_ONLY.includes(key) || BOTH_ROUTES.includes(key);
    const selfService = !MANAGED_ONLY.includes(key);
    expect(migrationRoutes).toEqual([...(managed ? ['managed'] : []), ...(selfService ? ['self-service'] : [])]);
    const fields = authorizationFields.map(({ name, required }) => `${name}${required ? '' : '?'}`);
    expect(fields).toContain('accessToken');
    if (FIELDS[key] !== undefined) expect(fields.join(' ')).toBe(FIELDS[key]);
    expect(callbackUrl).toBe(`${service.url}/oauth/callback/${key}`);
    const logo = await fetch(logoUrl);
    expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });
});

describe('The application that a client registers at a platform', () => {
  it('is shown only to its own account, and without its secret', async () => {
    const [mine, stranger] = [await service.newAccount('paid'), await service.newAccount('paid')];
    const shown = async (call: typeof mine) =>
      schemas.integration.parse((await call('GET', '/integrations/vxvy')).body).application;
    expect(await shown(mine)).toBeNull();
    const application = { clientId: 'mine', environment: 'production' };
    await mine('PUT', '/integrations/vxvy/credentials', { body: { ...application, clientSecret: 'top-secret' } });
    expect(await shown(mine)).toEqual(application);
    expect(await shown(stranger)).toBeNull();
    const { body, text } = await mine('GET', '/integrations?query=application.clientId=mine');
    expect(body.results.map(({ key }) => key)).toEqual(['vxvy']);
    expect(text).not.toContain('top-secret');
  });
});

describe('2.4 The authorization body', () => {
  it.each(ALL)('of %s must have all required fields, only strings, and no unknown fields', async (key) => {
    const { authorizationFields } = await platform(key);
    const { connection } = await newConnection(service.administrator, key);
    const required = authorizationFields.filter((field) => field.required).map(({ name }) => name);
    const put = (body: object) => service.administrator('PUT', `${connection}/authorization`, { body });
    const complete = Object.fromEntries(required.map((name) => [name, `sbx-ok-1.${randomUUID()}`]));
    const refusedFields = async (body: object) => {
      const answer = await put(body);
      expect(answer.status).toBe(400);
      return schemas.error.parse(answer.body).validation?.errors.map(({ itemId }) => itemId);
    };

    expect(await refusedFields({})).toEqual(required);
    expect(await refusedFields({ ...complete, colour: 'red' })).toEqual(['colour']);
    expect(await refusedFields(Object.fromEntries(required.map((name) => [name, 1])))).toEqual(required);
    const accepted = await put(complete);
    expect(accepted).toMatchObject({ status: 200, body: { status: 'Linked', integrationKey: key } });
    schemas.connection.parse(accepted.body);
  });

  it.each(MANAGED_ONLY)(
    'of %s is accepted only from administrators, because the platform has only the managed route',
    async (key) => {
      const { connection } = await newConnection(service.client, key);
      const refused = await service.client('PUT', `${connection}/authorization`, { body: {} });
      expect(refused).toMatchObject({ status: 403, body: { service: 'PublicApi' } });
    },
  );

  it.each([...BOTH_ROUTES, ...SELF_SERVICE_ONLY])(
    'of %s is validated, not refused with 403, if a client sends it',
    async (key) => {
      const { connection } = await newConnection(service.client, key);
      expect(await service.client('PUT', `${connection}/authorization`, { body: {} })).toMatchObject({ status: 400 });
    },
  );
});

describe('GET /account', () => {
  it('returns the plan of the account and the role of the key', async () => {
    const yesterday = new Date(Date.now() - 86_400_000);
    const trial = await service.newAccount('trial', yesterday);
    await newCompany(trial);
    expect((await trial('GET', '/account')).body).toMatchObject({
      plan: 'trial',
      companyLimit: 50,
      companiesUsed: 1,
      expiresAt: new Date(yesterday.getTime() + 365 * 86_400_000).toISOString(),
      role: 'administrator',
    });
    expect((await service.client('GET', '/account')).body).toMatchObject({ plan: 'paid', role: 'client' });
  });
});
