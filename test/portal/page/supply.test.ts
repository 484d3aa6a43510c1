/** Credentials and client secrets in the portal's page: checked, encrypted for the workers, and sent in parts. */
import type { Page } from 'playwright-core';
import { applicationDigest, credentialsDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import {
  applicationBinding,
  createMigrationKey,
  createOpener,
  createVaultKey,
  credentialBinding,
  fingerprintOf,
  type MigrationKey,
} from './sample-key';
import { axeViolations, describeWithChromium, signIn, usePage } from './browser-page';
import type { SentRequest } from './fixture-portal';
import { sampleCompanies, sampleView } from './sample-view';

interface SealedPart {
  readonly decisionId: string;
  readonly keyFingerprint: string;
  readonly credentials: readonly { reference: string; obtainedAt: string; sealed: string }[];
}

const HEADER = 'reference,accessToken,refreshToken,realmId,obtainedAt';
const csvOf = (count: number): string =>
  [
    HEADER,
    ...Array.from(
      { length: count },
      (_, index) => `K-${index + 1},at-MARKER-${index},rt-MARKER-${index},913${index},2026-11-20T10:00:00Z`,
    ),
  ].join('\n');

const hashIn = (sealed: string): string => hashOfBox(Buffer.from(sealed, 'base64'));
const digestOf = (credentials: SealedPart['credentials']): string =>
  credentialsDigest(credentials.map(({ sealed, ...each }) => ({ ...each, boxHash: hashIn(sealed) })));

const fieldsIn = (box: Buffer): unknown => JSON.parse(box.toString('utf8'));

describeWithChromium("supplying in the portal's page", () => {
  const vault = createVaultKey();
  let key: MigrationKey;
  const current = usePage(
    (portal) => {
      key = createMigrationKey('kite', 'qhyg', vault.publicKey);
      portal.view = sampleView({ migrationKey: key.text });
      portal.companies = sampleCompanies(2_100).map((each) => ({
        ...{ ...each, reference: `K-${each.row}`, confirmedAt: '2026-11-20T10:00:00.000Z' },
        ...{ state: 'not-moved-yet' as const, remedies: [] },
      }));
      portal.answer = ({ path }) =>
        path === '/api/credentials' ? { outcome: 'stored', text: 'stored' } : { outcome: 'applied', text: 'done' };
    },
    (errors, { sent }) => {
      expect(errors.filter((text) => !text.includes('ERR_EMPTY_RESPONSE'))).toEqual([]);
      expect(JSON.stringify(sent)).not.toContain('MARKER');
    },
  );

  const open = (provider = key.provider): Promise<Page> => signIn(current.browser, current, { provider });
  const parts = (): SealedPart[] =>
    current.portal.sent
      .filter(({ path }) => path === '/api/credentials')
      .map(({ body }) => body as unknown as SealedPart);

  async function choose(page: Page, name: string, text: string | Buffer): Promise<void> {
    await page.getByRole('button', { name: 'Supply credentials' }).click();
    const buffer = typeof text === 'string' ? Buffer.from(text) : text;
    await page.getByLabel('Credential file').setInputFiles({ name, mimeType: 'text/csv', buffer });
  }

  const send = (page: Page): Promise<void> =>
    page.getByRole('dialog').getByRole('button', { name: 'Supply credentials' }).click();

  test('seals each credential so that only the vault opens it, for its company and time', async () => {
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(3));
    await page.getByText('✓ 3 credentials can be sent.').waitFor();
    await send(page);
    await page.getByText('✓ Done. credentials.csv still contains credentials in plain text. Delete it').waitFor();

    const [part] = parts();
    const opener = createOpener(vault, 'acme.xero');
    expect(part?.keyFingerprint).toBe(fingerprintOf(vault.publicKey));
    expect(
      part?.credentials.map(({ sealed, ...label }) =>
        fieldsIn(opener(Buffer.from(sealed, 'base64'), credentialBinding('kite', label))),
      ),
    ).toEqual(
      [0, 1, 2].map((row) => ({
        ...{ accessToken: `at-MARKER-${row}`, refreshToken: `rt-MARKER-${row}`, realmId: `913${row}` },
      })),
    );
    expect(() =>
      opener(
        Buffer.from(part?.credentials[0]?.sealed ?? '', 'base64'),
        credentialBinding('kite', {
          ...{ reference: 'K-2', obtainedAt: '2026-11-20T10:00:00.000Z' },
        }),
      ),
    ).toThrow('cannot be opened');
    expect(current.portal.sent.at(-1)?.body).toMatchObject({
      message: 'credentialsSupplied',
      decision: { decisionId: part?.decisionId, companies: 3, by: 'Cleo' },
    });
  });

  test('sends parts of 1,000, and repeats the same part after the connection was lost', async () => {
    let losses = 0;
    current.portal.losesConnection = ({ path }) =>
      path === '/api/credentials' && parts().length === 2 && ++losses === 1;
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(2_100));
    await page.getByText('✓ 2,100 credentials can be sent.').waitFor();
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(parts().map(({ credentials }) => credentials.length)).toEqual([1_000, 1_000, 1_000, 100]);
    expect(parts()[2]).toEqual(parts()[1]);
    expect(new Set(parts().map(({ decisionId }) => decisionId)).size).toBe(1);
    expect(current.portal.sent.filter(({ path }) => path === '/api/decisions').length).toBe(1);
    const sent = new Map(parts().flatMap(({ credentials }) => credentials.map((each) => [each.reference, each])));
    expect(current.portal.sent.at(-1)?.body).toMatchObject({
      decision: { companies: 2_100, sealedDigest: digestOf([...sent.values()]) },
    });
  });

  test('sends no credential of a company that is not in the manifest, and says so beforehand', async () => {
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(1).replace('K-1,', 'N-777,'));
    await page.getByText('1 credential (N-777) cannot be sent, because no company of the manifest').waitFor();
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
    const buffer = Buffer.from(csvOf(2).replace('K-1,', 'N-777,'));
    await page.getByLabel('Credential file').setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer });
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    expect(await page.getByRole('dialog').textContent()).toContain(
      'no company of the manifest has the same reference; if the reference is wrong, correct it in the file.',
    );
    await send(page);
    await page.getByText('⚠ Done. 1 credential (N-777) was not sent, because no company').waitFor();
    expect(parts().flatMap(({ credentials }) => credentials.map(({ reference }) => reference))).toEqual(['K-2']);
  });

  test('finds credentials of another or an unknown company at once, and leaves out those of companies that need none', async () => {
    const known = current.portal.companies.slice(0, 3);
    current.portal.companies = known.map((each) =>
      each.row === 1 ? { ...each, organization: 'another' } : each.row === 3 ? { ...each, state: 'moved' } : each,
    );
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(2).replace('K-2,', 'N-777,'));
    await page.getByText('The file has 1 error. Nothing was sent.').waitFor();
    await page.getByText('1 credential (N-777) cannot be sent, because no company of the manifest').waitFor();
    expect(await page.getByRole('dialog').textContent()).toContain(
      'realmId differs from the realmId of "K-1" in the manifest',
    );
    current.portal.companies = current.portal.companies.map((each) => ({ ...each, organization: undefined }));
    const buffer = Buffer.from(csvOf(3));
    await page.getByLabel('Credential file').setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer });
    await page.getByText('✓ 2 credentials can be sent.').waitFor();
    await page.getByText('1 credential (K-3) cannot be sent, because a company that has moved').waitFor();
    await send(page);
    await page.getByText('⚠ Done. 1 credential (K-3) was not sent, because').waitFor();
    expect(parts().flatMap(({ credentials }) => credentials.map(({ reference }) => reference))).toEqual(['K-1', 'K-2']);
  });

  test('sends no credential from before the confirmation, and names each reason once', async () => {
    current.portal.companies = current.portal.companies.slice(0, 14).map((each) => ({
      ...{ ...each, state: 'not-moved-yet' as const, confirmedAt: each.row > 12 ? null : '2026-11-20T10:00:00.001Z' },
    }));
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(14));
    const early =
      '12 credentials (K-1, K-2, K-3, K-4, K-5, K-6, K-7, K-8, K-9, K-10 and 2 more) cannot be sent, because credentials that were obtained before you confirmed that syncing is off might no longer work; export the credentials again.';
    await page.getByText(early).waitFor();
    await page
      .getByText('2 credentials (K-13, K-14) cannot be sent, because you have not confirmed that syncing is off')
      .waitFor();
    expect(await page.getByText('can be sent.').count()).toBe(0);
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
    expect(parts()).toEqual([]);
    const confirmed = csvOf(14).replaceAll('10:00:00Z', '10:00:01Z');
    await page.getByLabel('Credential file').setInputFiles({
      ...{ name: 'later.csv', mimeType: 'text/csv', buffer: Buffer.from(confirmed) },
    });
    await page.getByText('✓ 12 credentials can be sent.').waitFor();
  });

  test('reads a file of Excel in Windows-1252 once a person has checked the references', async () => {
    current.portal.companies = current.portal.companies
      .slice(0, 1)
      .map((each) => ({ ...each, reference: 'Kä-1', state: 'not-moved-yet' as const }));
    const page = await open();
    await choose(page, 'credentials.csv', Buffer.from(csvOf(1).replace('K-1,', 'Kä-1,'), 'latin1'));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This file is not UTF-8; it looks like Windows-1252 (Excel\'s "CSV").').waitFor();
    expect(await dialog.textContent()).not.toMatch(/MARKER|The page has read the file/);
    await dialog.getByLabel('Read the file as Windows-1252 (Excel)').check();
    await dialog.getByText('✓ 1 credential can be sent.').waitFor();
    await dialog.getByText('Line 2: Kä-1').waitFor();
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(parts()[0]?.credentials[0]?.reference).toBe('Kä-1');
  });

  test('names the credentials that were not accepted', async () => {
    const refusedCredentials = [{ reference: 'K-2', why: 'there is no company with this reference' }];
    const answer = current.portal.answer;
    current.portal.answer = (request: SentRequest) =>
      request.path === '/api/credentials'
        ? { outcome: 'stored', text: 'stored', stored: 2, refusedCredentials }
        : answer(request);
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(3));
    await page.getByText('✓ 3 credentials can be sent.').waitFor();
    await send(page);
    await page
      .getByRole('dialog')
      .getByText('⚠ Done. 1 credential (K-2) was not accepted, because there is no company with this reference.')
      .waitFor();
    const stored = parts().flatMap(({ credentials }) => credentials.filter(({ reference }) => reference !== 'K-2'));
    expect(current.portal.sent.at(-1)?.body).toMatchObject({
      decision: { companies: 2, sealedDigest: digestOf(stored) },
    });
  });

  test.each([
    ['an error by line and column', `${HEADER}\nK-1,at-MARKER,,9130,`, 'Error, line 2, column 3, refreshToken'],
    ['a missing column', 'reference,accessToken\nK-1,at-MARKER', 'Missing columns: refreshToken, realmId'],
    ['a seal', '{"tokenferry":"sealed-credentials/1","migration":"o.xero"}', 'been sealed already, for o.xero, not'],
    ['a workbook', Buffer.from('504b0304', 'hex'), 'This is a zip archive, not CSV or JSON'],
    ['another encoding', Buffer.from(`${HEADER}\nK\xe4-1,at-MARKER`, 'latin1'), 'This file is not UTF-8'],
    ['a quotation mark that is not closed', `${HEADER}\n"K-1,at-MARKER`, 'a quotation mark in the row'],
  ])('refuses a file with %s, and sends nothing', async (_, text, message) => {
    const page = await open();
    await choose(page, 'credentials.csv', text);
    await page.getByRole('dialog').getByText(message, { exact: false }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
    expect(current.portal.sent.map(({ path }) => path)).toEqual(['/api/session']);
  });

  test('uses the time of the file to the second, because a minute can decide whether a credential is accepted', async () => {
    const page = await open();
    await choose(page, 'credentials.csv', 'reference,accessToken,refreshToken,realmId\nK-1,at-MARKER,rt-MARKER,9130');
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    const chosenAt = Date.now();
    await send(page);
    await page.getByRole('dialog').getByText('✓ Done.').waitFor();
    const obtainedAt = Date.parse(parts()[0]?.credentials[0]?.obtainedAt ?? '');
    expect(Math.abs(obtainedAt - chosenAt)).toBeLessThan(20_000);
  });

  test('reads JSON as well', async () => {
    const page = await open();
    const rows = [{ reference: 'K-1', accessToken: 'at-MARKER', refreshToken: 'rt-MARKER', realmId: 9130 }];
    await choose(page, 'credentials.json', JSON.stringify(rows));
    await page.getByText('✓ 1 credential can be sent.').waitFor();
  });

  test.each([
    ['another provider has signed', () => createMigrationKey('kite', 'qhyg', vault.publicKey).text, /was signed by/],
    ['was altered', () => key.altered(createVaultKey().publicKey), /migration key was altered/],
    ['is for another migration', () => key.sign('other', 'qhyg', vault.publicKey), /another migration/],
    ['is not signed yet', () => null, /has no signed migration key.*; try again in a minute/],
  ])('refuses to encrypt with a key that %s', async (_, migrationKey, message) => {
    current.portal.view = sampleView({ migrationKey: migrationKey() });
    const page = await open();
    await choose(page, 'credentials.csv', csvOf(1));
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    await page.getByRole('dialog').getByText(message).waitFor();
    await send(page);
    await page.getByRole('alert').getByText(message).waitFor();
    expect(current.portal.sent.map(({ path }) => path)).toEqual(['/api/session']);
  });

  test('seals the client secret of the application', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Replace your application' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Client id').fill('AB99');
    await dialog.getByLabel('Environment').selectOption('sandbox');
    await dialog.getByLabel('Client secret').fill('reference,accessToken,refreshToken,realmIdK-1,at-1,rt-1,1');
    await dialog.getByRole('button', { name: 'Replace your application' }).click();
    await dialog.getByText('looks like a file of credentials').waitFor();
    expect(current.portal.sent.map(({ path }) => path)).toEqual(['/api/session']);
    await dialog.getByLabel('Client secret').fill('secret-MARKER');
    await dialog.getByRole('button', { name: 'Replace your application' }).click();
    await dialog.getByText('✓ Done.').waitFor();
    const { sealed, decision, ...facts } = current.portal.sent.at(-1)!.body as { sealed: string; decision: object };
    const application = { clientId: 'AB99', environment: 'sandbox' };
    expect(facts).toEqual({ ...application, keyFingerprint: fingerprintOf(vault.publicKey) });
    const sealedDigest = applicationDigest({ ...application, boxHash: hashIn(sealed) });
    expect(decision).toMatchObject({ ...application, sealedDigest });
    const binding = applicationBinding('kite', application);
    expect(createOpener(vault, 'acme.xero')(Buffer.from(sealed, 'base64'), binding).toString('utf8')).toBe(
      'secret-MARKER',
    );
  });
});
