import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createKey, retireKey } from '../../../company-data-service';
import { ErrorSchema } from '../../../company-data-service/http/schemas/common';
import { TEXT, callerWith, newCompany, newConnection, runService, type RunningService } from '../running-service';

const DAY_MS = 86_400_000;

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const unknown = randomUUID();

describe('an error', () => {
  it('has the error body, and its correlation id as a header too', async () => {
    const { headers, body, status } = await service.client('GET', `/companies/${unknown}`);
    expect(status).toBe(404);
    expect(ErrorSchema.strict().parse(body)).toMatchObject({
      statusCode: 404,
      service: 'PublicApi',
      canBeRetried: 'False',
    });
    expect(headers.get('x-correlation-id')).toBe(body.correlationId);
  });

  it.each([
    ['bad JSON', { body: '{"name":' }],
    ['an oversized body', { body: JSON.stringify({ name: 'x'.repeat(2_000_000) }) }],
    ['a content type that is not read', { body: 'name=x', headers: { 'content-type': 'text/csv' } }],
    ['a body that reaches for the prototype', { body: '{"name": "x", "__proto__": {}}' }],
    ['no body', {}],
  ])('is a 400 with the error body for %s', async (_what, request) => {
    const { status, body } = await service.client('POST', '/companies', request);
    expect(status).toBe(400);
    expect(ErrorSchema.parse(body).validation?.warnings).toEqual([]);
  });

  it('has the error body for what is not HTTP', async () => {
    const { port, hostname } = new URL(service.url);
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => socket.write('NONSENSE\r\n\r\n'));
      socket
        .on('data', (chunk: Buffer) => (text += chunk.toString()))
        .on('end', () => resolve(text))
        .on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(ErrorSchema.parse(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''))).toMatchObject({ statusCode: 400 });
  });

  it('is a 400 for a URL that cannot be decoded', async () => {
    expect(ErrorSchema.parse((await service.client('GET', '/companies/%zz')).body)).toMatchObject({ statusCode: 400 });
  });

  it('is a 404 for an unknown path and a 405 with Allow for an unknown method, before any key is looked at', async () => {
    const nobody = callerWith(service.url);
    expect(await nobody('GET', '/nothing')).toMatchObject({ status: 404, body: { statusCode: 404 } });
    for (const method of ['PUT', 'OPTIONS']) {
      const refused = await nobody(method, '/companies', { body: '{' });
      expect(refused).toMatchObject({ status: 405, body: { statusCode: 405 } });
      expect(refused.headers.get('allow')).toBe('GET, POST');
    }
    expect((await nobody('GET', `/companies/${unknown}/data/all`)).headers.get('allow')).toBe('POST');
  });
});

describe('a key', () => {
  const encoded = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });

  it.each([
    ['missing', {}],
    ['wrong', encoded('wrong')],
    ['not base64', { headers: { authorization: 'Basic ???' } }],
    ['empty', { headers: { authorization: 'Basic ' } }],
    ['of another scheme', { headers: { authorization: 'Bearer abc' } }],
  ])('that is %s is answered 401', async (_what, request) => {
    expect(await callerWith(service.url)('GET', '/companies', request)).toMatchObject({
      status: 401,
      body: { statusCode: 401 },
    });
  });

  it('is sent alone: with a colon it is another key', async () => {
    const { key } = await createKey(service.database.url, { accountId: service.accountId, role: 'client' });
    const nobody = callerWith(service.url);
    expect(await nobody('GET', '/companies', encoded(key))).toMatchObject({ status: 200 });
    expect(await nobody('GET', '/companies', encoded(`${key}:`))).toMatchObject({ status: 401 });
  });

  it('that is outdated is answered 403', async () => {
    const { id, key } = await createKey(service.database.url, { accountId: service.accountId, role: 'client' });
    await retireKey(service.database.url, id);
    expect(await callerWith(service.url, key)('GET', `/companies/${unknown}`)).toMatchObject({ status: 403 });
  });

  it('of another account is answered 403 for a company, whatever the body', async () => {
    const stranger = await service.newAccount('paid');
    const { company, connection } = await newConnection(service.client);
    for (const [method, path] of [
      ['GET', company],
      ['PATCH', company],
      ['PUT', `${connection}/authorization`],
      ['POST', `${company}/data/all`],
    ] as const) {
      const request = method === 'GET' ? {} : { body: '{"bad' };
      expect(await stranger(method, path, request)).toMatchObject({ status: 403, body: { service: 'PublicApi' } });
    }
  });

  it('of a client does not register applications', async () => {
    const refused = await service.client('PUT', '/integrations/none/credentials', { body: '{' });
    expect(refused).toMatchObject({ status: 403, body: { service: 'PublicApi' } });
  });
});

describe('an account', () => {
  it.each(['trial', 'free'] as const)('on %s expires after 365 days, on every endpoint', async (plan) => {
    const young = await service.newAccount(plan, new Date(Date.now() - 365 * DAY_MS + 60_000));
    expect(await young('GET', '/companies')).toMatchObject({ status: 200 });

    const old = await service.newAccount(plan, new Date(Date.now() - 365 * DAY_MS));
    for (const path of ['/companies', `/companies/${unknown}`, '/integrations/none', '/account']) {
      const { status, body } = await old('GET', path);
      expect(status).toBe(402);
      expect(body).toEqual({
        statusCode: 402,
        service: 'PublicApi',
        error: 'Payment Required',
        correlationId: TEXT,
        validation: { errors: [{ message: TEXT }], warnings: [] },
        canBeRetried: 'False',
        detailedErrorCode: 0,
      });
    }
  });

  it('that is paid for never expires', async () => {
    const paid = await service.newAccount('paid', new Date(0));
    expect((await paid('GET', '/account')).body).toEqual({ plan: 'paid', companiesUsed: 0, role: 'administrator' });
  });

  it('on trial has 50 companies, not 51, and after a deletion 50 again', async () => {
    const trial = await service.newAccount('trial');
    for (let index = 0; index < 48; index += 1) await newCompany(trial);
    // Several at once: two of these five pass.
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => trial('POST', '/companies', { body: { name: 'A' } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 402, 402, 402]);

    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.body).toMatchObject({
      statusCode: 402,
      service: 'PublicApi',
      error: 'CompanyValidationException: Company limit exceeded',
      validation: {
        errors: [{ itemId: 'Company', message: TEXT, validatorName: 'CreateCompanyValidator' }],
        warnings: [],
      },
    });
    expect(await trial('POST', '/companies', { body: {} })).toMatchObject({ status: 400 });
    const [company] = (await trial('GET', '/companies?pageSize=1')).body.results;
    await trial('DELETE', `/companies/${company?.id}`);
    expect(await trial('POST', '/companies', { body: { name: 'A' } })).toMatchObject({ status: 200 });
    expect((await trial('GET', '/account')).body).toMatchObject({ plan: 'trial', companyLimit: 50, companiesUsed: 50 });
  });
});

describe('a resource', () => {
  it('is a 404 under an unknown or malformed id, before its body is looked at', async () => {
    const { company } = await newConnection(service.administrator);
    const elsewhere = await newConnection(service.administrator);
    const foreignConnection = `${company}${elsewhere.connection.slice(elsewhere.company.length)}`;
    for (const path of [
      `/companies/${unknown}/connections/${unknown}/authorization`,
      `${company}/connections/${unknown}/authorization`,
      `${company}/connections/nonsense/authorization`,
      `${foreignConnection}/authorization`,
      '/companies/nonsense',
      '/integrations/none/credentials',
    ]) {
      expect(await service.administrator('PUT', path, { body: '{' })).toMatchObject({ status: 404 });
    }
  });

  it('is a 404 for a platform that does not exist', async () => {
    const id = await newCompany(service.client);
    for (const platformKey of ['zzzz', 'QHYG', 'xero']) {
      expect(await service.client('POST', `/companies/${id}/connections`, { body: { platformKey } })).toMatchObject({
        status: 404,
      });
    }
  });
});

describe('the rate limit', () => {
  it('is stated on every answer and ends in a 429 that says when to come back', async () => {
    const limited = await runService({ requestsPerMinute: 2 });
    try {
      const first = await limited.client('GET', '/companies');
      expect(first.headers.get('x-rate-limit-limit')).toBe('2');
      expect(first.headers.get('x-rate-limit-remaining')).toBe('1');
      const resetsIn = Date.parse(first.headers.get('x-rate-limit-reset') ?? '') - Date.now();
      expect(resetsIn).toBeGreaterThan(50_000);
      expect(resetsIn).toBeLessThanOrEqual(60_000);

      // An error counts, and states the limit as well.
      const second = await limited.client('GET', `/companies/${unknown}`);
      expect(second.headers.get('x-rate-limit-remaining')).toBe('0');
      const third = await limited.client('GET', `/companies/${unknown}`);
      expect(third).toMatchObject({ status: 429, body: { statusCode: 429, canBeRetried: 'True' } });
      expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(50);
      expect(third.headers.get('x-rate-limit-remaining')).toBe('0');
      expect(await limited.administrator('GET', '/companies')).toMatchObject({ status: 200 });
    } finally {
      await limited.close();
    }
  });
});
