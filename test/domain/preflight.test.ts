import { companyFindings } from '../../domain/company-findings';
import type { ManifestRow } from '../../domain/manifest';
import { findPlatform } from '../../domain/platforms';
import type { Platform } from '../../domain/platforms';
import type { PreflightFacts, ServiceFacts } from '../../domain/preflight';
import { heldBackBy, preflight, summarized } from '../../domain/preflight';

function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`no platform ${slug}`);
  return found;
}

const QUICKBOOKS = platform('quickbooks-online');

const row = (at: number, some: Partial<ManifestRow> = {}): ManifestRow => ({
  row: at,
  reference: `C-${at}`,
  name: `Company ${at}`,
  organization: `${at}`,
  expectedInvoices: 10,
  wave: null,
  family: null,
  ...some,
});

const ACCOUNT: ServiceFacts['account'] = {
  plan: 'paid',
  role: 'administrator',
  companyLimit: null,
  companiesUsed: 0,
  expiresAt: null,
};
const SERVICE: ServiceFacts = {
  account: ACCOUNT,
  platformEnabled: true,
  callbackUrl: 'https://service.example/callback',
  application: { clientId: 'mine', environment: 'production' },
  connected: new Map(),
};
const facts = (some: Partial<PreflightFacts> = {}): PreflightFacts => ({
  route: 'managed',
  platform: QUICKBOOKS,
  rows: [row(1), row(2)],
  toCreate: 2,
  service: SERVICE,
  openElsewhere: new Map(),
  endsBy: '2026-03-08T04:00:00.000Z',
  ...some,
});
const service = (some: Partial<ServiceFacts>) => facts({ service: { ...SERVICE, ...some } });
const account = (some: Partial<ServiceFacts['account']>) => service({ account: { ...ACCOUNT, ...some } });

test('nothing speaks against good details', () => expect(preflight(facts())).toEqual([]));

test.each<[string, PreflightFacts, string, 'error' | 'warning' | null]>([
  ['a key of a client', account({ role: 'client' }), 'key-not-administrator', 'error'],
  ['an account with room for exactly these', account({ companyLimit: 50, companiesUsed: 48 }), 'no-room', null],
  ['an account with room for one less', account({ companyLimit: 50, companiesUsed: 49 }), 'no-room', 'error'],
  ['an account on trial', account({ plan: 'trial' }), 'account-on-trial', 'warning'],
  ['an expiry before the end', account({ expiresAt: '2026-03-08T03:59:00Z' }), 'account-expires', 'error'],
  ['an expiry after the end', account({ expiresAt: '2026-03-08T04:01:00Z' }), 'account-expires', null],
  ['a platform that is off', service({ platformEnabled: false }), 'platform-disabled', 'error'],
  ['no application', service({ application: null }), 'application-missing', 'error'],
  [
    'a sandbox application for companies of production',
    service({ application: { clientId: 'mine', environment: 'sandbox' } }),
    'application-environment',
    'error',
  ],
  [
    'a sandbox application for the sandbox of the same platform',
    {
      ...service({ application: { clientId: 'mine', environment: 'sandbox' } }),
      platform: platform('quickbooks-online-sandbox'),
    },
    'application-environment',
    null,
  ],
  [
    'a sandbox application where sandbox companies have no platform of their own',
    { ...service({ application: { clientId: 'mine', environment: 'sandbox' } }), platform: platform('freshbooks') },
    'application-environment',
    'warning',
  ],
  ['a service that refuses', facts({ service: { refused: 'answered 402' } }), 'service-refuses', 'error'],
  ['no managed route', facts({ platform: platform('xero') }), 'no-managed-route', 'error'],
  [
    'an organization open elsewhere',
    facts({ openElsewhere: new Map([['2', 'acme.other']]) }),
    'organization-open-elsewhere',
    'error',
  ],
])('%s: %#', (_, given, code, severity) => {
  expect(preflight(given).find((finding) => finding.code === code)?.severity ?? null).toBe(severity);
});

test('a service that does not show the application is believed, with a warning', () => {
  const { application: _, ...silent } = SERVICE;
  expect(preflight(facts({ service: silent }))).toMatchObject([{ code: 'application-not-shown', severity: 'warning' }]);
});

test('an organization that is connected is an error of its row, one that was connected a warning', () => {
  const company = { companyId: 'id', name: 'Acme' };
  const connected = new Map([
    ['1', { ...company, status: 'Linked' }],
    ['2', { ...company, status: 'Unlinked' }],
  ]);
  expect(preflight(service({ connected }))).toMatchObject([
    { severity: 'error', about: { row: 1, reference: 'C-1' }, field: 'realmId' },
    { severity: 'warning', about: { row: 2, reference: 'C-2' }, field: 'realmId' },
  ]);
});

test('case is no difference between organizations', () => {
  const rows = [row(1, { organization: 'Shop.MyShopify.com' })];
  const openElsewhere = new Map([['shop.myshopify.com', 'acme.other']]);
  expect(preflight(facts({ platform: platform('shopify'), rows, openElsewhere }))).toHaveLength(1);
});

describe('in the companies themselves', () => {
  const codes = (rows: readonly ManifestRow[], of = QUICKBOOKS): readonly string[] =>
    companyFindings(rows, of).map(({ code, severity }) => `${severity} ${code}`);

  test.each<[string, Partial<ManifestRow>, readonly string[]]>([
    ['nothing', {}, []],
    ['a name that will be altered', { name: 'Bäcker' }, ['warning name-altered']],
    ['a name of which nothing is left', { name: '株式会社' }, ['error name-empty']],
    ['an organization that a spreadsheet has damaged', { organization: '9.13E+15' }, ['error spreadsheet-damage']],
    ['an organization that looks unlike others', { organization: 'abc' }, ['warning unusual-organization']],
    ['no volume', { expectedInvoices: null }, ['warning no-expected-invoices']],
  ])('is found: %s', (_, some, found) => expect(codes([row(1, some)])).toEqual(found));

  test('token families are counted, and those that stand alone are not named', () => {
    const families = ['jo', 'jo', 'jo', 'ann', 'ann', 'kim'].map((family, index) => row(index + 1, { family }));
    expect(companyFindings(families, platform('zoho-books'))).toMatchObject([
      {
        code: 'token-families',
        message: '5 companies belong to 2 token families, the largest of 3: one of a family is moved at a time',
      },
    ]);
    expect(codes([row(1)], platform('zoho-books'))).toEqual(['warning no-family']);
  });
});

test('a summary has one sentence for each kind, with the first place and how many more there are', () => {
  const rows = [row(1, { name: 'Bäcker' }), row(2, { name: 'Müller' }), row(3, { name: '株' })];
  expect(summarized(companyFindings(rows, QUICKBOOKS))).toEqual({
    problems: ['C-3 (row 3): the service keeps no character of the name "株"'],
    problemCodes: ['name-empty'],
    warnings: ['C-1 (row 1): the name "Bäcker" will be stored as "Bcker"; and 1 more like it'],
  });
});

test('a company with two errors is held back by both', () => {
  const found = companyFindings([row(1, { name: '株', organization: '####' }), row(2)], QUICKBOOKS);
  expect([...heldBackBy(found)]).toEqual([
    [1, 'the service keeps no character of the name "株"; "####" is no realmId'],
  ]);
});
