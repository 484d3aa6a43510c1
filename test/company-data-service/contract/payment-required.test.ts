import { callerWith, newCompany, newConnection, runService, type RunningService } from '../running-service';
import { ENDPOINTS, fillPath } from './endpoints';
import { error } from './response-schemas';

const YEAR_MS = 365 * 86_400_000;
const SHORTLY_MS = 60_000;

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

/** Returns the exact body of every 402, except `validation`. */
const paymentRequired = (text: string) => ({
  statusCode: 402,
  service: 'PublicApi',
  error: text,
  correlationId: expect.any(String) as string,
  canBeRetried: 'False',
  detailedErrorCode: 0,
});
const message = expect.stringMatching(/./) as string;

describe('7.2 Company limit exceeded', () => {
  it('is returned for the 51st company of a trial, until a company is deleted', async () => {
    const trial = await service.newAccount('trial');
    const create = () => trial('POST', '/companies', { body: { name: 'A' } });
    for (let index = 0; index < 48; index += 1) await newCompany(trial);
    // Two of five simultaneous requests succeed.
    const answers = await Promise.all([create(), create(), create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 402, 402, 402]);
    expect((await trial('GET', '/account')).body).toMatchObject({ plan: 'trial', companyLimit: 50, companiesUsed: 50 });

    const refused = await create();
    expect(error.parse(refused.body)).toEqual({
      ...paymentRequired('CompanyValidationException: Company limit exceeded'),
      validation: { errors: [{ itemId: 'Company', message, validatorName: 'CreateCompanyValidator' }], warnings: [] },
    });
    const [company] = (await trial('GET', '/companies?pageSize=1')).body.results;
    await trial('DELETE', `/companies/${company?.id}`);
    expect(await create()).toMatchObject({ status: 200 });
    expect(await create()).toMatchObject({ status: 402 });
  });

  it.each(['free', 'paid'] as const)('is not returned on the %s plan', async (plan) => {
    const call = await service.newAccount(plan);
    for (let index = 0; index < 51; index += 1) await newCompany(call);
    expect((await call('GET', '/account')).body).not.toHaveProperty('companyLimit');
  });
});

describe('7.2 Sync schedule not allowed', () => {
  const setting = (syncSchedule: number) => ({ dataType: 'bills', fetchOnFirstLink: true, syncSchedule, syncOrder: 0 });

  it('is returned for an hourly schedule of a trial, and changes nothing', async () => {
    const trial = await service.newAccount('trial');
    const { company } = await newConnection(trial);
    const post = (...settings: object[]) => trial('POST', `${company}/syncSettings`, { body: { settings } });
    for (const syncSchedule of [0, 2, 24]) expect(await post(setting(syncSchedule))).toMatchObject({ status: 204 });
    const before = (await trial('GET', `${company}/syncSettings`)).body;

    const refused = await post({ ...setting(24), dataType: 'items' }, setting(1));
    expect(refused.status).toBe(402);
    expect(error.parse(refused.body)).toEqual(
      paymentRequired('SyncSettingsValidationException: Sync schedule not allowed'),
    );
    expect((await trial('GET', `${company}/syncSettings`)).body).toEqual(before);
  });

  it.each(['free', 'paid'] as const)('is not returned on the %s plan', async (plan) => {
    const call = await service.newAccount(plan);
    const { company } = await newConnection(call);
    const body = { settings: [setting(1)] };
    expect(await call('POST', `${company}/syncSettings`, { body })).toMatchObject({ status: 204 });
  });
});

describe.each(['trial', 'free'] as const)('7.2 Payment Required on the %s plan', (plan) => {
  it.each(ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'is returned by %s from day 365, but not before',
    async (_name, { method, path, body: sent }) => {
      const request = sent ? { body: sent } : {};
      const young = await service.newAccount(plan, new Date(Date.now() - YEAR_MS + SHORTLY_MS));
      expect([200, 404]).toContain((await young(method, fillPath(path), request)).status);

      const old = await service.newAccount(plan, new Date(Date.now() - YEAR_MS));
      const refused = await old(method, fillPath(path), request);
      expect(refused.status).toBe(402);
      expect(refused.headers.get('x-rate-limit-limit')).toMatch(/^\d+$/);
      expect(error.parse(refused.body)).toEqual({
        ...paymentRequired('Payment Required'),
        validation: { errors: [{ message }], warnings: [] },
      });
    },
  );
});

describe('7.2 Payment Required', () => {
  it('is never returned to a paid account', async () => {
    const paid = await service.newAccount('paid', new Date(0));
    expect((await paid('GET', '/account')).body).toEqual({ plan: 'paid', companiesUsed: 0, role: 'administrator' });
  });

  it('is not returned by endpoints that require no key', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs']) {
      expect(await callerWith(service.url)('GET', path)).toMatchObject({ status: 200 });
    }
  });
});
