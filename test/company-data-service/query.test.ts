import fc from 'fast-check';
import { fieldsOf, checkQuery, parseOrder, type FieldKindOf } from '../../company-data-service/query/fields';
import { OPERATORS, parseQuery, QueryError, type Condition } from '../../company-data-service/query/parse-query';
import { matches, sortItems } from '../../company-data-service/query/query-in-memory';
import { RECORD_SCHEMAS } from '../../company-data-service/platform/record-schemas';
import { newConnection, runService, newSyncedConnection, type Body, type RunningService } from './running-service';

const text = fc.oneof(fc.string(), fc.constantFrom('a&&b', 'a||b', '{', '}', '"', '\\', 'a = b'));
const comparison = fc.record({
  kind: fc.constant('comparison' as const),
  field: fc.constantFrom('status', 'customerRef.name', 'tags.uid', 'id'),
  operator: fc.constantFrom(...OPERATORS),
  value: text,
});
const { condition } = fc.letrec<{ condition: Condition; group: Condition }>((tie) => ({
  condition: fc.oneof({ depthSize: 'small' }, comparison, tie('group')),
  group: fc.record({
    kind: fc.constantFrom('all' as const, 'any' as const),
    conditions: fc.array(tie('condition'), { minLength: 2, maxLength: 4 }),
  }),
}));

/** Writes a query with every group in braces and every value in quotes. */
function written(part: Condition): string {
  if (part.kind === 'comparison') {
    return `${part.field}${part.operator}"${part.value.replaceAll(/["\\]/g, '\\$&')}"`;
  }
  return `{${part.conditions.map(written).join(part.kind === 'all' ? '&&' : '||')}}`;
}

describe('a query', () => {
  it('is parsed as written', () => {
    fc.assert(fc.property(condition, (part) => expect(parseQuery(written(part))).toEqual(part)));
  });

  it('is either parsed or refused with a QueryError', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.stringMatching(/^[a-c=!<>~&|{}" ]*$/)), (anything) => {
        try {
          parseQuery(anything);
        } catch (failure) {
          expect(failure).toBeInstanceOf(QueryError);
        }
      }),
    );
    expect(() => parseQuery('{'.repeat(10_000))).toThrow(QueryError);
  });

  it('binds && more tightly than ||, and braces more tightly than both', () => {
    const leaf = (field: string) => ({ kind: 'comparison', field, operator: '=', value: '1' });
    expect(parseQuery('a=1||b=1&&c=1')).toEqual({
      kind: 'any',
      conditions: [leaf('a'), { kind: 'all', conditions: [leaf('b'), leaf('c')] }],
    });
    expect(parseQuery(' { a = 1 || b = 1 } && c = 1 ')).toEqual({
      kind: 'all',
      conditions: [{ kind: 'any', conditions: [leaf('a'), leaf('b')] }, leaf('c')],
    });
  });
});

describe('lists', () => {
  let service: RunningService;
  let invoices: string;
  let all: readonly Body[];
  beforeAll(async () => {
    service = await runService();
    const { company } = await newSyncedConnection(service.administrator, 'sbx-ok-60');
    invoices = `${company}/data/invoices`;
    all = (await service.client('GET', `${invoices}?pageSize=5000`)).body.results;
  });
  afterAll(() => service.close());

  const listWith = async (path: string, parameters: Record<string, string>) =>
    service.client('GET', `${path}?${new URLSearchParams(parameters).toString()}`);
  const kinds: FieldKindOf = fieldsOf(RECORD_SCHEMAS.invoices);
  const items = () => all as unknown as readonly Record<string, unknown>[];

  const leaf = fc
    .oneof(
      fc.tuple(
        fc.constantFrom('totalAmount', 'amountDue'),
        fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
        fc.constantFrom('0', '100', '532.00', '-1'),
      ),
      fc.tuple(
        fc.constantFrom('issueDate', 'dueDate'),
        fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
        fc.constantFrom('2025-01-31', '2025-02-05T00:00:00Z', '2025-02-05T02:00:00+02:00'),
      ),
      fc.tuple(
        fc.constantFrom('status', 'invoiceNumber', 'customerRef.name'),
        fc.constantFrom(...OPERATORS),
        fc.constantFrom('Paid', 'pAI', 'INV-000010', 'Customer 3', '%', "'"),
      ),
      fc.tuple(fc.constantFrom('status', 'customerRef.name'), fc.constant('~'), fc.constantFrom('pAI', 'aid', 'MER 3')),
    )
    .map((parts) => parts.join(''));
  const query = fc.oneof(
    leaf,
    fc.tuple(leaf, fc.constantFrom('&&', '||'), leaf).map((parts) => parts.join('')),
    fc.tuple(leaf, leaf, leaf).map(([a, b, c]) => `{${a}||${b}}&&${c}`),
  );

  it('return the records that match a query, in the requested order', async () => {
    const orders = fc.constantFrom('issueDate', '-totalAmount', 'status', '-customerRef.name');
    await fc.assert(
      fc.asyncProperty(query, orders, async (queryText, orderBy) => {
        const { body, status } = await listWith(invoices, { query: queryText, orderBy, pageSize: '5000' });
        expect(status).toBe(200);
        const expected = items().filter((item) => matches(item, checkQuery(parseQuery(queryText), kinds)));
        expect(body.totalResults).toBe(expected.length);
        const key = (list: readonly unknown[]) => list.map((item) => (item as Body).id);
        const values = (list: readonly unknown[]) =>
          list.map((item) =>
            orderBy
              .replace('-', '')
              .split('.')
              .reduce((at, name) => Reflect.get(at as object, name) as unknown, item),
          );
        expect(key(body.results).sort()).toEqual(key(expected).sort());
        expect(values(body.results)).toEqual(values(sortItems(expected, parseOrder(orderBy, kinds))));
      }),
      { numRuns: 150 },
    );
  });

  it('accept the query that the OpenAPI document shows as an example', async () => {
    const { text: description } = await service.client('GET', '/openapi.json');
    const example = /`(status=[^`]+)`/.exec(description)?.[1] ?? '';
    expect(await listWith(invoices, { query: example })).toMatchObject({ status: 200 });
    expect(await listWith(invoices, { query: `${example}&&name~acme` })).toMatchObject({ status: 400 });
  });

  it('keep the query and the order in their links', async () => {
    const parameters = { query: 'status=Paid&&totalAmount>100', orderBy: '-invoiceNumber', pageSize: '7' };
    const whole = (await listWith(invoices, { ...parameters, pageSize: '5000' })).body;
    let page = (await listWith(invoices, parameters)).body;
    const seen = page.results.map(({ id }) => id);
    while (page._links.next) {
      expect(new URL(page._links.next.href, service.url).searchParams.get('query')).toBe(parameters.query);
      page = (await service.client('GET', page._links.next.href)).body;
      seen.push(...page.results.map(({ id }) => id));
    }
    expect(seen).toEqual(whole.results.map(({ id }) => id));
    expect(page._links.self.href).toBe(invoices);
  });

  it.each([
    ['no field', '=1', /query: expected a field at character 1/],
    ['no operator', 'status', /expected one of != <= >= = ~ > < at character 7/],
    ['no end', '{status=Paid', /expected \}/],
    ['an unknown field', 'colour=red', /this list cannot be filtered or sorted by colour/],
    ['a field of the prototype', 'constructor=1', /this list cannot be filtered or sorted by constructor/],
    ['an invalid number', 'totalAmount>much', /totalAmount must be compared with a number/],
    ['an invalid date', 'issueDate>2025-13-41', /issueDate must be compared with a date/],
    ['a text search in a number', 'totalAmount~1', /totalAmount is not a text field/],
  ])('refuse a query with %s', async (_what, queryText, message) => {
    const { status, body } = await listWith(invoices, { query: queryText });
    expect(status).toBe(400);
    expect(body.validation.errors).toEqual([{ itemId: 'query', message: expect.stringMatching(message) as string }]);
  });

  it('refuse to order by an unknown field', async () => {
    for (const path of [invoices, '/companies', '/integrations']) {
      expect(await listWith(path, { orderBy: '-colour' })).toMatchObject({ status: 400 });
    }
  });

  it('treat a missing value as different from every value', async () => {
    const call = await service.newAccount('paid');
    await call('POST', '/companies', { body: { name: 'Bare' } });
    const found = async (query: string) =>
      (await call('GET', `/companies?${new URLSearchParams({ query }).toString()}`)).body.totalResults;
    for (const query of ['tags.uid!=2', 'description!=x', 'name=Bare'])
      expect([query, await found(query)]).toEqual([query, 1]);
    for (const query of ['tags.uid=2', 'tags.uid~2', 'tags.uid<2', 'tags.uid>2', 'description=x', 'description~x']) {
      expect([query, await found(query)]).toEqual([query, 0]);
    }
  });

  it('accept queries for companies, connections, syncs and platforms', async () => {
    const call = await service.newAccount('paid');
    for (const [name, uid] of [
      ['Beta', '1'],
      ['Alpha', '2'],
      ['Gamma', '2'],
    ]) {
      await call('POST', '/companies', { body: { name, tags: { uid } } });
    }
    const names = async (parameters: string) =>
      (await call('GET', `/companies?${parameters}`)).body.results.map(({ name }) => name);
    expect(await names('orderBy=name')).toEqual(['Alpha', 'Beta', 'Gamma']);
    expect(await names(`query=${encodeURIComponent('tags.uid=2&&name!=Alpha')}`)).toEqual(['Gamma']);
    expect(await names(`orderBy=-name&tags=${encodeURIComponent('uid=2')}`)).toEqual(['Gamma', 'Alpha']);
    expect(await names(`query=${encodeURIComponent('created>2020-01-01&&description!=x')}`)).toHaveLength(3);

    const { company } = await newConnection(service.client);
    await service.client('POST', `${company}/connections`, { body: { platformKey: 'gbol' } });
    const connections = await listWith(`${company}/connections`, { query: 'platformName=Xero' });
    expect(connections.body).toMatchObject({ totalResults: 1, results: [{ integrationKey: 'gbol' }] });
    const platforms = await listWith('/integrations', { query: 'name~quickbooks', orderBy: '-name' });
    expect(platforms.body.results.map(({ key }) => key)).toEqual(['ndsk', 'qhyg']);
    const history = await listWith(invoices.replace('invoices', 'history'), {
      query: 'dataType=bills||dataType=items',
      orderBy: '-dataType',
    });
    expect(history.body.results.map(({ dataType }) => dataType)).toEqual(['items', 'bills']);
  });
});
