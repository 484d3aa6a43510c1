import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import {
  newAuthorizedConnection,
  callerWith,
  newCompany,
  newConnection,
  runService,
  newSyncedConnection,
  type RunningService,
} from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath } from './endpoints';
import { error } from './response-schemas';

const log: string[] = [];
const stream = new Writable({
  write(chunk: Buffer, _encoding, done) {
    log.push(...chunk.toString().split('\n'));
    done();
  },
});

let service: RunningService;
beforeAll(async () => {
  service = await runService({ logger: pino({ level: 'info' }, stream) });
});
afterAll(() => service.close());

const rows = (prefix: string) =>
  ENDPOINTS.filter(({ path }) => path.startsWith(prefix)).map(
    (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
  );

/** Sends raw bytes and reads the response as text. */
async function raw(bytes: string): Promise<string> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket
      .on('data', (chunk: Buffer) => (text += chunk.toString()))
      .on('end', () => resolve(text))
      .on('error', reject);
  });
}

describe('2.3 The error body', () => {
  it.each([
    ['bad JSON', { body: '{"name":' }],
    ['an oversized body, because there is no 413', { body: JSON.stringify({ name: 'x'.repeat(2_000_000) }) }],
    ['an unsupported body, because there is no 415', { body: 'name=x', headers: { 'content-type': 'text/csv' } }],
    ['a body with a __proto__ field', { body: '{"name": "x", "__proto__": {}}' }],
    ['no body', {}],
  ])('has status code 400 and describes the problem in the field "validation" for %s', async (_what, request) => {
    const { status, body } = await service.client('POST', '/companies', request);
    expect(status).toBe(400);
    expect(error.parse(body)).toMatchObject({ statusCode: 400, service: 'PublicApi', canBeRetried: 'False' });
    expect(error.parse(body).validation?.errors).not.toEqual([]);
  });

  it('has status code 400 for a URL that cannot be decoded', async () => {
    expect(error.parse((await service.client('GET', '/companies/%zz')).body)).toMatchObject({ statusCode: 400 });
  });

  it('has status code 400 for invalid HTTP', async () => {
    const answer = await raw('NONSENSE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(error.parse(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''))).toMatchObject({ statusCode: 400 });
  });
});

describe('7.4.1 The correlation id', () => {
  it.each([
    ['a success', 'GET', '/companies', {}],
    ['bad JSON', 'POST', '/companies', { body: '{' }],
    ['an unknown path', 'GET', '/nothing', {}],
    ['a method that is not allowed', 'PUT', '/companies', {}],
    ['a wrong key', 'GET', '/companies', { headers: { authorization: 'Basic x' } }],
    ['an unknown company', 'GET', `/companies/${randomUUID()}`, {}],
    ['a URL that cannot be decoded', 'GET', '/companies/%zz', {}],
  ])('of %s is in the header, in the body of an error and in the log', async (_what, method, path, request) => {
    const { headers, body, status } = await service.client(method, path, request);
    const id = headers.get('x-correlation-id');
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    if (status >= 400) expect(body.correlationId).toBe(id);
    expect(log.filter((line) => line.includes(`"correlationId":"${id}"`))).not.toEqual([]);
  });

  it('of invalid HTTP is in the header, in the body and in the log', async () => {
    const answer = await raw('NONSENSE\r\n\r\n');
    const id = /X-Correlation-Id: (\S+)/.exec(answer)?.[1] ?? '';
    expect(answer).toContain(`"correlationId":"${id}"`);
    expect(log.filter((line) => line.includes(id))).toHaveLength(1);
  });

  it('is different for every response', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await service.client('GET', '/nothing')).body.correlationId),
    );
    expect(new Set(ids).size).toBe(3);
  });
});

describe('7.1 404, first form: the resource does not exist', () => {
  it('is returned for an unknown path', async () => {
    const { status, body } = await callerWith(service.url)('GET', '/nothing');
    expect(status).toBe(404);
    expect(error.parse(body)).toMatchObject({ service: 'PublicApi', error: 'GET /nothing was not found.' });
  });

  it.each(rows('/companies/{companyId}'))(
    'is returned by %s for an unknown company or a malformed id',
    async (_name, endpoint) => {
      for (const companyId of [randomUUID(), 'nonsense', '%20']) {
        const { status, body } = await service.administrator(endpoint.method, fillPath(endpoint.path, { companyId }));
        expect(status).toBe(404);
        expect(error.parse(body)).toMatchObject({
          service: 'PublicApi',
          error: `Company ${decodeURIComponent(companyId)} was not found.`,
        });
      }
    },
  );

  it.each(rows('/companies/{companyId}/connections/{connectionId}'))(
    'is returned by %s for an unknown connection, a malformed id or another company’s connection',
    async (_name, { method, path, body }) => {
      const names = await companyWithEverything(service.administrator);
      const { connectionId: elsewhere = '' } = await companyWithEverything(service.administrator);
      for (const connectionId of [randomUUID(), 'nonsense', elsewhere]) {
        const answer = await service.administrator(
          method,
          fillPath(path, { ...names, connectionId }),
          body && { body },
        );
        expect(answer.status).toBe(404);
        expect(error.parse(answer.body)).toMatchObject({
          service: 'PublicApi',
          error: `Connection ${connectionId} of company ${names['companyId']} was not found.`,
        });
      }
    },
  );

  it('is returned for another company’s sync, push operation or connection', async () => {
    const { companyId } = await companyWithEverything(service.administrator);
    const elsewhere = await companyWithEverything(service.administrator);
    for (const [method, path] of [
      ['GET', `data/history/${elsewhere['datasetId']}`],
      ['GET', 'data/history/nonsense'],
      ['GET', `push/${elsewhere['pushOperationKey']}`],
      ['GET', 'push/nonsense'],
      ['POST', `data/queue/invoices?connectionId=${elsewhere['connectionId']}`],
    ] as const) {
      const { status, body } = await service.client(method, `/companies/${companyId}/${path}`);
      expect([path, status, body.error]).toEqual([path, 404, expect.stringMatching(/ was not found\.$/)]);
    }
  });

  it('is returned for a platform that is not in the table', async () => {
    const id = await newCompany(service.client);
    for (const platformKey of ['zzzz', 'QHYG', 'xero']) {
      const request = { body: { platformKey } };
      expect(await service.client('POST', `/companies/${id}/connections`, request)).toMatchObject({ status: 404 });
      expect(await service.client('GET', `/integrations/${platformKey}`)).toMatchObject({ status: 404 });
    }
  });
});

describe('7.3 404, second form: Datatype <name> not supported by platform(s) <name>', () => {
  const unsupported = (dataType: string, platforms: string) => ({
    status: 404,
    body: { service: 'PublicApi', error: `Datatype ${dataType} not supported by platform(s) ${platforms}` },
  });

  it('is returned when a data set is read, queued or pushed to', async () => {
    const { company, connection } = await newAuthorizedConnection(service.administrator, 'sbx-without-bills-ok-3');
    const request = { body: { reference: 'B' } };
    for (const dataType of ['bills', 'bananas']) {
      const expected = unsupported(dataType, 'QuickBooks Online');
      expect(await service.client('GET', `${company}/data/${dataType}`)).toMatchObject(expected);
      expect(await service.client('POST', `${company}/data/queue/${dataType}`)).toMatchObject(expected);
      expect(await service.client('POST', `${connection}/push/${dataType}`, request)).toMatchObject(expected);
    }
    expect((await service.client('GET', `${company}/dataStatus`)).body).not.toHaveProperty('bills');
  });

  it('names every platform of the company', async () => {
    const { company } = await newConnection(service.client, 'upvr');
    expect(await service.client('GET', `${company}/data/invoices`)).toMatchObject(unsupported('invoices', 'TrueLayer'));
    expect(await service.client('GET', `${company}/data/invoices/any`)).toMatchObject(
      unsupported('invoices', 'TrueLayer'),
    );
    await service.client('POST', `${company}/connections`, { body: { platformKey: 'suuo' } });
    expect(await service.client('GET', `${company}/data/items`)).toMatchObject(
      unsupported('items', 'TrueLayer, Plaid'),
    );
  });
});

describe('7.4.2 404, third form: <ExceptionName>: <description naming company and item>', () => {
  it('is returned for a missing invoice, and names the platform in the field "service"', async () => {
    const { company } = await newSyncedConnection(service.administrator, 'sbx-ok-3');
    const { status, body } = await service.client('GET', `${company}/data/invoices/none`);
    expect(status).toBe(404);
    expect(error.parse(body).service).toBe('QuickBooks Online');
    expect(body.error).toMatch(new RegExp(`^[A-Z]\\w+Exception: .*${company.split('/')[2]}.*\\bnone\\b`));
  });
});

describe('7.1 403, downstream: an endpoint behind the service is not accessible', () => {
  it('names the platform in the field "service", and the call changes nothing', async () => {
    const { connection } = await newConnection(service.administrator);
    const body = { accessToken: 'a', refreshToken: `sbx-inaccessible.${randomUUID()}`, realmId: 'r' };
    const refused = await service.administrator('PUT', `${connection}/authorization`, { body });
    expect(refused.status).toBe(403);
    expect(error.parse(refused.body).service).toBe('QuickBooks Online');
    expect((await service.client('GET', connection)).body).toMatchObject({
      status: 'PendingAuth',
      dataConnectionErrors: [],
    });
  });

  it('is also the answer of the token endpoint of a sandbox platform', async () => {
    const body = { grant_type: 'refresh_token', refresh_token: `sbx-inaccessible.${randomUUID()}` };
    const refused = await service.client('POST', '/sandbox/qhyg/token', { body });
    expect(refused.status).toBe(403);
    expect(error.parse(refused.body).service).toBe('QuickBooks Online');
  });
});
