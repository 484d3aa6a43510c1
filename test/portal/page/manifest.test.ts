/** The manifest in the portal's page: checked by line and column, then sent in parts with a signed decision. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { manifestDigest } from '../../../store';
import { axeViolations, describeWithChromium, signIn, usePage } from './browser-page';
import { sampleSteps, sampleView } from './sample-view';

interface ManifestPart {
  readonly decisionId: string;
  readonly part: number;
  readonly rows: readonly ManifestRow[];
}

const HEADER = 'reference,name,realmId,expectedInvoices,wave';

describeWithChromium("the manifest in the portal's page", () => {
  const current = usePage((portal) => {
    const { counts } = sampleView();
    const none = Object.fromEntries(Object.keys(counts).map((count) => [count, 0])) as typeof counts;
    portal.companies = [];
    portal.view = sampleView({
      ...{ counts: none, steps: sampleSteps(1), start: null, end: null, waves: [], firstCompany: null },
      headline: 'Please supply the manifest, which lists the companies to move.',
      actions: [
        {
          ...{ message: 'manifestSupplied', title: 'Supply the manifest', facts: [], reason: 'none' as const },
          consequence: 'The companies in the file are stored and checked.',
          ...{ isIrreversible: false, isExpected: true },
        },
      ],
    });
    portal.answer = ({ path }) =>
      path === '/api/manifest' ? { outcome: 'stored', text: 'stored' } : { outcome: 'applied', text: 'done' };
  });

  const parts = (): ManifestPart[] =>
    current.portal.sent
      .filter(({ path }) => path === '/api/manifest')
      .map(({ body }) => body as unknown as ManifestPart);

  async function open(width = 1440): Promise<Page> {
    const page = await signIn(current.browser, current, { width });
    await page.getByText('Companies are shown here once the manifest has been supplied').waitFor();
    await page.getByRole('button', { name: 'Supply the manifest' }).click();
    return page;
  }
  const choose = (page: Page, name: string, text: string | Buffer): Promise<void> =>
    page
      .getByLabel('Manifest (CSV or JSON)')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: typeof text === 'string' ? Buffer.from(text) : text });
  const send = (page: Page): Promise<void> =>
    page.getByRole('dialog').getByRole('button', { name: 'Supply the manifest' }).click();

  test.each([390, 1440])(
    '%i px: a wrong file is refused with lines and columns, then a right one is sent',
    async (width) => {
      const page = await open(width);
      await choose(
        page,
        'wrong.csv',
        `${HEADER}\nC-1,Acme,9130000000000001,x,1\nC-1,,9.13E+15,2,1\nC-9,Good,9130000000000009,1,1\n`,
      );
      const findings = page.getByLabel('Errors and warnings in the file');
      await findings.getByText('Error, line 2, column 4, expectedInvoices:').waitFor();
      await findings.getByText('Error, line 3, column 2, name:').waitFor();
      await findings.getByText('Error, line 3, column 3, realmId:').waitFor();
      await findings.getByText('Fill it in.').waitFor();
      await page.getByText('The file has 3 errors. Nothing was sent.').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await send(page);
      await page.getByText('Choose a file that passes the check.').waitFor();
      expect(parts()).toEqual([]);

      await choose(page, 'right.csv', `${HEADER}\nC-1,Acme,9130000000000001,5,1\nC-2,Bolt,9130000000000002,2,2\n`);
      await page.getByText('✓ 2 companies on QuickBooks Online (wave 1: 1, wave 2: 1).').waitFor();
      await send(page);
      await page.getByText('✓ Done.').waitFor();
      const rows: ManifestRow[] = [
        {
          row: 1,
          reference: 'C-1',
          name: 'Acme',
          organization: '9130000000000001',
          expectedInvoices: 5,
          wave: 1,
          family: null,
        },
        {
          row: 2,
          reference: 'C-2',
          name: 'Bolt',
          organization: '9130000000000002',
          expectedInvoices: 2,
          wave: 2,
          family: null,
        },
      ];
      expect(parts()).toEqual([{ decisionId: parts()[0]?.decisionId, part: 0, rows }]);
      expect(current.portal.sent.at(-1)?.body).toMatchObject({
        message: 'manifestSupplied',
        decision: {
          decisionId: parts()[0]?.decisionId,
          companies: 2,
          manifestDigest: manifestDigest(rows),
          by: 'Cleo',
        },
      });
    },
  );

  test('2,500 companies are sent in parts, and credentials in the file are not sent', async () => {
    const page = await open();
    const lines = Array.from(
      { length: 2_500 },
      (_, row) => `C-${row},Company ${row},91${row},1,token-${row},token-MARKER-${row}`,
    );
    await choose(
      page,
      'many.csv',
      ['reference,name,realmId,expectedInvoices,accessToken,refreshToken', ...lines].join('\n'),
    );
    await page
      .getByText('The file also contains 2,500 credentials. The page does not send credentials with a manifest')
      .waitFor();
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(parts().map(({ part, rows }) => [part, rows.length])).toEqual([
      ...[
        [0, 1_000],
        [1, 1_000],
        [2, 500],
      ],
    ]);
    const rows = parts().flatMap((each) => each.rows);
    expect(current.portal.sent.at(-1)?.body).toMatchObject({
      decision: { companies: 2_500, manifestDigest: manifestDigest(rows) },
    });
    expect(JSON.stringify(current.portal.sent)).not.toContain('MARKER');
  });

  test('an error is shown before any number of warnings', async () => {
    const page = await open(390);
    const warned = Array.from({ length: 120 }, (_, row) => `C-${row},Café ${row},91${row},1,1`);
    await choose(page, 'accents.csv', [HEADER, ...warned, 'Z-1,Good,,5,1'].join('\n'));
    await page.getByText('The file has 1 error. Nothing was sent.').waitFor();
    const lines = page.getByLabel('Errors and warnings in the file').getByRole('listitem');
    expect((await lines.allInnerTexts()).map((line) => line.replace(/:.*/su, ''))).toEqual([
      'Error, line 122, column 3, realmId',
      ...[2, 3, 4, 5, 6].map((line) => `Warning, line ${line}, column 2, name`),
      'and 115 more like line 6',
    ]);
  });

  test('a file of Excel in Windows-1252 is read once a person has checked its names', async () => {
    const page = await open(390);
    const names = Array.from({ length: 12 }, (_, row) => `C-${row},Café ${row},91${row},1,1`);
    const file = Buffer.from([HEADER, 'A-1,Acme,9130,1,1', ...names].join('\n'), 'latin1');
    await choose(page, 'excel.csv', file);
    const dialog = page.getByRole('dialog');
    const findings = page.getByLabel('Errors and warnings in the file');
    await findings.getByText('Error, line 3: This file is not UTF-8; it looks like Windows-1252').waitFor();
    expect(await dialog.textContent()).not.toContain('The page has read the file');
    await send(page);
    await page.getByText('Choose a file that passes the check.').waitFor();
    await dialog.getByLabel('Read the file as Windows-1252 (Excel)').check();
    await page.getByText('✓ 13 companies on QuickBooks Online').waitFor();
    await dialog.getByText('Line 3: Café 0', { exact: true }).waitFor();
    await dialog.getByText('and 2 more', { exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(
      parts()
        .flatMap(({ rows }) => rows.map(({ name }) => name))
        .slice(0, 2),
    ).toEqual(['Acme', 'Café 0']);
  });

  const row = 'C-1,Café,9130,1,1';

  /** Opens the dialog, chooses a file in Windows-1252, and has the page read it as such. */
  async function openAsWindows1252() {
    const page = await open();
    const choice = page.getByLabel('Read the file as Windows-1252 (Excel)');
    await choose(page, 'excel.csv', Buffer.from(`${HEADER}\n${row}\n`, 'latin1'));
    await choice.check();
    await page.getByText('✓ 1 company on QuickBooks Online').waitFor();
    return { page, choice };
  }

  test('the choice of an encoding is kept for the next file, and offered and applied only if that is not Unicode', async () => {
    const { page, choice } = await openAsWindows1252();
    await choose(page, 'unicode.csv', `${HEADER}\n${row}\n${row.replace('C-1', 'C-2').replace('9130', '9131')}\n`);
    await page.getByText('✓ 2 companies on QuickBooks Online').waitFor();
    expect(await choice.isVisible()).toBe(false);
    await send(page);
    await page.getByText('✓ Done.').waitFor();
    expect(parts().flatMap(({ rows }) => rows.map(({ name }) => name))).toEqual(['Café', 'Café']);
  });

  test('the encoding of a corrected file need not be chosen again', async () => {
    const page = await open();
    const choice = page.getByLabel('Read the file as Windows-1252 (Excel)');
    await choose(page, 'excel.csv', Buffer.from(`${HEADER}\n${row.replace('9130,1', '9130,x')}\n`, 'latin1'));
    await choice.check();
    await page.getByText('The file has 1 error. Nothing was sent.').waitFor();
    await page.getByLabel('Manifest (CSV or JSON)').click();
    await choose(page, 'excel.csv', Buffer.from(`${HEADER}\n${row}\n`, 'latin1'));
    await page.getByText('✓ 1 company on QuickBooks Online').waitFor();
    expect(await choice.isChecked()).toBe(true);
    await page.getByRole('dialog').getByText('Line 2: Café', { exact: true }).waitFor();
  });

  test('the choice of an encoding is not kept for a file that is damaged UTF-8', async () => {
    const { page, choice } = await openAsWindows1252();
    const damaged = Buffer.concat([
      Buffer.from(`${HEADER}\n${row}\nC-2,`),
      Buffer.from([0xe4]),
      Buffer.from(',2,1,1\n'),
    ]);
    await choose(page, 'damaged.csv', damaged);
    await page.getByText('Error, line 3: This file is not UTF-8. Save it as UTF-8').waitFor();
    expect(await choice.isChecked()).toBe(false);
    await choice.check();
    await page.getByRole('dialog').getByText('Line 2: CafÃ©', { exact: true }).waitFor();
  });

  test('a file that is partly UTF-8 is not read as Windows-1252 without the choice', async () => {
    const page = await open();
    const choice = page.getByLabel('Read the file as Windows-1252 (Excel)');
    await choose(page, 'mixed.csv', Buffer.concat([Buffer.from(`${HEADER}\n${row}\n`), Buffer.from([0x43, 0xe4])]));
    await page.getByText('Error, line 3: This file is not UTF-8. Save it as UTF-8').waitFor();
    expect(await choice.isChecked()).toBe(false);
    await choose(page, 'broken-utf-16.csv', Buffer.from('fffe4100d8', 'hex'));
    await page.getByText('Error: This file is not UTF-8. Save it as UTF-8').waitFor();
    expect(await choice.isVisible()).toBe(false);
  });

  test('the template has the columns of the platform', async () => {
    const page = await open();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Template as CSV' }).click();
    const file = await (await download).path();
    expect(readFileSync(file, 'utf8')).toBe('reference,name,realmId,expectedInvoices,wave\n');
    await choose(page, 'manifest.csv', readFileSync(file, 'utf8'));
    await page.getByText('The file contains only a header row.').waitFor();
  });

  test('says why the migration refuses the manifest, and keeps the dialog open', async () => {
    current.portal.answer = ({ path }) =>
      path === '/api/manifest'
        ? { outcome: 'stored', text: 'stored' }
        : { outcome: 'refused', text: '1 company (C-1) belongs to another open migration' };
    const page = await open();
    await choose(page, 'right.csv', `${HEADER}\nC-1,Acme,9130000000000001,5,1\n`);
    await page.getByText('✓ 1 company on QuickBooks Online').waitFor();
    await send(page);
    await page.getByText('1 company (C-1) belongs to another open migration.').waitFor();
  });
});
