/** The credentials of selected companies in the portal's page, from a file that contains more companies. */
import { createMigrationKey, createVaultKey, type MigrationKey } from './sample-key';
import { describeWithChromium, signIn, usePage } from './browser-page';
import { sampleCompanies, sampleView } from './sample-view';

const csvOf = (references: readonly string[]): Buffer =>
  Buffer.from(
    [
      'reference,accessToken,refreshToken,realmId,obtainedAt',
      ...references.map((reference, index) => `${reference},at-${index},rt-${index},913${index},2026-11-20T12:00:00Z`),
    ].join('\n'),
  );

describeWithChromium("replacing a company's credential in the portal's page", () => {
  let key: MigrationKey;
  const current = usePage(
    (portal) => {
      key = createMigrationKey('kite', 'qhyg', createVaultKey().publicKey);
      const replace = {
        ...{ message: 'replaceCredential', title: 'Replace credentials', facts: [], consequence: 'They are replaced.' },
        ...{ isIrreversible: false, isExpected: false, reason: 'optional' as const },
      };
      portal.view = sampleView({ migrationKey: key.text, actions: [replace] });
      portal.companies = sampleCompanies(3).map((each) => ({
        ...{ ...each, reference: `K-${each.row}`, confirmedAt: '2026-11-20T10:00:00.000Z' },
        ...{ state: 'not-moved' as const, problem: 'refused', remedies: ['replace-credential'] },
      }));
      portal.answer = ({ path }) =>
        path === '/api/credentials' ? { outcome: 'stored', text: 'stored' } : { outcome: 'applied', text: 'done' };
    },
    (errors) => expect(errors).toEqual([]),
  );

  test('sends only the credential of the selected company, and says that the others are not sent', async () => {
    const page = await signIn(current.browser, current, { provider: key.provider });
    await page.getByRole('button', { name: 'Replace the credential' }).nth(1).click();
    const choose = (references: readonly string[]): Promise<void> =>
      page
        .getByLabel('Credential file')
        .setInputFiles({ name: 'credentials.csv', mimeType: 'text/csv', buffer: csvOf(references) });
    await choose(['K-1', 'K-3']);
    await page.getByText('The file contains none of the companies that you selected.').waitFor();
    await choose(['K-1', 'K-2', 'K-3']);
    await page.getByText('✓ 1 credential can be sent.').waitFor();
    await page.getByText('The file also contains K-1, K-3.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    await page.getByText('✓ Done.').waitFor();
    const sent = current.portal.sent.filter(({ path }) => path === '/api/credentials');
    expect(sent.map(({ body }) => body)).toMatchObject([{ credentials: [{ reference: 'K-2' }] }]);
  });
});
