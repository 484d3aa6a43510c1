import { gzipSync } from 'node:zlib';
import type { FindingCase } from './finding-cases';
import { assertFound, csv, findingsOf, VALID_ROW, HEADER, quickBooks, withTokens } from './finding-cases';
import { platform } from '../../support/platform';
import { readWholeManifest } from './read-whole-files';
import { removeTempFiles, tempFile } from './temp-files';

afterAll(removeTempFiles);

const cases: FindingCase[] = [
  { what: 'an empty file', content: '', code: 'empty' },
  { what: 'a file of blank lines', content: '\r\n\r\n', code: 'empty' },
  { what: 'only a byte order mark', content: '\uFEFF', code: 'empty' },
  { what: 'only a header row', content: `${HEADER}\n`, code: 'no-companies' },
  { what: 'an .xlsx', content: Buffer.from('PK\x03\x04....[Content_Types].xml'), code: 'not-text', says: /\.xlsx/ },
  {
    what: 'an .ods',
    content: Buffer.from('PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet'),
    code: 'not-text',
    says: /\.ods/,
  },
  { what: 'a zip', content: Buffer.from('PK\x03\x04 companies.csv'), code: 'not-text', says: /zip/ },
  { what: 'an .xls', content: Buffer.from('d0cf11e0a1b11ae1000000', 'hex'), code: 'not-text', says: /\.xls/ },
  { what: 'a PDF', content: Buffer.from('%PDF-1.7 ...'), code: 'not-text', says: /PDF/ },
  { what: 'a gzip', content: gzipSync(csv(VALID_ROW)), code: 'not-text', says: /gzip/ },
  { what: 'a web page', content: '<html><table>', code: 'not-text', says: /web page/ },
  {
    what: 'a binary file',
    content: Buffer.from('0102000000030000000004000500', 'hex'),
    code: 'not-text',
    says: /binary/,
  },
  { what: 'no header row', content: `${VALID_ROW}\n`, code: 'no-header', line: 1 },
  {
    what: 'missing columns',
    content: 'reference,wave\nA-1,1',
    code: 'missing-column',
    says: /name, realmId; found: "reference", "wave"/,
  },
  {
    what: 'a misspelt column',
    content: 'reference,name,relmId\nA-1,Acme,1',
    code: 'missing-column',
    says: /realmId; found/,
  },
  {
    what: 'a column twice',
    content: 'reference,name,realmId,organization\nA-1,Acme,1,1',
    code: 'duplicate-column',
    line: 1,
    column: 4,
  },
  {
    what: 'an unknown column',
    content: 'reference,name,realmId,colour\nA-1,Acme,1,red',
    code: 'unknown-column',
    severity: 'warning',
    line: 1,
    column: 4,
  },
  {
    what: 'a row with a missing cell',
    content: csv(VALID_ROW, 'A-2,Bolt Ltd,9130357000000025'),
    code: 'ragged-row',
    line: 3,
  },
  {
    what: 'a row with an extra cell',
    content: csv(VALID_ROW, 'A-2,Bolt, Ltd,9130357000000025,1,1'),
    code: 'ragged-row',
    line: 3,
  },
  {
    what: 'an unclosed quote',
    content: csv(VALID_ROW, 'A-2,"Bolt,1,1,1', 'A-3,Cut,2,1,1'),
    code: 'unclosed-quote',
    line: 3,
  },
  {
    what: 'an unclosed quote before 700 KB of text',
    content: csv(VALID_ROW, 'A-2,"Bolt,1,1,1', `A-3,Cut,2,1,1\n`.repeat(50_000)),
    code: 'unclosed-quote',
    line: 3,
  },
  { what: 'a quote inside a cell', content: csv(VALID_ROW, 'A-2,Tom "Tiny" Ltd,1,1,1'), code: 'syntax', line: 3 },
  { what: 'text after a closing quote', content: csv(VALID_ROW, 'A-2,"Tom" Ltd,1,1,1'), code: 'syntax', line: 3 },
  { what: 'no reference', content: csv(' ,Acme,1,1,1'), code: 'missing-value', line: 2, column: 1, field: 'reference' },
  {
    what: 'no organization',
    content: csv('A-1,Acme,,1,1'),
    code: 'missing-value',
    line: 2,
    column: 3,
    field: 'realmId',
  },
  {
    what: 'a number in scientific notation',
    content: csv('A-1,Acme,9.13E+15,1,1'),
    code: 'spreadsheet-damage',
    line: 2,
    column: 3,
    field: 'realmId',
    says: /9\.13E\+15/,
  },
  {
    what: 'scientific notation with a decimal comma',
    content: csv('"1,23E+12",Acme,1,1,1'),
    code: 'spreadsheet-damage',
    line: 2,
    column: 1,
    field: 'reference',
  },
  {
    what: 'a formula error',
    content: csv('A-1,#REF!,1,1,1'),
    code: 'spreadsheet-damage',
    line: 2,
    column: 2,
    field: 'name',
  },
  {
    what: 'a column that was too narrow to show its value',
    content: csv('A-1,Acme,#####,1,1'),
    code: 'spreadsheet-damage',
    line: 2,
    column: 3,
  },
  {
    what: 'rounded ids',
    content: csv('A-1,Acme,9130357000000010,1,1', 'A-2,Bolt,9130357000000020,1,1', 'A-3,Cut,9130357000000030,1,1'),
    code: 'rounded-numbers',
    severity: 'warning',
    field: 'realmId',
  },
  {
    what: 'a reference twice',
    content: csv(VALID_ROW, '', 'A-1,Bolt,2,1,1'),
    code: 'duplicate-reference',
    line: 4,
    column: 1,
    says: /"A-1" appears on lines 2 and 4/,
  },
  {
    what: 'an organization twice',
    content: csv(VALID_ROW, 'A-2,Bolt,9130357000000017,1,1'),
    code: 'duplicate-organization',
    line: 3,
    column: 3,
    says: /lines 2 and 3/,
  },
  {
    what: 'a name twice',
    content: csv(VALID_ROW, 'A-2,acme ltd,2,1,1'),
    code: 'duplicate-name',
    severity: 'warning',
    line: 3,
    column: 2,
  },
  {
    what: 'a refresh token twice',
    content: withTokens('A-1,Acme,1,1,at-1,rt-same', 'A-2,Bolt,2,1,at-2,rt-same'),
    code: 'duplicate-refresh-token',
    line: 3,
    column: 6,
    says: /lines 2 and 3/,
  },
  {
    what: 'a refresh token without an access token',
    content: withTokens('A-1,Acme,1,1,,rt-1'),
    code: 'missing-value',
    line: 2,
    column: 5,
    field: 'accessToken',
  },
  {
    what: 'a token with a blank in it',
    content: withTokens('A-1,Acme,1,1,at 1,rt-1'),
    code: 'invalid-credential',
    line: 2,
    column: 5,
  },
  {
    what: 'a name that loses characters',
    content: csv('A-1,Müller & Söhne,1,1,1'),
    code: 'name-altered',
    severity: 'warning',
    line: 2,
    column: 2,
    says: /"Mller & Shne"/,
  },
  {
    what: 'a name without any character that the service stores',
    content: csv('A-1,株式会社,1,1,1'),
    code: 'name-empty',
    line: 2,
    column: 2,
  },
  {
    what: 'a value that is too long',
    content: csv(`${'x'.repeat(101)},Acme,1,1,1`),
    code: 'too-long',
    line: 2,
    column: 1,
  },
  { what: 'a NUL byte', content: csv('A-1,Ac\0me,1,1,1'), code: 'control-character', line: 2, column: 2 },
  {
    what: 'Latin-1',
    content: Buffer.from(csv('A-1,M\u00fcller,1,1,1'), 'latin1'),
    code: 'undecodable',
    line: 2,
    column: 2,
  },
  {
    what: 'a number of invoices with a separator',
    content: csv('A-1,Acme,1,"1,000",1'),
    code: 'invalid-number',
    line: 2,
    column: 4,
  },
  {
    what: 'a negative number of invoices',
    content: csv('A-1,Acme,1,-1,1'),
    code: 'invalid-number',
    line: 2,
    column: 4,
  },
  { what: 'a wave of zero', content: csv('A-1,Acme,1,1,0'), code: 'invalid-number', line: 2, column: 5 },
  {
    what: 'no expected invoices',
    content: 'reference,name,realmId\nA-1,Acme,1',
    code: 'no-expected-invoices',
    severity: 'warning',
  },
  {
    what: 'an error after a name of three lines',
    content: csv('A-1,"Acme\r\nLtd\r\nLondon",1,1,1', '', 'A-2,Bolt,,1,1'),
    code: 'missing-value',
    line: 6,
    column: 3,
  },
  {
    what: 'an error in the last line of a row of three',
    content: csv('A-1,"Acme\nLtd\nLondon",,1,1'),
    code: 'missing-value',
    line: 4,
    column: 3,
  },
];

test.each(cases)('$what: $code', assertFound);

test('line numbers are right when a CR LF is split between two reads', async () => {
  const start = `${HEADER}\r\nA-1,`;
  const name = 'x'.repeat(64 * 1024 - 1 - start.length - ',1,1,1'.length);
  const findings = await findingsOf(`${start}${name},1,1,1\r\nA-2,Bolt,,1,1\r\n`);
  expect(findings.map(({ code, line }) => [code, line])).toEqual([
    ['too-long', 2],
    ['missing-value', 3],
  ]);
});

test('for a misspelt column, the advice is to rename it', async () => {
  const [finding] = await findingsOf('reference,name,relm id\nA-1,Acme,1');
  expect(finding?.advice).toBe('rename "relm id" to realmId');
});

test('a missing file and a folder are unreadable', async () => {
  const missing = await readWholeManifest({ manifest: '/nowhere/companies.csv' }, quickBooks);
  expect(missing.findings).toEqual([
    expect.objectContaining({
      code: 'file-unreadable',
      message: 'there is no such file',
      file: '/nowhere/companies.csv',
    }),
  ]);
  const folder = await readWholeManifest({ manifest: __dirname }, quickBooks);
  expect(folder.findings).toEqual([
    expect.objectContaining({ code: 'file-unreadable', message: 'this is not a file' }),
  ]);
});

test('one reading finds all errors of a file', async () => {
  const findings = await findingsOf(csv(',Acme,9.13E+15,x,1', VALID_ROW, 'A-1,Bolt,2,1,1', 'A-3,Cut'));
  expect(findings.map(({ code, line, column }) => [code, line, column])).toEqual([
    ['missing-value', 2, 1],
    ['spreadsheet-damage', 2, 3],
    ['invalid-number', 2, 4],
    ['duplicate-reference', 4, 1],
    ['ragged-row', 5, undefined],
  ]);
});

test('if all rows are ragged, each is reported, and not that there are none', async () => {
  expect((await findingsOf(csv('A-1,Acme'))).map(({ code }) => code)).toEqual(['ragged-row']);
});

test.each([
  ['no header', 'A-1,Acme,1,1,at-secret,rt-secret\n'],
  ['a duplicate', withTokens('A-1,Acme,1,1,at-secret,rt-secret', 'A-2,Bolt,2,1,at-secret,rt-secret')],
  ['a quote in the middle', withTokens('A-1,Acme,1,1,at-secret"x,rt-secret')],
  ['an unclosed quote', withTokens('A-1,Acme,1,1,at-secret,"rt-secret')],
  ['an extra cell', withTokens('A-1,Acme,1,1,1,at-secret,rt-secret')],
  ['spreadsheet damage', withTokens('A-1,Acme,1,1,#REF!,at-secret')],
  ['a blank in a token', withTokens('A-1,Acme,1,1,at-secret rt-secret,rt-secret')],
  ['broken JSON', '[{"accessToken": "at-secret", "refreshToken": "rt-secret" "x"}]'],
])('a finding never contains a credential: %s', async (_, content) => {
  const findings = await findingsOf(content);
  expect(findings.length).toBeGreaterThan(0);
  expect(JSON.stringify(findings)).not.toMatch(/[ar]t-secret/);
});

test('findings contain no control characters', async () => {
  const [unknown] = await findingsOf('reference,name,realmId,expectedInvoices,colour\u009b31m\nA-1,Acme,1,1,red');
  expect(unknown?.message).toBe('the column "colour 31m" is not used');
  const [altered] = await findingsOf(csv('A-1,"Acme\nLtd",1,1,1'));
  expect(altered?.message).toBe('the name "Acme\\nLtd" will be stored as "AcmeLtd"');
});

test('token families come from the file on Xero and from the shop on Shopify', async () => {
  const xero = await readWholeManifest(
    { manifest: tempFile('reference,name,tenantId,expectedInvoices,family\nA-1,Acme,t-1,1,\nA-2,Bolt,t-2,1,jo') },
    platform('xero'),
  );
  expect(xero.findings.map(({ code }) => code)).toEqual(['no-family']);
  expect(xero.rows.map(({ family }) => family)).toEqual([null, 'jo']);

  const shopify = await readWholeManifest(
    { manifest: tempFile('reference,name,shop,expectedInvoices\nA-1,Acme,Acme.myshopify.com,1') },
    platform('shopify'),
  );
  expect(shopify.findings).toEqual([]);
  expect(shopify.rows[0]?.family).toBe('acme.myshopify.com');
});
