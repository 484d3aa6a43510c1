import fc from 'fast-check';
import { pageResponse, pageBounds } from '../../../company-data-service/http/lists/paging';
import { newCompany, runService, type Body, type Caller, type RunningService } from '../running-service';
import { companyWithEverything, ENDPOINTS, fillPath, type PathParameters } from './endpoints';

let service: RunningService;
let call: Caller;
let ids: string[];
beforeAll(async () => {
  service = await runService({ basePath: '/v1' });
  call = await service.newAccount('paid');
  ids = [];
  for (let index = 0; index < 5; index += 1) ids.push(await newCompany(call));
});
afterAll(() => service.close());

const list = async (query: string): Promise<Body> => (await call('GET', `/companies${query}`)).body;
const idsOf = (page: Body): string[] => page.results.map(({ id }) => id);

describe('The paged list: companies', () => {
  it('defaults to page 1 with 100 items, in the order of creation', async () => {
    const page = await list('');
    expect(page).toMatchObject({ pageNumber: 1, pageSize: 100, totalResults: 5 });
    expect(idsOf(page)).toEqual(ids);
    expect(page._links).toEqual({ self: { href: '/companies' }, current: { href: '/companies?page=1&pageSize=100' } });
  });

  it('can be read forwards and backwards by its links', async () => {
    const seen: string[] = [];
    let last = await list('?pageSize=2');
    seen.push(...idsOf(last));
    while (last._links.next) {
      last = (await call('GET', last._links.next.href)).body;
      seen.push(...idsOf(last));
    }
    expect(seen).toEqual(ids);
    expect(last._links).not.toHaveProperty('next');
    expect(idsOf((await call('GET', last._links.previous?.href ?? '')).body)).toEqual(ids.slice(2, 4));
  });

  it('keeps the page size and the filters in its links, except in self', async () => {
    const tags = encodeURIComponent('a!=b');
    const pageAt = (number: number) => ({ href: `/companies?page=${number}&pageSize=2&tags=a%21%3Db` });
    expect((await list(`?tags=${tags}&pageSize=2&page=2`))._links).toEqual({
      self: { href: '/companies' },
      current: pageAt(2),
      next: pageAt(3),
      previous: pageAt(1),
    });
  });

  it('is empty after its last page, and links back to the last page', async () => {
    const page = await list('?page=9007199254740991&pageSize=2');
    expect(page).toMatchObject({ results: [], totalResults: 5 });
    expect(page._links.previous?.href).toBe('/companies?page=3&pageSize=2');
    expect(page._links).not.toHaveProperty('next');
  });

  it('has no previous page if it is empty', async () => {
    const page = await list(`?page=2&tags=${encodeURIComponent('no=such')}`);
    expect(page).toMatchObject({ results: [], totalResults: 0 });
    expect(Object.keys(page._links)).toEqual(['self', 'current']);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=',
    'page=1.5',
    'pageSize=0',
    'pageSize=5001',
    'page=1&page=2',
    'pageSize=1e2',
  ])('is refused with %s', async (query) => {
    expect(await call('GET', `/companies?${query}`)).toMatchObject({ status: 400 });
  });

  it('accepts page sizes of up to 5,000', async () => {
    expect(await list('?pageSize=5000')).toMatchObject({ pageSize: 5000, totalResults: 5 });
  });

  it('can be read completely by its links in both directions, whatever its length', () => {
    const list = fc.record({
      total: fc.nat(60),
      pageSize: fc.integer({ min: 1, max: 25 }),
      filters: fc.dictionary(fc.constantFrom('query', 'orderBy', 'status'), fc.string()),
    });
    const walked = (all: number[], pageSize: number, filters: object, first: number, link: 'next' | 'previous') => {
      const pages: number[][] = [];
      let page: number | undefined = first;
      while (page !== undefined) {
        const { limit, offset } = pageBounds({ page, pageSize });
        const items = all.slice(offset, offset + limit);
        const answer: ReturnType<typeof pageResponse> = pageResponse(
          '/things',
          { page, pageSize, ...filters },
          { items, total: all.length },
        );
        expect(answer._links.self.href).toBe('/things');
        pages.push(items);
        const followed: { href: string } | undefined = answer._links[link];
        const parameters = new URL(followed?.href ?? '', 'http://any').searchParams;
        for (const [name, value] of followed ? Object.entries(filters) : []) {
          expect(parameters.get(name)).toBe(value);
        }
        expect(pages.length).toBeLessThanOrEqual(all.length + 1);
        page = followed && Number(parameters.get('page'));
      }
      return pages;
    };
    fc.assert(
      fc.property(list, fc.nat(10), ({ total, pageSize, filters }, beyond) => {
        const all = Array.from({ length: total }, (_, index) => index);
        const last = Math.max(1, Math.ceil(total / pageSize));
        const forwards = walked(all, pageSize, filters, 1, 'next');
        expect([forwards.length, forwards.flat()]).toEqual([last, all]);
        expect(
          walked(all, pageSize, filters, last + beyond, 'previous')
            .reverse()
            .flat(),
        ).toEqual(all);
      }),
    );
  });
});

describe('The paged list: every endpoint that returns several results', () => {
  let names: PathParameters;
  beforeAll(async () => {
    names = await companyWithEverything(service.administrator);
  });

  it.each(ENDPOINTS.filter(({ isList }) => isList).map(({ path, schema }) => [path, schema] as const))(
    '%s returns pages and links',
    async (template, schema) => {
      const path = fillPath(template, names);
      const get = (query: string) => service.administrator('GET', `${path}${query}`);
      const whole = (await get('')).body;
      schema?.parse(whole);
      expect(whole).toMatchObject({ pageNumber: 1, pageSize: 100 });
      expect(whole._links).toEqual({ self: { href: path }, current: { href: `${path}?page=1&pageSize=100` } });
      expect(whole.totalResults).toBe(whole.results.length);
      const total = whole.totalResults;

      const last = (await get(`?page=${total}&pageSize=1`)).body;
      expect(last).toMatchObject({ pageNumber: total, pageSize: 1, totalResults: total });
      expect(last.results).toEqual(whole.results.slice(-1));
      expect(last._links).not.toHaveProperty('next');
      const beyond = (await get(`?page=${total + 9}&pageSize=1`)).body;
      expect(beyond).toMatchObject({ results: [], totalResults: total });
      expect(beyond._links).toEqual({
        self: { href: path },
        current: { href: `${path}?page=${total + 9}&pageSize=1` },
        previous: { href: `${path}?page=${total}&pageSize=1` },
      });

      expect(await get('?pageSize=5000')).toMatchObject({ status: 200 });
      for (const query of [
        'page=0',
        'page=x',
        'pageSize=0',
        'pageSize=5001',
        'pageSize=x',
        'query=%3D',
        'orderBy=no',
      ]) {
        expect([query, (await get(`?${query}`)).status]).toEqual([query, 400]);
      }
    },
  );
});
