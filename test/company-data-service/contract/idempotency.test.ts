import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { newCompany, newConnection, runService, type RunningService } from '../running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

const withKey = (body: unknown, key: string = randomUUID()) => ({ body, headers: { 'idempotency-key': key } });
const companies = async () => (await service.client('GET', '/companies')).body.totalResults;

describe('a creation under an idempotency key', () => {
  it('is done once and answered the same', async () => {
    const request = withKey({ name: 'Once' });
    const first = await service.client('POST', '/companies', request);
    const count = await companies();
    const second = await service.client('POST', '/companies', request);
    expect(second).toMatchObject({ status: 200, text: first.text });
    expect(await companies()).toBe(count);
  });

  it('is done once even where several arrive together: the others wait their turn with a 409', async () => {
    const request = withKey({ name: 'Together' });
    const before = await companies();
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.client('POST', '/companies', request)));
    expect(await companies()).toBe(before + 1);
    const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    expect(new Set(ids).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
  });

  it('is refused with another body, and with a key that is no UUID', async () => {
    const key = randomUUID();
    await service.client('POST', '/companies', withKey({ name: 'A' }, key));
    expect(await service.client('POST', '/companies', withKey({ name: 'B' }, key))).toMatchObject({ status: 400 });
    expect(await service.client('POST', '/companies', withKey({ name: 'B' }, 'mine'))).toMatchObject({ status: 400 });
  });

  it('is one of an account, a method and a path', async () => {
    const request = withKey({ name: 'Scoped' });
    const { body } = await service.client('POST', '/companies', request);
    const stranger = await service.newAccount('paid');
    expect((await stranger('POST', '/companies', request)).body.id).not.toBe(body.id);
    expect((await service.client('PATCH', `/companies/${body.id}`, request)).body.id).toBe(body.id);
  });

  it('that failed is not remembered: it may succeed later', async () => {
    const trial = await service.newAccount('trial');
    const ids = [];
    for (let index = 0; index < 50; index += 1) ids.push(await newCompany(trial));
    const request = withKey({ name: 'Later' });
    expect(await trial('POST', '/companies', request)).toMatchObject({ status: 402 });
    await trial('DELETE', `/companies/${ids[0]}`);
    expect(await trial('POST', '/companies', request)).toMatchObject({ status: 200 });
  });

  it('is remembered for 90 minutes', async () => {
    const request = withKey({ name: 'Kept' });
    const { body } = await service.client('POST', '/companies', request);
    const age = async (minutes: number) => {
      const database = new Client({ connectionString: service.database.url });
      await database.connect();
      await database.query(
        `update company_data_service.idempotent_responses set created_at = now() - interval '${minutes} minutes'`,
      );
      await database.end();
    };
    await age(89);
    expect((await service.client('POST', '/companies', request)).body.id).toBe(body.id);
    await age(91);
    expect((await service.client('POST', '/companies', request)).body.id).not.toBe(body.id);
  });

  it('works for connections and for changes too', async () => {
    const { company, connection } = await newConnection(service.client);
    const request = withKey({ platformKey: 'gbol' });
    const first = await service.client('POST', `${company}/connections`, request);
    expect((await service.client('POST', `${company}/connections`, request)).body).toEqual(first.body);
    expect((await service.client('GET', `${company}/connections`)).body.totalResults).toBe(2);

    const unlink = withKey({ status: 'Unlinked' });
    expect(await service.client('PATCH', connection, unlink)).toMatchObject({ status: 200 });
    expect(await service.client('PATCH', connection, unlink)).toMatchObject({ status: 200 });
  });
});
