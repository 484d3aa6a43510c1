/** Rows of a manifest that another program has parsed. */
import type { ManifestRow } from '../../../domain/companies/manifest';
import { suppliedRowProblem } from '../../../domain/supply/supplied-rows';
import { findPlatform, type Platform } from '../../../platforms/platforms';

const platformOf = (slug: string): Platform => findPlatform(slug)!;

const ROW: ManifestRow = {
  row: 1,
  reference: 'C-1',
  name: 'Acme',
  organization: '9130000000000001',
  expectedInvoices: 12,
  wave: 2,
  family: null,
};
const problem = (changes: Partial<ManifestRow>, slug = 'quickbooks-online') =>
  suppliedRowProblem({ ...ROW, ...changes }, platformOf(slug));

test('a row that a file could contain is accepted', () => {
  expect(problem({})).toBeNull();
  expect(problem({ expectedInvoices: null, wave: null, family: 'mia' })).toBeNull();
});

test.each<[string, Partial<ManifestRow>, RegExp]>([
  ['an empty name', { name: ' ' }, /^name is missing$/],
  ['a control character', { reference: 'C\u202e1' }, /^reference: the value contains a line break/],
  ['half a surrogate pair', { name: 'Acme \ud83d' }, /^name: the value contains half of a character/],
  ['a wave of 0', { wave: 0 }, /^wave is "0"/],
  ['a fraction', { expectedInvoices: 1.5 }, /^expectedInvoices is "1\.5"/],
  ['damage by a spreadsheet', { organization: '9.13E+15' }, /^realmId: a spreadsheet has damaged "9\.13E\+15"/],
  ['spaces that would be removed from a file', { name: 'Acme ' }, /spaces at the beginning and the end of name$/],
  ['spaces around the organization', { organization: ' 913' }, /spaces at the beginning and the end of realmId$/],
  [
    'ids of the service, which only the self-service route accepts',
    { existing: { companyId: 'x', connectionId: null } },
    /^remove the ids of the service/,
  ],
])('a row with %s is refused, and the reason names the field', (_, changes, reason) => {
  expect(problem(changes)).toMatch(reason);
});

test('on a platform whose companies share a shop, the reason says how the family must be written', () => {
  const shop = { organization: 'Acme.myshopify.com', family: 'Acme.myshopify.com' };
  expect(problem(shop, 'shopify')).toMatch(/^family is not the \w+ in lower case/);
  expect(problem({ ...shop, family: 'acme.myshopify.com' }, 'shopify')).toBeNull();
});
