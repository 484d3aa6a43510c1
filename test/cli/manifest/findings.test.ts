/** Tests the content and the number of findings. */
import { csv, findingsOf, quickBooks, withTokens, VALID_ROW } from './finding-cases';
import { platform } from '../../support/migrations/platforms';
import { readWholeCredentials, readWholeManifest, removeTempFiles, tempFile } from './manifest-files';

afterAll(removeTempFiles);

test('the finding about a misspelt column advises renaming it', async () => {
  const [finding] = await findingsOf('reference,name,relm id\nA-1,Acme,1');
  expect(finding?.advice).toBe('rename "relm id" to realmId');
});

test('a missing file and a folder are reported as unreadable', async () => {
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

test('all errors of a file are reported at once', async () => {
  const findings = await findingsOf(csv(',Acme,9.13E+15,x,1', VALID_ROW, 'A-1,Bolt,2,1,1', 'A-3,Cut'));
  expect(findings.map(({ code, line, column }) => [code, line, column])).toEqual([
    ['missing-value', 2, 1],
    ['spreadsheet-damage', 2, 3],
    ['invalid-number', 2, 4],
    ['duplicate-reference', 4, 1],
    ['ragged-row', 5, undefined],
  ]);
});

test('a file with only ragged rows is not also reported as empty', async () => {
  expect((await findingsOf(csv('A-1,Acme'))).map(({ code }) => code)).toEqual(['ragged-row']);
});

test.each([
  ['a missing header', 'A-1,Acme,1,1,at-secret,rt-secret\n'],
  ['a duplicate token', withTokens('A-1,Acme,1,1,at-secret,rt-secret', 'A-2,Bolt,2,1,at-secret,rt-secret')],
  ['a quote inside a token', withTokens('A-1,Acme,1,1,at-secret"x,rt-secret')],
  ['an unclosed quote', withTokens('A-1,Acme,1,1,at-secret,"rt-secret')],
  ['an extra cell', withTokens('A-1,Acme,1,1,1,at-secret,rt-secret')],
  ['spreadsheet damage', withTokens('A-1,Acme,1,1,#REF!,at-secret')],
  ['a space in a token', withTokens('A-1,Acme,1,1,at-secret rt-secret,rt-secret')],
  ['broken JSON', '[{"accessToken": "at-secret", "refreshToken": "rt-secret" "x"}]'],
])('the finding about %s contains no credential', async (_, content) => {
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

test.each(['\u202e', '\u2066', '\u200f', '\u2028'])('a name with the character %j is refused', async (character) => {
  const [finding] = await findingsOf(csv(`A-1,Ac${character}me,1,1,1`));
  expect(finding).toMatchObject({ code: 'control-character', field: 'name' });
});

test('the token family is the family column for Xero and the shop for Shopify', async () => {
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

test.each([
  ['Company Name', 'reference,Company Name,realmId\nA-1,Acme,1', 'rename "Company Name" to name'],
  [
    'all columns',
    'wave,Company ID,Customer,Realm\n1,A-1,Acme,1',
    'rename "Company ID" to reference; rename "Customer" to name if that is its content; rename "Realm" to realmId',
  ],
  [
    'two candidates',
    'reference,Legal Name,Trade Name,realmId\nA-1,A,B,1',
    'rename "Legal Name" or "Trade Name" to name',
  ],
  ['no candidate', 'reference,colour,realmId\nA-1,red,1', 'add the column name'],
  [
    'a word for a company instead of two columns',
    'Customer,realmId\nAcme,1',
    'rename "Customer" to name if that is its content; add the column reference',
  ],
  [
    'a word for a company beside its name',
    'Customer,Company name,realmId\nA-1,Acme,1',
    'rename "Customer" to reference if that is its content; rename "Company name" to name',
  ],
  [
    'a file of credentials',
    'reference,accessToken,refreshToken,realmId,obtainedAt\nA-1,a,r,1,2026-01-01T00:00:00Z',
    `this looks like a file of credentials, so use the manifest; pass this file with --credentials or, once the migration has started, supply it with: ferry credentials "id of the migration" 'FILE'; in the portal, use "Supply credentials"; or add the column name`,
  ],
  [
    'a manifest with credentials',
    'reference,wave,accessToken,refreshToken,realmId\nA-1,1,a,r,1',
    'add the column name',
  ],
  [
    'a file of another platform',
    'reference,name,tenantId\nA-1,Acme,1',
    'this looks like a file for Xero, so check the platform; if QuickBooks Online is right, rename "tenantId" to realmId',
  ],
])('a header that probably means a missing column is suggested: %s', async (_, content, advice) => {
  const [missing] = (await findingsOf(content)).filter(({ code }) => code === 'missing-column');
  expect(missing?.advice).toBe(advice.replace('FILE', missing?.file ?? ''));
});

test.each([
  [
    'a manifest',
    'reference,name,realmId\nA-1,Acme,1',
    'this is a manifest without credentials, so use the file that contains the credentials; or add the columns accessToken and refreshToken',
  ],
  [
    'a manifest with credentials under other names',
    'reference,name,realmId,Acess Token\nA-1,Acme,1,t',
    'rename "Acess Token" to accessToken; add the column refreshToken',
  ],
  ['a file without the names of companies', 'reference,realmId\nA-1,1', 'add the columns accessToken and refreshToken'],
  ['a file with only one token', 'reference,name,realmId,accessToken\nA-1,Acme,1,t', 'add the column refreshToken'],
])('a file of credentials without their columns is recognized: %s', async (_, content, advice) => {
  const { findings } = await readWholeCredentials(tempFile(content), platform('quickbooks-online'));
  expect(findings.find(({ code }) => code === 'missing-column')?.advice).toBe(advice);
});

test('a column of a credential that looks like an organization is named with the column that is missing', async () => {
  const { findings } = await readWholeManifest(
    { manifest: tempFile('reference,name,accountId\nA-1,Acme,1\nA-2,Bolt,2') },
    platform('freshbooks'),
  );
  expect(findings).toMatchObject([
    {
      message: 'missing columns: businessId; found: "reference", "name", "accountId"',
      advice: 'FreshBooks needs businessId as well as accountId; add the column businessId',
    },
  ]);
});

test.each([
  [
    'freshbooks',
    'businessId,accountId',
    '1,a',
    'the column "accountId" is not used, because this file has no credentials',
  ],
  [
    'zoho-books',
    'organizationId,family,region',
    '1,u,eu',
    'the column "region" is not used, because this file has no cred',
  ],
  [
    'freshbooks',
    'businessId,accessToken,refreshToken',
    '1,a,r',
    'this file has the columns "accessToken" and "refreshToken" but not the column accountId',
  ],
  [
    'shopify',
    'shop,refreshToken',
    'a.myshopify.com,r',
    'this file has the column "refreshToken" but not the column accessToken',
  ],
])('an incomplete credential is reported once, not in every row: %s with %s', async (slug, header, row, message) => {
  const content = `reference,name,expectedInvoices,${header}\nA-1,Acme,3,${row}\nA-2,Bolt & Co,3,x${row}`;
  const { findings, rows } = await readWholeManifest({ manifest: tempFile(content) }, platform(slug));
  const ofRows = findings.filter(({ code }) => code === 'missing-value');
  expect(findings.filter((each) => each.message.startsWith(message))).toHaveLength(1);
  expect(ofRows).toEqual([]);
  expect(rows).toHaveLength(2);
});

test('mistakes in other headers are reported together with a missing column', async () => {
  const findings = await findingsOf('reference,Company Name,realmId,expectedInvoice,colour\nA-1,Acme,1,3,red');
  expect(findings.map(({ code, advice }) => [code, advice])).toEqual([
    ['missing-column', 'rename "Company Name" to name'],
    ['unknown-column', 'rename the column to expectedInvoices if that is what it contains'],
    ['unknown-column', 'remove the column if it does not belong here'],
  ]);
});

test('an unused column is suggested for a missing optional column', async () => {
  const findings = await findingsOf('reference,name,realmId,Number of invoices,Contact Name\nA-1,Acme,1,3,Sam');
  const unknown = findings.filter(({ code }) => code === 'unknown-column').map(({ advice }) => advice);
  expect(unknown).toEqual([
    'rename the column to expectedInvoices if that is what it contains',
    'remove the column if it does not belong here',
  ]);
});

test.each([
  ['Müller Café 9', 'Mueller Cafe 9'],
  ['Łódź – Ørsted’s Straße', "Lodz - Oersted's Strasse"],
  ['Mu\u0308ller', 'Mueller'],
  ['"Acme\nLtd"', 'Acme Ltd'],
])('a name that would lose letters comes with a transliteration: %s', async (name, suggested) => {
  const [altered] = await findingsOf(csv(`A-1,${name},1,1,1`));
  expect(altered?.advice).toBe(`write "${suggested}"; the service stores only A-Z, a-z, 0-9, spaces and -',&@.?!`);
  expect((await findingsOf(csv(`A-1,${suggested},1,1,1`))).map(({ code }) => code)).not.toContain('name-altered');
});

test('a name that only loses other characters comes without a transliteration', async () => {
  const [altered] = await findingsOf(csv('A-1,Acme (London),1,1,1'));
  expect(altered?.advice).toMatch(/^change the name if it must not be stored like this; /);
});
