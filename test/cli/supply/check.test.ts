import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { ferry as ferryIn } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

// A home folder without configuration and without a running stack.
const home = temporaryFolder();
const ferry = (args: string[], columns?: number) => ferryIn(args, columns, { TOKENFERRY_HOME: home });

afterAll(() => removeTempFiles());

const EXAMPLE = join(__dirname, '../../../examples/quickbooks-online-25');
const manifest = join(EXAMPLE, 'manifest.csv');
const credentials = join(EXAMPLE, 'credentials.csv');
const bad = tempFile('reference,name,realmId,expectedInvoices\n,Acme,9.13E+15,1\nA-2,Bolt,2,1\nA-2,Cut,3,1\n');

const check = (file: string, ...more: string[]): string[] => [
  'check',
  file,
  '--platform',
  'quickbooks-online',
  ...more,
];

test('check accepts a valid manifest, and prints its warnings', async () => {
  const { exitCode, out, err } = await ferry(check(manifest, '--credentials', credentials));
  expect(exitCode).toBe(0);
  expect(err).toBe('');
  expect(out).toContain('✓ 25 QuickBooks Online companies, 25 credentials: no errors, 2 warnings\n');
  expect(out).toContain(
    'The account and other migrations were not checked: neither the service (COMPANY_DATA_URL) nor the database (DATABASE_URL) is configured.',
  );
  expect(out).toMatch(/^warning +18 +2 name +the name "Riverside Dental Care" appears on lines 5 and 18/m);
});

test('check rejects an invalid manifest, with line and column of every error', async () => {
  const { exitCode, out } = await ferry(check(bad));
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^error +2 +1 reference +reference is missing/m);
  expect(out).toMatch(/^error +2 +3 realmId +a spreadsheet has damaged "9\.13E\+15"/m);
  expect(out).toMatch(/^error +4 +1 reference +the reference "A-2" appears on lines 3 and 4/m);
  expect(out).toContain('✗ 3 errors and 0 warnings');
});

test('check says that errors in the manifest keep the credentials from being matched', async () => {
  const notMatched = `The rows of ${credentials} were checked, but not matched with the companies.`;
  expect((await ferry(check(bad, '--credentials', credentials))).out).toContain(notMatched);
  const { out } = await ferry(check(bad, '--credentials', credentials, '--json'));
  expect(JSON.parse(out)).toMatchObject({ notChecked: ['account', 'other migrations', 'credentials'] });
  expect((await ferry(check(bad))).out).not.toContain('matched');
  expect((await ferry(check(manifest, '--credentials', bad))).out).not.toContain('not matched');
});

test('--json prints one JSON value with all findings', async () => {
  const { exitCode, out, err } = await ferry(check(bad, '--json'));
  expect(exitCode).toBe(1);
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({
    schema: 'ferry.check/1',
    ok: false,
    files: { manifest: bad },
    platform: 'quickbooks-online',
    companies: 1,
    credentials: 0,
    manifestDigest: null,
    errors: 3,
    warnings: 0,
    findings: [{ code: 'missing-value' }, { code: 'spreadsheet-damage' }, { code: 'duplicate-reference' }],
  });

  const good = await ferry(check(manifest, '--json'));
  expect(good.exitCode).toBe(0);
  const { ok, manifestDigest } = JSON.parse(good.out) as { ok: boolean; manifestDigest: string };
  expect(ok).toBe(true);
  expect(manifestDigest).toMatch(/^[0-9a-f]{64}$/);
});

test('check counts many errors of one kind, and lists all of them with --all-findings and --json', async () => {
  const rows = Array.from({ length: 1_208 }, (_, i) => `A-${i},Company ${i},${i + 1},x`);
  const many = tempFile(['reference,name,realmId,expectedInvoices', ...rows].join('\n'));

  const { out } = await ferry(check(many));
  expect(out.match(/^error/gm)).toHaveLength(5);
  expect(out).toContain('and 1,203 more like line 6 (to list all, add --all-findings)');
  const { out: all } = await ferry(check(many, '--all-findings'));
  expect(all.match(/^error/gm)).toHaveLength(1_208);
  expect(all).not.toContain('more like');
  const { findings } = JSON.parse((await ferry(check(many, '--json'))).out) as { findings: unknown[] };
  expect(findings).toHaveLength(1_208);
});

test('the number of hidden findings follows the last finding of their kind, not the last finding of the file', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => `A-${i},Company ${i},${i + 1},x`);
  const file = tempFile(['reference,name,realmId,expectedInvoices', ...rows, 'A-9,,99,1'].join('\n'));
  const { out } = await ferry(check(file));
  const lines = out.split('\n').map((line) => line.trim());
  const at = lines.findIndex((line) => line.startsWith('and 3 more like line 6 (to list all, '));
  expect(lines[at - 1]).toMatch(/^error +6 /);
  expect(lines[at + 1]).toMatch(/^error +10 /);
});

test.each([60, 80, 120])('the table fits a terminal of %i columns', async (columns) => {
  const { out } = await ferry(check(bad), columns);
  const table = stripVTControlCharacters(out).split('\n').slice(1, out.split('\n').indexOf(''));
  expect(table.length).toBeGreaterThan(3);
  expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(columns);
});

test('check reads Excel\'s "CSV" with --encoding, and suggests this option if it is missing', async () => {
  const text = 'reference;name;realmId;expectedInvoices\nA-1;Caf\xE9;1;1\nA-2;Zo\xEB;2;1\n';
  const file = tempFile(Buffer.from(text, 'latin1'));
  const refused = await ferry(check(file, '--offline'), 200);
  expect(refused.exitCode).toBe(1);
  expect(stripVTControlCharacters(refused.out)).toMatch(
    /^error +2 +this file is not UTF-8; it looks like Windows-1252/m,
  );
  expect(refused.out).toContain('1 error and ');

  const read = await ferry(check(file, '--offline', '--encoding', 'windows-1252', '--json'));
  expect(JSON.parse(read.out)).toMatchObject({ ok: true, companies: 2, files: { encoding: 'windows-1252' } });
});

test('check says if something could not be checked, instead of ending with a tick', async () => {
  const env = { TOKENFERRY_HOME: home, DATABASE_URL: 'postgres://nobody:none@127.0.0.1:1/none' };
  const { exitCode, out } = await ferryIn(check(manifest), undefined, env);
  expect(exitCode).toBe(0);
  expect(out).toContain('! 25 QuickBooks Online companies, 0 credentials: no errors, 2 warnings, but not everything');
  expect(out).not.toContain('✓');
});

test('no output contains a credential', async () => {
  const file = tempFile(
    'reference,accessToken,refreshToken,realmId\nC-1001,at-secret,rt-secret,1\nC-1002,at-secret,rt-secret,9130348558154804',
  );
  for (const more of [[], ['--json'], ['--debug']]) {
    const { exitCode, out, err } = await ferry(check(manifest, '--credentials', file, ...more));
    expect(exitCode).toBe(1);
    expect(out + err).not.toContain('secret');
  }
});
