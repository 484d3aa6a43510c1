import { CompanySchema } from '../../../company-data-service/http/schemas/company';
import { ANY_STRING, newCompany, newConnection, runService, type RunningService } from '../running-service';

let service: RunningService;
beforeAll(async () => {
  service = await runService();
});
afterAll(() => service.close());

describe('4.1, 4.2 A company', () => {
  it('has exactly the fields of its schema, and can be read', async () => {
    const { body, status } = await service.client('POST', '/companies', {
      body: { name: 'Acme', description: 'Tools', tags: { row: '7' }, unknown: 'ignored' },
    });
    expect(status).toBe(200);
    expect(CompanySchema.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      name: 'Acme',
      description: 'Tools',
      tags: { row: '7' },
      dataConnections: [],
      products: [],
    });
    expect(await service.client('GET', `/companies/${body.id}`)).toMatchObject({ status: 200, body });
  });

  it('can have the same name as another company', async () => {
    expect(await newCompany(service.client, 'Twin')).not.toBe(await newCompany(service.client, 'Twin'));
  });

  it('is stored without the unsupported characters of its name', async () => {
    const { body } = await service.client('POST', '/companies', { body: { name: '<Größe> & Söhne, "Ltd." #1!' } });
    expect(body.name).toBe('Gre & Shne, Ltd. 1!');
  });

  it.each([
    ['no name', {}],
    ['a name with only unsupported characters', { name: '<>ß' }],
    ['a name that is not a string', { name: 7 }],
    ['11 tags', { name: 'A', tags: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, 'x'])) }],
    ['a tag of 101 characters', { name: 'A', tags: { long: 'x'.repeat(101) } }],
    ['a tag whose name has 101 characters', { name: 'A', tags: { ['x'.repeat(101)]: 'long' } }],
    ['a name of 201 characters', { name: 'A'.repeat(201) }],
    ['a description of 1,001 characters', { name: 'A', description: 'x'.repeat(1_001) }],
    ['a NUL, which cannot be stored', { name: 'A', description: 'a\u0000b' }],
    ['half a surrogate pair', { name: 'A', tags: { half: '\ud800' } }],
    ['a list', []],
  ])('is refused with %s', async (_what, body) => {
    const answer = await service.client('POST', '/companies', { body });
    expect(answer).toMatchObject({ status: 400, body: { statusCode: 400, validation: { warnings: [] } } });
    expect(answer.body.validation.errors[0]?.message).toEqual(ANY_STRING);
  });

  it('can have a name of 200 characters, a description of 1,000, and 10 tags of 100 characters each', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `t${i}`.padEnd(100, 'x'));
    const tags = Object.fromEntries(names.map((name) => [name, 'x'.repeat(100)]));
    const body = { name: 'A'.repeat(200), description: 'x'.repeat(1_000), tags };
    expect(await service.client('POST', '/companies', { body })).toMatchObject({ status: 200, body });
  });

  it('is replaced by PUT and partly changed by PATCH', async () => {
    const id = await newCompany(service.client);
    const changed = await service.client('PATCH', `/companies/${id}`, {
      body: { tags: { a: 'b' }, description: 'Old' },
    });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Acme', tags: { a: 'b' }, description: 'Old' } });
    const replaced = await service.client('PUT', `/companies/${id}`, { body: { name: 'New' } });
    expect(replaced).toMatchObject({ status: 200, body: { name: 'New', tags: {} } });
    expect(replaced.body).not.toHaveProperty('description');
  });

  it('is deleted with its connections', async () => {
    const { company, connection } = await newConnection(service.client);
    expect(await service.client('DELETE', company)).toMatchObject({ status: 204, text: '' });
    expect(await service.client('GET', company)).toMatchObject({ status: 404 });
    expect(await service.client('GET', connection)).toMatchObject({ status: 404 });
    expect(await service.client('DELETE', company)).toMatchObject({ status: 404 });
  });

  it('is found by several tags, with and without spaces around &&', async () => {
    const create = async (tags: Record<string, string>) =>
      (await service.client('POST', '/companies', { body: { name: 'Tagged', tags } })).body.id;
    const both = await create({ region: 'uk', team: 'invoice-finance' });
    const ampersands = await create({ region: 'uk', team: 'r&d && sales' });
    await create({ region: 'us', team: 'invoice-finance' });
    const ids = async (tags: string) => {
      const page = (await service.client('GET', `/companies?tags=${encodeURIComponent(tags)}`)).body;
      return page.results.map(({ id }) => id);
    };
    expect(await ids('region=uk && team=invoice-finance')).toEqual([both]);
    expect(await ids('region=uk&&team=invoice-finance')).toEqual([both]);
    expect(await ids('region=uk && team!=invoice-finance && team~SALES')).toEqual([ampersands]);
    expect(await ids('team=r&d && sales')).toEqual([ampersands]);
  });

  it('can be sorted by the time of its last change', async () => {
    const account = await service.newAccount('paid');
    const [first, second] = [await newCompany(account, 'First'), await newCompany(account, 'Second')];
    await account('PATCH', `/companies/${first}`, { body: { description: 'changed' } });
    const ids = async (orderBy: string) =>
      (await account('GET', `/companies?orderBy=${orderBy}`)).body.results.map(({ id }) => id);
    expect(await ids('-modifiedDate')).toEqual([first, second]);
    expect(await ids('modifiedDate')).toEqual([second, first]);
    expect(await ids('-created')).toEqual([second, first]);
  });

  it('is found by its tag', async () => {
    const { body } = await service.client('POST', '/companies', { body: { name: 'A', tags: { uid: 'x=42' } } });
    await service.client('POST', '/companies', { body: { name: 'B', tags: { uid: 'y' } } });
    const ids = async (tags: string) =>
      (await service.client('GET', `/companies?tags=${encodeURIComponent(tags)}`)).body.results.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids('uid=x=42')).toEqual([body.id]);
    expect(await ids('uid~X=4')).toEqual([body.id]);
    expect(await ids('uid!=y')).toContain(body.id);
    expect(await ids('other!=42')).toContain(body.id);
    expect(await ids('uid!=x=42')).not.toContain(body.id);
    expect(await ids('other=42')).toEqual([]);
    expect(await service.client('GET', '/companies?tags=uid')).toMatchObject({ status: 400 });
  });
});
