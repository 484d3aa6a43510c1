import { assertFound, type FindingCase } from './finding-cases';
import { removeTempFiles } from './manifest-files';

afterAll(removeTempFiles);

const cases: FindingCase[] = [
  { what: 'an empty list', content: '[]', code: 'no-companies' },
  { what: 'JSON that is cut off', content: '[\n  {"reference": "A-1"', code: 'syntax', line: 2 },
  {
    what: 'JSON of an unexpected form',
    content: '{"rows": [{"reference": "A-1"}]}',
    code: 'no-companies',
    advises: /^the file must be .* or \{"companies": \[/,
  },
  { what: 'JSON with an unexpected name of an empty list', content: '{"rows": []}', code: 'no-companies' },
  { what: 'a list of strings', content: '["A-1"]', code: 'syntax', line: 1, column: 2 },
  {
    what: 'JSON with a company that lacks a field',
    content: '[{"reference": "A-1", "name": "Acme", "realmId": 1},\n {"reference": "A-2", "name": "Bolt"}]',
    code: 'missing-value',
    line: 2,
    column: 2,
    field: 'realmId',
  },
  {
    what: 'JSON with a list as a value',
    content: '[{"reference": "A-1", "name": ["Acme"], "realmId": 1}]',
    code: 'syntax',
    line: 1,
    column: 31,
    says: /"name" is a list/,
  },
  {
    what: 'JSON with a duplicate field',
    content: '[{"reference": "A-1", "reference": "A-2"}]',
    code: 'syntax',
    line: 1,
  },
  { what: 'JSON with an extra comma', content: '[{"reference": "A-1"},\n]', code: 'syntax', line: 2, column: 1 },
  { what: 'JSON with a missing comma', content: '[{"reference": "A-1"}\n {}]', code: 'syntax', line: 2, column: 2 },
  { what: 'JSON without a colon', content: '[{"reference" "A-1"}]', code: 'syntax', line: 1, column: 15 },
  {
    what: 'JSON with an unknown constant',
    content: '[{"reference": yes}]',
    code: 'syntax',
    line: 1,
    column: 16,
    says: /text without double quotation marks/,
  },
  {
    what: 'JSON with a name without quotation marks',
    content: '[{reference: "A-1"}]',
    code: 'syntax',
    line: 1,
    column: 3,
    says: /text without double quotation marks/,
  },
  {
    what: 'JSON with an invalid number',
    content: '[{"reference": 01}]',
    code: 'syntax',
    line: 1,
    column: 16,
    says: /an invalid number/,
  },
  {
    what: 'JSON with a string that is not closed on its line',
    content: '[{"reference": "A-1,\n"name": "Acme"}]',
    code: 'syntax',
    line: 1,
    column: 16,
    says: /or is not closed/,
  },
  {
    what: 'JSON with a string that never ends',
    content: '[\n{"reference": "A-1}]',
    code: 'syntax',
    line: 2,
    column: 15,
  },
  { what: 'JSON closed by the wrong bracket', content: '[{"reference": "A-1"]', code: 'syntax', line: 1, column: 21 },
  { what: 'JSON with text after its end', content: '[{"reference": "A-1"}]\n[]', code: 'syntax', line: 2 },
  { what: 'JSON nested 100,000 levels deep', content: '['.repeat(100_000), code: 'syntax' },
  {
    what: 'JSON with a number in scientific notation',
    content: '[{"reference": "A-1", "name": "Acme", "realmId": 9.13E+15}]',
    code: 'spreadsheet-damage',
    line: 1,
    column: 50,
  },
];

test.each(cases)('$what is reported as $code', assertFound);
