import { companyFindings, familyFindings, heldBackBy } from '../../../domain/preflight/company-findings';
import { checkAgainText, FindingSummary, type PreflightFinding } from '../../../domain/preflight/findings';
import type { ManifestRow } from '../../../domain/companies/manifest';
import type { SuppliedApplication } from '../../../domain/preflight/applications';
import {
  preflight,
  RESOLVED_IN_STEP_1,
  type PreflightFacts,
  type ServiceFacts,
} from '../../../domain/preflight/preflight';
import { organizationFindings, type OrganizationConflicts } from '../../../domain/preflight/organization-conflicts';
import { platform } from '../../support/migrations/platforms';

const QUICKBOOKS = platform('quickbooks-online');

const row = (at: number, changes: Partial<ManifestRow> = {}): ManifestRow => ({
  row: at,
  reference: `C-${at}`,
  name: `Company ${at}`,
  organization: `${at}`,
  expectedInvoices: 10,
  wave: null,
  family: null,
  ...changes,
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
  application: { clientId: 'app-1', environment: 'production' },
};
const facts = (changes: Partial<PreflightFacts> = {}): PreflightFacts => ({
  route: 'managed',
  platform: QUICKBOOKS,
  isStarted: true,
  toCreate: 2,
  service: SERVICE,
  endsBy: '2026-03-08T04:00:00.000Z',
  ...changes,
});
const service = (changes: Partial<ServiceFacts>) => facts({ service: { ...SERVICE, ...changes } });
const account = (changes: Partial<ServiceFacts['account']>) => service({ account: { ...ACCOUNT, ...changes } });

test.each([
  ['2026-03-08T04:00:00.000Z', 'the last company could move as late as'],
  [null, 'the last company could move more than a year from now'],
  [undefined, 'there is no estimate of when the last company will have moved'],
])('an expiry of the account is compared with the end of the moves (%s)', (endsBy, text) => {
  const found = preflight({ ...account({ expiresAt: '2026-03-08T03:59:00Z' }), endsBy });
  expect(found.map(({ message }) => message)).toEqual([expect.stringContaining(text)]);
});

test('the preflight finds nothing in good details', () => expect(preflight(facts())).toEqual([]));

test.each<[string, PreflightFacts, string, 'error' | 'warning' | null]>([
  ['a client key', account({ role: 'client' }), 'key-not-administrator', 'error'],
  ['an account with room for exactly these', account({ companyLimit: 50, companiesUsed: 48 }), 'no-room', null],
  [
    'an account with room for all but one of these',
    account({ companyLimit: 50, companiesUsed: 49 }),
    'no-room',
    'error',
  ],
  [
    'an account that is over its limit, if no company has to be created',
    { ...account({ companyLimit: 50, companiesUsed: 51 }), toCreate: 0 },
    'no-room',
    null,
  ],
  ['an account on trial', account({ plan: 'trial' }), 'account-on-trial', 'warning'],
  ['an expiry before the end', account({ expiresAt: '2026-03-08T03:59:00Z' }), 'account-expires', 'error'],
  ['an expiry after the end', account({ expiresAt: '2026-03-08T04:01:00Z' }), 'account-expires', null],
  ['a disabled platform', service({ platformEnabled: false }), 'platform-disabled', 'error'],
  ['no application', service({ application: null }), 'application-missing', 'error'],
  [
    'no application before the start',
    { ...service({ application: null }), isStarted: false },
    'application-missing',
    'warning',
  ],
  [
    'a sandbox application for production companies',
    service({ application: { clientId: 'app-1', environment: 'sandbox' } }),
    'application-environment',
    'error',
  ],
  [
    'a sandbox application for the sandbox of the same platform',
    {
      ...service({ application: { clientId: 'app-1', environment: 'sandbox' } }),
      platform: platform('quickbooks-online-sandbox'),
    },
    'application-environment',
    null,
  ],
  [
    'a sandbox application for a platform without a separate sandbox entry',
    { ...service({ application: { clientId: 'app-1', environment: 'sandbox' } }), platform: platform('freshbooks') },
    'application-environment',
    'warning',
  ],
  ['a service that refuses the key', facts({ service: { refused: 'answered 402' } }), 'service-refuses', 'error'],
  ['no managed route', facts({ platform: platform('xero') }), 'no-managed-route', 'error'],
])('the preflight reports the right severity for %s (%#)', (_, given, code, severity) => {
  expect(preflight(given).find((finding) => finding.code === code)?.severity ?? null).toBe(severity);
});

test.each<[string, Partial<ServiceFacts>]>([
  ['missing', { application: null }],
  ['registered for another environment', { application: { clientId: 'app-1', environment: 'sandbox' } }],
])('the advice about an application that is %s says when it can be followed, if not now', (_, changes) => {
  const found = (of: Partial<PreflightFacts>) => preflight({ ...service(changes), ...of })[0];
  expect(found({ isStarted: true })).toMatchObject({
    severity: 'error',
    advice: expect.stringMatching(/^supply the (right application|application that obtained the tokens)$/) as string,
  });
  // `ferry application` works only after the start, so a missing or wrong application must not prevent the start.
  expect(found({ isStarted: false })).toMatchObject({
    severity: 'warning',
    advice: expect.stringContaining('in step 1, after the start') as string,
  });
  expect(RESOLVED_IN_STEP_1).toContain(found({ isStarted: true })?.code);
  for (const isStarted of [true, false]) {
    const inSelfService = preflight({ ...service(changes), route: 'self-service', isStarted });
    const about = inSelfService.filter(({ code }) => code.startsWith('application-'));
    expect(about).toHaveLength(1);
    expect(about[0]?.advice).toMatch(
      /ask support to register the (right application$|application that obtained the tokens, because )/,
    );
  }
});

test('the client reads the id of an application in the wrong environment only if it was supplied', () => {
  const application = { clientId: 'app-1', environment: 'sandbox' };
  const found = (supplied: SuppliedApplication | null) =>
    preflight({
      ...service({ application }),
      applications: { migrationId: 'kite.quickbooks-online', client: 'kite', supplied, others: [] },
    })[0];
  const clientMessage =
    'an application is registered for the sandbox environment of QuickBooks Online, not for production';
  expect(found(null)).toMatchObject({ message: expect.stringContaining('"app-1"') as string, clientMessage });
  expect(found({ ...application, suppliedBy: 'Cleo' })?.clientMessage).toBeUndefined();
});

test('the preflight warns if the service does not show the application', () => {
  const { application: _, ...silent } = SERVICE;
  expect(preflight(facts({ service: silent }))).toMatchObject([{ code: 'application-not-shown', severity: 'warning' }]);
});

describe('an organization conflict', () => {
  const found = (of: ManifestRow, changes: Partial<OrganizationConflicts>, by = QUICKBOOKS) =>
    organizationFindings(of, by, { connected: new Map(), openElsewhere: new Map(), ...changes });
  const connected = (status: string) => new Map([['2', { companyId: 'id', name: 'Acme', status }]]);
  const about = { about: { row: 2, reference: 'C-2' }, field: 'realmId' };

  test('is not reported for another company', () => {
    expect(found(row(1), { connected: connected('Linked'), openElsewhere: new Map([['2', 'acme.other']]) })).toEqual(
      [],
    );
  });

  test('is an error for a connected organization, and a warning for a previously connected organization', () => {
    expect(found(row(2), { connected: connected('Linked') })).toMatchObject([
      { code: 'organization-connected', severity: 'error', ...about },
    ]);
    expect(found(row(2), { connected: connected('Unlinked') })).toMatchObject([
      { code: 'organization-was-connected', severity: 'warning', ...about },
    ]);
  });

  test.each([
    [null, 'this migration does not use that company, but a new one'],
    [{ companyId: 'other', connectionId: null }, 'this row uses the company that it names in serviceCompanyId, other'],
  ])('with a previously connected company says to which company the row moves, if it names %j', (existing, text) => {
    const [finding] = found(row(2, { existing }), { connected: connected('Unlinked') });
    expect(finding?.message).toBe(`"2" was previously connected to company "Acme" (id) in the account; ${text}`);
  });

  test('is not reported if the row is for the unlinked company', () => {
    const existing = row(2, { existing: { companyId: 'id', connectionId: null } });
    expect(found(existing, { connected: connected('Unlinked') })).toEqual([]);
    expect(found(existing, { connected: connected('Linked') })).toHaveLength(1);
  });

  test('is an error if another migration contains the organization, ignoring case', () => {
    const shop = row(2, { organization: 'Shop.MyShopify.com' });
    const openElsewhere = new Map([['shop.myshopify.com', 'acme.other']]);
    expect(found(shop, { openElsewhere }, platform('shopify'))).toMatchObject([
      { code: 'organization-open-elsewhere', severity: 'error', about: { row: 2 }, field: 'shop' },
    ]);
  });
});

describe('a manifest row', () => {
  const codes = (found: readonly PreflightFinding[]): readonly string[] =>
    found.map(({ code, severity }) => `${severity} ${code}`);

  test.each<[string, Partial<ManifestRow>, readonly string[]]>([
    ['good values has no finding', {}, []],
    ['a name that will be stored differently is reported', { name: 'Bäcker' }, ['warning name-altered']],
    ['a name that cannot be stored is reported', { name: '株式会社' }, ['error name-empty']],
    [
      'an organization that a spreadsheet has damaged is reported',
      { organization: '9.13E+15' },
      ['error spreadsheet-damage'],
    ],
    ['an organization in an unusual format is reported', { organization: 'abc' }, ['warning unusual-organization']],
    ['a missing number of invoices is reported', { expectedInvoices: null }, ['warning no-expected-invoices']],
  ])('with %s', (_, changes, found) => expect(codes(companyFindings(row(1, changes), QUICKBOOKS))).toEqual(found));

  test('without a number of invoices has no finding on a banking platform, which has no invoices', () => {
    expect(companyFindings(row(1, { expectedInvoices: null }), platform('plaid'))).toEqual([]);
  });

  test('token families of more than one company are reported, and so are missing families', () => {
    const zoho = platform('zoho-books');
    const sizes = { companies: 6, withoutFamily: 0, families: 2, companiesInFamilies: 5, largestFamily: 3 };
    expect(familyFindings(sizes, zoho)).toMatchObject([
      {
        code: 'token-families',
        message:
          '5 companies belong to 2 token families; companies of one family move one at a time, and the largest family has 3 companies',
      },
    ]);
    const single = { companies: 3, withoutFamily: 1, families: 0, companiesInFamilies: 0, largestFamily: 1 };
    expect(familyFindings(single, zoho)).toMatchObject([
      { code: 'no-family', message: 'the token family is missing for 1 of 3 companies' },
    ]);
    expect(familyFindings(single, QUICKBOOKS)).toEqual([]);
  });
});

test.each(['Müller', '株'])(
  'the name %s of a company that exists at the service is not checked, because it is not stored',
  (name) => {
    expect(companyFindings(row(1, { name }), QUICKBOOKS)).toHaveLength(1);
    expect(companyFindings(row(1, { name, existing: { companyId: 'id', connectionId: null } }), QUICKBOOKS)).toEqual(
      [],
    );
  },
);

test('a summary has one sentence per code, with the first company and the number of other companies', () => {
  const summary = new FindingSummary({ errors: 'see exceptions', warnings: (code) => `run the check of ${code}` });
  const rows = [row(1, { name: 'Bäcker' }), row(2, { name: 'Müller' }), row(3, { name: '株' })];
  for (const each of rows) summary.add(companyFindings(each, QUICKBOOKS));
  expect(summary.sentences).toEqual({
    problems: ['C-3: the service cannot store any character of the name "株"'],
    advice: ['correct the row'],
    problemCodes: ['name-empty'],
    warnings: ['C-1: the name "Bäcker" will be stored as "Bcker"; and 1 more company like this'],
    warningAdvice: [expect.stringMatching(/^.+; run the check of name-altered$/) as string],
  });
});

test('a check of a started migration does not compare its rows with the migration itself', () => {
  const check = 'ferry check manifest.csv --platform xero';
  // Workers do not know the encoding, without which `ferry check` cannot read some files.
  const file = 'your manifest (and the same --encoding, if any)';
  expect(checkAgainText('name-altered', 'kite.xero', 'xero')).toBe(
    `to check all rows again, run this command with ${file}: ${check} --offline --all-findings`,
  );
  // An offline check does not know the account, so it cannot find this problem.
  expect(checkAgainText('organization-was-connected', 'kite.xero', 'xero')).toBe(
    `to check all rows again, run this command with ${file}, and ignore the errors about kite.xero: ${check} --all-findings`,
  );
  // `ferry check` reports only how many rows have no number of invoices.
  expect(checkAgainText('no-expected-invoices', 'kite.xero', 'xero')).toBe(
    'the other companies are the rows of your manifest without a value for expectedInvoices',
  );
});

test('the reason for holding a company back contains all its errors', () => {
  const found = companyFindings(row(1, { name: '株', organization: '####' }), QUICKBOOKS);
  expect(heldBackBy(found)).toEqual({
    heldBack: 'the service cannot store any character of the name "株"; "####" is not a valid realmId',
    heldBackDetails: null,
  });
  const none = { heldBack: null, heldBackDetails: null };
  expect(heldBackBy(companyFindings(row(2, { name: 'Bäcker' }), QUICKBOOKS))).toEqual(none);
});
