import { PLATFORMS } from '../../../domain/platforms';
import { IntegrationSchema } from '../../../company-data-service/http/schemas/integration';
import { callerWith, newCompany, runService, type RunningService } from '../running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ basePath: '/v1' });
});
afterAll(() => service.close());

describe('the integrations', () => {
  it('are all platforms of the table, the six managed ones among them', async () => {
    const { body } = await service.client('GET', '/integrations?pageSize=5000');
    expect(body.results).toHaveLength(PLATFORMS.length);
    const managed = body.results.filter(({ migrationRoutes }) => migrationRoutes.includes('managed'));
    expect(managed.map(({ key }) => key).sort()).toEqual(['fbrh', 'fztf', 'ndsk', 'pbtz', 'qhyg', 'rwuv', 'vxvy']);
    expect((await service.client('GET', '/integrations?pageSize=10&page=2')).body).toMatchObject({
      results: body.results.slice(10, 20),
      totalResults: PLATFORMS.length,
    });
  });

  it('say which fields an authorization has, and which callback URL an application needs', async () => {
    const { body } = await service.client('GET', '/integrations/fztf');
    expect(IntegrationSchema.strict().parse(body)).toMatchObject({
      key: 'fztf',
      name: 'Shopify',
      sourceType: 'Commerce',
      migrationRoutes: ['managed'],
      authorizationFields: [
        { name: 'accessToken', required: true },
        { name: 'shop', required: true },
        { name: 'refreshToken', required: false },
      ],
      callbackUrl: `${service.url}/oauth/callback/fztf`,
    });
    const logo = await fetch(body.logoUrl);
    expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(await service.client('GET', '/integrations/shopify')).toMatchObject({ status: 404 });
  });
});

describe('a base URL with a path', () => {
  it('is in front of every endpoint, and not in the links of lists', async () => {
    expect(new URL(service.url).pathname).toBe('/v1');
    await newCompany(service.client);
    await newCompany(service.client);
    const { _links } = (await service.client('GET', '/companies?pageSize=1')).body;
    expect(_links.next?.href).toBe('/companies?page=2&pageSize=1');
    const atOrigin = callerWith(new URL(service.url).origin);
    expect(await atOrigin('GET', '/companies')).toMatchObject({ status: 404 });
    expect(await callerWith(service.url)('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});

describe('the account', () => {
  it('says what it may and who is asking', async () => {
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
