/** The check of a chosen file in the portal's page: when it begins, which check counts, and what can be sent. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page, Route } from 'playwright-core';
import { describeWithChromium, signIn, usePage } from './browser-page';
import { createMigrationKey, createVaultKey } from './sample-key';
import { sampleCompanies, sampleView } from './sample-view';

const HEADER = 'reference,accessToken,refreshToken,realmId';
const GOOD = `${HEADER}\nK-1,at-1,rt-1,9130\n`;
const WRONG = `${HEADER}\nK-1,at-1,,9130\n`;

describeWithChromium("the check of a file in the portal's page", () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'file-check-'));
  const file = path.join(folder, 'credentials.csv');
  afterAll(() => rmSync(folder, { recursive: true }));

  const key = createMigrationKey('kite', 'qhyg', createVaultKey().publicKey);
  const current = usePage((portal) => {
    portal.view = sampleView({ migrationKey: key.text });
    portal.companies = sampleCompanies(2).map((each) => ({
      ...{ ...each, reference: `K-${each.row}`, confirmedAt: '2026-11-20T10:00:00.000Z' },
      ...{ state: 'not-moved-yet' as const, remedies: [] },
    }));
    portal.answer = ({ path: to }) =>
      to === '/api/credentials' ? { outcome: 'stored', text: 'stored' } : { outcome: 'applied', text: 'done' };
  });

  async function openDialog(): Promise<Page> {
    const page = await signIn(current.browser, current, { provider: key.provider });
    await page.getByRole('button', { name: 'Supply credentials' }).click();
    return page;
  }
  const send = (page: Page): Promise<void> =>
    page.getByRole('dialog').getByRole('button', { name: 'Supply credentials' }).click();
  const sentTimes = (): unknown =>
    current.portal.sent
      .filter((each) => each.path === '/api/credentials')
      .flatMap(({ body }) => body['credentials'] as { readonly obtainedAt: string }[])
      .map(({ obtainedAt }) => obtainedAt);

  /** Holds the page's next request for companies, with which a check begins. Returns a function that lets it go on. */
  async function holdNextCheck(page: Page): Promise<() => void> {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const hold = (route: Route): Promise<void> => released.then(() => route.continue());
    await page.route('**/api/companies?*', hold, { times: 1 });
    return release;
  }

  /**
   * Chooses the file as a person does. If the same file is chosen again, a browser reports no change, unlike
   * Playwright's `setInputFiles`.
   */
  async function chooseByHand(page: Page): Promise<void> {
    const browser = await page.context().newCDPSession(page);
    await browser.send('DOM.enable');
    await browser.send('Page.enable');
    await browser.send('Page.setInterceptFileChooserDialog', { enabled: true });
    const opened = new Promise<number>((resolve) =>
      browser.once('Page.fileChooserOpened', ({ backendNodeId }) => resolve(backendNodeId ?? 0)),
    );
    await page.getByLabel('Credential file').click();
    await browser.send('DOM.setFileInputFiles', { files: [file], backendNodeId: await opened });
    await browser.detach();
  }

  test('says that the migration has ended, if it ends while the dialog is open', async () => {
    writeFileSync(file, GOOD);
    const page = await openDialog();
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    current.portal.publish({ state: 'completed', headline: 'The migration has ended.', migrationKey: null });
    await page.getByText('The migration has ended.').first().waitFor();
    await send(page);
    await page
      .getByRole('alert')
      .getByText('This migration was completed, so it no longer accepts credentials or client secrets. Nothing was')
      .waitFor();
    expect(sentTimes()).toEqual([]);
  });

  test('sends nothing before the result of the check is shown', async () => {
    writeFileSync(file, GOOD);
    const page = await openDialog();
    const release = await holdNextCheck(page);
    await page.getByLabel('Credential file').setInputFiles(file);
    await send(page);
    await page.getByRole('alert').getByText('The page was still checking the file; read the result').waitFor();
    expect(sentTimes()).toEqual([]);
    release();
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(sentTimes()).toHaveLength(1);
  });

  test('ignores a check that ends after a later one', async () => {
    writeFileSync(file, GOOD);
    const page = await openDialog();
    const release = await holdNextCheck(page);
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByLabel('When your application received').fill('2026-11-22T10:00');
    await page.getByLabel('When your application received').blur();
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    const answered = page.waitForResponse('**/api/companies?*');
    release();
    await answered;
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(sentTimes()).toEqual(['2026-11-22T15:00:00.000Z']);
  });

  test('checks a corrected file that is chosen again', async () => {
    writeFileSync(file, WRONG);
    const page = await openDialog();
    await chooseByHand(page);
    await page.getByText('Error, line 2, column 3, refreshToken').waitFor();
    writeFileSync(file, GOOD);
    await chooseByHand(page);
    await page.getByText('✓ 1 credential can be sent.').waitFor();
  });

  test('says that no file is chosen if a person closes the file picker', async () => {
    writeFileSync(file, GOOD);
    const page = await openDialog();
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    await page.getByLabel('Credential file').click();
    await page.getByLabel('Credential file').dispatchEvent('cancel');
    await page.getByText('No file is chosen.').waitFor();
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
    expect(sentTimes()).toEqual([]);
  });

  test('names the field for the time if the time of the file is from before the year 2000', async () => {
    writeFileSync(file, GOOD);
    utimesSync(file, new Date('1980-01-01T00:00:00Z'), new Date('1980-01-01T00:00:00Z'));
    const page = await openDialog();
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByText('nter the time under "When your application received the credentials"').waitFor();
    await page.getByLabel('When your application received').fill('2026-11-22T10:00');
    await page.getByLabel('When your application received').blur();
    await page.getByText('✓ 1 credential can be sent.').waitFor();
  });

  test('refuses a time in the future, which would be after every confirmation', async () => {
    writeFileSync(file, GOOD);
    const page = await openDialog();
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByLabel('When your application received').fill('2999-11-22T10:00');
    await page.getByLabel('When your application received').blur();
    await page.getByText('the time that is used instead (2999-11-22 15:00 UTC) is in the future').waitFor();
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
    expect(sentTimes()).toEqual([]);
  });

  test('says that a file has changed since it was chosen', async () => {
    writeFileSync(file, WRONG);
    const page = await openDialog();
    await page.getByLabel('Credential file').setInputFiles(file);
    await page.getByText('Error, line 2, column 3, refreshToken').waitFor();
    writeFileSync(file, `${GOOD}K-2,at-2,rt-2,9131\n`);
    await page.getByLabel('When your application received').fill('2026-11-22T10:00');
    await page.getByLabel('When your application received').blur();
    await page
      .getByText('The page cannot read the file. If the file was changed or moved after you chose it, choose it again.')
      .waitFor();
    await send(page);
    await page.getByText('Choose a file with credentials that can be sent.').waitFor();
  });
});
