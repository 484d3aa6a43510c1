import { randomUUID } from 'node:crypto';
import { createAccount, createKey, revokeKey } from '../../../company-data-service';
import {
  newAuthorizedConnection,
  callerWith,
  newCompany,
  newConnection,
  runService,
  type RunningService,
} from '../running-service';

const LONG_AGO = new Date(0);
const BAD = { body: '{"bad' };

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

/** Returns a caller with a key of a free account that expired long ago. */
async function expired({ revoked }: { revoked: boolean }) {
  const accountId = await createAccount(service.database.url, { name: 'Old', plan: 'free', createdAt: LONG_AGO });
  const { id, key } = await createKey(service.database.url, { accountId, role: 'client' });
  if (revoked) await revokeKey(service.database.url, id);
  return callerWith(service.url, key);
}

/** Each request has the error in the title and, where one request can have several, errors of lower precedence. */
describe('7 Errors: if several apply, the service', () => {
  const withWrongKey = () => callerWith(service.url, 'wrong');

  it('returns 404 for an unknown path before any other error', async () => {
    expect(await withWrongKey()('PUT', '/nothing', BAD)).toMatchObject({ status: 404 });
  });

  it('returns 405 for an unsupported method before 401', async () => {
    expect(await withWrongKey()('PUT', '/companies', BAD)).toMatchObject({ status: 405 });
  });

  it('returns 401 for a wrong key before 404 for the resource', async () => {
    expect(await withWrongKey()('POST', `/companies/${randomUUID()}/connections`, BAD)).toMatchObject({ status: 401 });
  });

  it('returns 403 for a revoked key before 402 for an expired account', async () => {
    const call = await expired({ revoked: true });
    expect(await call('PUT', '/integrations/none/credentials', BAD)).toMatchObject({ status: 403 });
  });

  it('returns 402 for an expired account before 429, and 429 before 403 for the role', async () => {
    const limited = await runService({ requestsPerMinute: 1 });
    try {
      const old = await limited.newAccount('trial', LONG_AGO);
      for (const _time of [1, 2, 3]) expect(await old('GET', '/companies')).toMatchObject({ status: 402 });
      expect(await limited.client('GET', '/account')).toMatchObject({ status: 200 });
      expect(await limited.client('PUT', '/integrations/none/credentials', BAD)).toMatchObject({ status: 429 });
    } finally {
      await limited.close();
    }
  });

  it('returns 403 for the role before 404 for the resource and 400 for the body', async () => {
    expect(await service.client('PUT', '/integrations/none/credentials', BAD)).toMatchObject({ status: 403 });
    const { connection } = await newConnection(service.client);
    expect(await service.client('PUT', `${connection}/authorization`, BAD)).toMatchObject({ status: 403 });
  });

  it('returns 403 or 404 for the resource before 400 for the body or a parameter', async () => {
    const { company, connection } = await newAuthorizedConnection(service.administrator, 'sbx-without-bills-ok-1');
    const stranger = await service.newAccount('trial');
    expect(await stranger('POST', `${company}/syncSettings`, BAD)).toMatchObject({ status: 403 });
    for (const [method, path] of [
      ['PUT', '/integrations/none/credentials'],
      ['PUT', `/companies/${randomUUID()}/connections/${randomUUID()}/authorization`],
      ['PUT', `${company}/connections/${randomUUID()}/authorization`],
      ['POST', `${connection}/push/bills`],
      ['POST', `${connection}/push/colours`],
    ] as const) {
      expect(await service.administrator(method, path, BAD)).toMatchObject({ status: 404 });
    }
    for (const path of ['/data/bills?page=0', '/data/colours?page=0', '/data/bills?colour=red']) {
      expect(await service.client('GET', company + path)).toMatchObject({ status: 404 });
    }
  });

  it('returns 400 for the body or a parameter before 402 for a limit and 409 for a state', async () => {
    const trial = await service.newAccount('trial');
    for (let index = 0; index < 50; index += 1) await newCompany(trial);
    expect(await trial('POST', '/companies', { body: { name: '' } })).toMatchObject({ status: 400 });
    const [company] = (await trial('GET', '/companies')).body.results;
    const hourly = { dataType: 'bills', fetchOnFirstLink: true, syncSchedule: 1, syncOrder: 0 };
    const settings = [hourly, { ...hourly, syncOrder: -1 }];
    expect(await trial('POST', `/companies/${company?.id}/syncSettings`, { body: { settings } })).toMatchObject({
      status: 400,
    });

    const pending = await newConnection(service.client);
    const badKey = { headers: { 'idempotency-key': 'mine' } };
    expect(await service.client('POST', `${pending.company}/data/all`, badKey)).toMatchObject({ status: 400 });
    expect(await service.client('GET', `${pending.company}/data/bills?page=0`)).toMatchObject({ status: 400 });
    expect(await service.client('GET', `${pending.company}/data/bills?colour=red`)).toMatchObject({ status: 400 });
    const push = await service.client('POST', `${pending.connection}/push/bills`, { body: { colour: 'red' } });
    expect(push.status).toBe(400);
    const record = { body: { reference: 'B' }, ...badKey };
    expect(await service.client('POST', `${pending.connection}/push/bills`, record)).toMatchObject({ status: 400 });
  });

  it('returns 402 for a limit and 409 for a state if no earlier error applies', async () => {
    const trial = await service.newAccount('trial');
    const pending = await newConnection(trial);
    const settings = [{ dataType: 'bills', fetchOnFirstLink: true, syncSchedule: 1, syncOrder: 0 }];
    expect(await trial('POST', `${pending.company}/syncSettings`, { body: { settings } })).toMatchObject({
      status: 402,
    });
    expect(await trial('POST', `${pending.company}/data/all`)).toMatchObject({ status: 409 });
    const record = { body: { reference: 'B' } };
    expect(await trial('POST', `${pending.connection}/push/bills`, record)).toMatchObject({ status: 409 });
  });
});
