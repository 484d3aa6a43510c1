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

test.each<[string, Partial<ManifestRow>]>([
  ['an empty name', { name: ' ' }],
  ['a control character', { reference: 'C\u202e1' }],
  ['half a surrogate pair', { name: 'Acme \ud83d' }],
  ['a wave of 0', { wave: 0 }],
  ['a fraction', { expectedInvoices: 1.5 }],
  ['damage by a spreadsheet', { organization: '9.13E+15' }],
  ['spaces that would be removed from a file', { name: 'Acme ' }],
  [
    'ids of the service, which only the self-service route accepts',
    { existing: { companyId: 'x', connectionId: null } },
  ],
])('a row with %s is refused', (_, changes) => {
  expect(problem(changes)).not.toBeNull();
});
