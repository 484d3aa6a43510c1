/** Tests `ferry export-template` for every platform and format. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PLATFORMS } from '../../../platforms/platforms';
import { ferry } from '../captured-terminal';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns a value that the column accepts. */
function filledIn(column: string): string {
  switch (column) {
    case 'expectedInvoices':
    case 'wave':
      return '1';
    case 'serviceCompanyId':
    case 'serviceConnectionId':
      return '6f1c1f9e-0000-4000-8000-000000000000';
    case 'obtainedAt':
      return '2026-03-01T14:30:00Z';
    case 'shop':
      return 'bramble.myshopify.com';
    default:
      return column.endsWith('Id') ? '9130350226405001' : `the-${column}`;
  }
}

function fill(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.json')) {
    const [company = {}] = JSON.parse(text) as Record<string, string>[];
    writeFileSync(file, JSON.stringify([filledInCompany(company)]));
  } else {
    const columns = text.trimEnd().split(',');
    writeFileSync(file, `${text}${columns.map(filledIn).join(',')}\n`);
  }
}

const filledInCompany = (company: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.keys(company).map((column) => [column, filledIn(column)]));

/**
 * The findings that a filled-in template can cause: its organization is made up, and its credential is supplied before
 * the client has confirmed that syncing is off.
 */
const EXPECTED = ['unusual-organization', 'credential-early'];

const TEMPLATES = PLATFORMS.flatMap(({ slug }) => (['csv', 'json'] as const).map((format) => [slug, format] as const));

test.each(TEMPLATES)('a filled-in template for %s in %s passes the check', async (slug, format) => {
  const exported = await ferry(['export-template', folder, '-p', slug, '--format', format]);
  expect(exported).toMatchObject({ exitCode: 0, err: '' });
  const [manifest, credentials] = ['manifest', 'credentials'].map((name) => path.join(folder, `${name}.${format}`));
  for (const file of [manifest, credentials]) fill(file ?? '');
  const check = ['check', manifest ?? '', '-p', slug, '--credentials', credentials ?? '', '--offline', '--json'];
  const { exitCode, out } = await ferry(check);
  const { findings, companies, credentials: found } = JSON.parse(out) as Record<string, unknown>;
  const unexpected = (findings as readonly { code: string }[]).filter(({ code }) => !EXPECTED.includes(code));
  expect({ exitCode, companies, found, unexpected }).toEqual({ exitCode: 0, companies: 1, found: 1, unexpected: [] });
});

test.each(['csv', 'json'])('an empty %s template is not a valid manifest', async (format) => {
  await ferry(['export-template', folder, '-p', 'zoho-books', '--format', format]);
  const check = ['check', path.join(folder, `manifest.${format}`), '-p', 'zoho-books', '--offline'];
  expect((await ferry(check)).exitCode).toBe(1);
});

test('export-template explains the content of each column', async () => {
  const { out } = await ferry(['export-template', folder, '-p', 'zoho-books']);
  expect(out).toMatch(/^organizationId +required +the company's organization at Zoho Books; only digits/m);
  expect(out).toMatch(/^family {2,}the Zoho Books user who authorized the company/m);
  expect(out).toContain(`ferry check ${folder}/manifest.csv -p zoho-books --credentials ${folder}/credentials.csv\n`);
});

test('export-template asks for invoices only if the platform has them', async () => {
  const columnsOf = async (slug: string): Promise<string> => {
    await ferry(['export-template', path.join(folder, slug), '-p', slug]);
    return readFileSync(path.join(folder, slug, 'manifest.csv'), 'utf8');
  };
  expect(await columnsOf('square')).toMatch(/^reference,name,merchantId,expectedInvoices,wave,/);
  expect(await columnsOf('plaid')).toMatch(/^reference,name,itemId,wave,/);
});

test('export-template says when the credentials of a platform that rotates its tokens are filled in', async () => {
  const { out } = await ferry(['export-template', folder, '-p', 'quickbooks-online']);
  expect(out).toContain(
    `Fill in the manifest, then check it with: ferry check ${folder}/manifest.csv -p quickbooks-online\n` +
      `Fill in ${folder}/credentials.csv only after the client has confirmed that syncing is off: credentials from before are not used.\n`,
  );
});

test('export-template overwrites no file, and only the owner can read the credential file', async () => {
  const inside = path.join(folder, 'new');
  await ferry(['export-template', inside, '-p', 'xero']);
  const file = path.join(inside, 'credentials.csv');
  expect(statSync(file).mode & 0o077).toBe(0);
  const again = await ferry(['export-template', inside, '-p', 'xero']);
  expect(again).toMatchObject({
    exitCode: 1,
    err: `ferry: ${inside}/manifest.csv already exists; choose another folder\n`,
  });
});

test('export-template reports a folder that it cannot write to', async () => {
  const file = path.join(folder, 'file');
  writeFileSync(file, '');
  const { exitCode, err } = await ferry(['export-template', file, '-p', 'xero']);
  expect(exitCode).toBe(1);
  expect(err).toMatch(/manifest\.csv cannot be written: .*; choose a folder that you can write to\n$/);
  expect(existsSync(path.join(folder, 'credentials.csv'))).toBe(false);
});
