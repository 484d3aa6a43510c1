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
