import { createAccount, createKey } from '../../company-data-service';
import { newAuthorizedConnection, callerWith, newCompany, runService, type RunningService } from './running-service';
import { execute } from '../support/servers/database';

let service: RunningService;
beforeAll(async () => {
  service = await runService({ requestsPerDay: 5 });
});
afterAll(() => service.close());

async function newCaller() {
  const accountId = await createAccount(service.database.url, { name: 'Quota', plan: 'paid' });
  const { key, id } = await createKey(service.database.url, { accountId, role: 'administrator' });
  return { call: callerWith(service.url, key), id };
}

describe('the daily quota', () => {
  it('causes a 429 until midnight UTC once it is used up', async () => {
    const { call } = await newCaller();
    for (const left of ['4', '3', '2', '1', '0']) {
      const { headers, status } = await call('GET', '/account');
      expect([status, headers.get('x-rate-limit-limit'), headers.get('x-rate-limit-remaining')]).toEqual([
        200,
        '5',
        left,
      ]);
    }
    const refused = await call('GET', '/account');
    expect(refused).toMatchObject({ status: 429, body: { statusCode: 429 } });
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    expect(refused.headers.get('x-rate-limit-reset')).toBe(midnight.toISOString());
    const retryAfterMs = Number(refused.headers.get('retry-after')) * 1000;
    expect(Math.abs(Date.now() + retryAfterMs - midnight.getTime())).toBeLessThan(5_000);
  });

  it('increases immediately with each company that has a linked connection', async () => {
    const { call } = await newCaller();
    const limit = async () => Number((await call('GET', '/account')).headers.get('x-rate-limit-limit'));
    expect(await limit()).toBe(5);
    await newAuthorizedConnection(call, 'sbx-ok-1');
    expect(await limit()).toBe(10);
    await newCompany(call);
    expect(await limit()).toBe(10);
  });

  it('is reset at the start of the day', async () => {
    const { call, id } = await newCaller();
    for (let request = 0; request < 6; request += 1) await call('GET', '/account');
    const yesterday = 'update company_data_service.daily_requests set day = day - 1 where key_id = $1';
    await execute(service.database.url, yesterday, [id]);
    expect(await call('GET', '/account')).toMatchObject({ status: 200 });
  });
});
