import { Duplicates, type NumberMap } from '../../../domain/supply/duplicates';
import { parseCompany } from '../../../domain/supply/row-parser';
import { RowReader } from '../../../domain/supply/row-reader';
import { findPlatform, type Platform } from '../../../platforms/platforms';

const XERO = findPlatform('xero') as Platform;

test.each([
  ['Müller', '', ['name-altered']],
  ['株', '', ['name-empty']],
  ['Müller', '0f8fad5b-d9cb-469f-a165-70867728950e', []],
  ['株', '0f8fad5b-d9cb-469f-a165-70867728950e', []],
])('the name %s is checked only if the service stores it (serviceCompanyId: "%s")', (name, serviceCompanyId, codes) => {
  const values = { reference: 'C-1', name, [XERO.organizationField]: '1', expectedInvoices: '1', serviceCompanyId };
  const cells = Object.entries(values).map(([field, text], column) => [field, { text, line: 2, column }] as const);
  const found: string[] = [];
  const reader = new RowReader({ file: '', modifiedAt: new Date(0) }, 1, new Map(cells), ({ code }) =>
    found.push(code),
  );
  parseCompany(1, reader, XERO);
  expect(found.filter((code) => code.startsWith('name'))).toEqual(codes);
});

function createMap(): NumberMap {
  const numbers = new Map<string, number>();
  const get = (key: string): number => numbers.get(key) ?? 0;
  const update: NumberMap['update'] = (key, next) => {
    const previous = get(key);
    numbers.set(key, next(previous));
    return previous;
  };
  return { get, update };
}

test.each([
  [true, []],
  [false, ['duplicate-name']],
])('names that the service cannot store are the same only if it has to store them (exists: %s)', (exists, codes) => {
  const found: string[] = [];
  const duplicates = new Duplicates(XERO.organizationField, createMap);
  for (const [index, name] of ['株', '東'].entries()) {
    const id = String(index);
    const position = new Map([['name', { text: name, line: index + 2, column: 1 }]]);
    const reader = new RowReader({ file: '', modifiedAt: new Date(0) }, index + 2, position, ({ code }) =>
      found.push(code),
    );
    const common = { row: index, reference: `C-${id}`, name, organization: id, expectedInvoices: null };
    const existing = exists ? { companyId: id, connectionId: null } : null;
    duplicates.checkCompany(reader, { ...common, wave: null, family: null, existing });
  }
  expect(found).toEqual(codes);
});
