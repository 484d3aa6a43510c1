import { randomUUID } from 'node:crypto';
import {
  BrokenPaging,
  type Company,
  type CompanyDataClient,
  createCompanyDataClient,
  UnreadableResponse,
} from '../../company-data-client';
import type { CompanyFilter } from '../../company-data-client/client';
import { Secret } from '../../security/secret';
import { json, type MisbehavingService, page, startMisbehavingService } from './misbehaving-service';

/** Returns a UUID that repeats one hexadecimal digit. */
const uuid = (digit: string) =>
  `${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(12)}`;
const company = (digit: string) => ({ id: uuid(digit), name: `Company ${digit}` });
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(company);

let service: MisbehavingService;
let client: CompanyDataClient;

beforeAll(async () => {
  service = await startMisbehavingService();
  client = clientAt(service.url);
});
afterAll(async () => {
  await client.close();
  await service.close();
});

const clientAt = (baseUrl: string) => createCompanyDataClient({ baseUrl, apiKey: new Secret('key'), retryBudgetMs: 0 });

async function companiesOf(from: CompanyDataClient, filter?: CompanyFilter): Promise<Company[]> {
  const companies: Company[] = [];
  for await (const one of from.companies(filter)) companies.push(one);
  return companies;
}

const listed = async (from = client, filter?: CompanyFilter) =>
  (await companiesOf(from, filter)).map(({ id }) => id.slice(0, 1));

const urls = () => service.arrived.map(({ url }) => url);

describe('a list', () => {
  test('is read up to the page without a link to a next page', async () => {
    service.answer(page([A, B], 3, '/companies?page=2&pageSize=2'), page([C], 3));
    expect(await listed(client, { pageSize: 2 })).toEqual(['a', 'b', 'c']);
    expect(urls()).toEqual(['/companies?pageSize=2', '/companies?page=2&pageSize=2']);
  });

  test('is filtered by tags even if the service does not filter', async () => {
    const tagged = { ...B, tags: { uid: '4 2', wave: '1' } };
    service.answer(page([A, tagged, { ...C, tags: { uid: '4 2' } }], 3));
    expect(await listed(client, { tags: { uid: '4 2', wave: '1' } })).toEqual(['b']);
    expect(urls()).toEqual(['/companies?tags=uid%3D4+2']);
  });

  test('is empty if the service has no companies', async () => {
    service.answer(page([], 0));
    expect(await listed()).toEqual([]);
  });

  test.each([
    ['relative to the base URL', '/companies?page=2'],
    ['a path from the root', '/api/v2/companies?page=2'],
    ['only a query', '?page=2'],
    ['an absolute URL', 'SERVICE/api/v2/companies?page=2'],
  ])('is read if the base URL has a path and the link is %s', async (_kind, href) => {
    const withPath = clientAt(`${service.url}/api/v2/`);
    service.answer(page([A, B], 3, href.replace('SERVICE', service.url)), page([C], 3));
    expect(await listed(withPath)).toEqual(['a', 'b', 'c']);
    expect(urls()).toEqual(['/api/v2/companies', '/api/v2/companies?page=2']);
    await withPath.close();
  });

  test('is read if the service is behind a proxy that terminates TLS', async () => {
    const { host } = new URL(service.url);
    service.answer(page([A, B], 3, `https://${host}/companies?page=2`), page([C], 3));
    expect(await listed()).toEqual(['a', 'b', 'c']);
  });

  test.each([
    'https://elsewhere.example/companies?page=2',
    '//elsewhere.example/companies?page=2',
    'http://[',
    'file:///x',
    '/../../admin',
    '/%2e%2e/admin',
    '/companies/../account?page=2',
    '/companies/..;/admin',
    '/account?page=2',
    '\\\\elsewhere.example\\companies',
    'https://key@elsewhere.example/companies',
  ])('fails if a link is invalid or leaves the list: %s', async (href) => {
    service.answer(page([A, B], 3, href));
    await expect(listed()).rejects.toThrow(BrokenPaging);
    expect(service.arrived).toHaveLength(1);
  });
});

test('a client never sends the key to another port of the same host', async () => {
  const other = await startMisbehavingService();
  other.answer(page([C], 3));
  service.answer(page([A, B], 3, `${other.url}/companies?page=2`), page([C], 3));
  await expect(listed()).rejects.toThrow(/leads out of the list/);
  expect([service.arrived.length, other.arrived.length]).toEqual([1, 0]);
  await other.close();
});

test("a cancelled list ends immediately with the signal's reason", async () => {
  const controller = new AbortController();
  const reason = new Error('the batch run was paused');
  service.answer(page([A, B], 4, '/companies?page=2'), () => controller.abort(reason));
  const ids: string[] = [];
  const reading = async () => {
    for await (const { id } of client.companies({}, { signal: controller.signal })) ids.push(id.slice(0, 1));
  };
  await expect(reading()).rejects.toBe(reason);
  expect(ids).toEqual(['a', 'b']);
});

describe('a misbehaving list', () => {
  test('ends when it has more results than its total, even if each page has new results and a next page', async () => {
    service.answer((response, arrived) => {
      const results = [1, 2].map(() => ({ id: randomUUID(), name: 'New' }));
      page(results, 5, `/companies?page=${Math.random()}`)(response, arrived);
    });
    await expect(listed()).rejects.toThrow(/all 5 results were read, but there is a next page/);
    expect(service.arrived).toHaveLength(3);
  });

  test.each(['..', '../../account', 'a', ''])('fails if the id of a company is not a UUID: "%s"', async (id) => {
    service.answer(page([{ ...company('a'), id }], 1));
    await expect(listed()).rejects.toThrow(UnreadableResponse);
  });

  test('fails if its links form a circle', async () => {
    service.answer(
      page([A, B], 9, '/companies?page=2'),
      page([C, D], 9, '/companies'),
      page([A, B], 9, '/companies?page=2'),
    );
    await expect(listed()).rejects.toThrow(/GET \/companies: page 3 has no new results/);
    expect(service.arrived).toHaveLength(3);
  });

  test('fails if its pages are empty', async () => {
    service.answer((response, arrived) => page([], 4, `/companies?page=${Math.random()}`)(response, arrived));
    await expect(listed()).rejects.toThrow(BrokenPaging);
    expect(service.arrived).toHaveLength(1);
  });

  test('yields a company once even if it moves to a later page', async () => {
    service.answer(page([A, B], 3, '/companies?page=2'), page([B, C], 4));
    expect(await listed()).toEqual(['a', 'b', 'c']);
  });

  test('is read again if its total shrinks, so that no company is missed', async () => {
    service.answer(
      page([A, B], 4, '/companies?page=2'),
      page([D], 3),
      page([B, C], 3, '/companies?page=2'),
      page([D], 3),
    );
    expect(await listed()).toEqual(['a', 'b', 'd', 'c']);
    expect(service.arrived).toHaveLength(4);
  });

  test('fails if its total keeps shrinking', async () => {
    let total = 100;
    service.answer((response, arrived) => {
      total -= 1;
      const isFirst = arrived.url === '/companies';
      page([{ id: randomUUID(), name: 'New' }], total, isFirst ? '/companies?page=2' : undefined)(response, arrived);
    });
    await expect(listed()).rejects.toThrow(/kept shrinking/);
    expect(service.arrived).toHaveLength(12);
  });
});

test('a client accepts unknown, missing and null fields', async () => {
  const odd = { ...A, tags: null, lastSync: undefined, products: [1], brandNew: { deep: true } };
  service.answer(json(200, { results: [odd], totalResults: 1, _links: {}, extra: 1 }));
  expect(await companiesOf(client)).toEqual([A]);
});
