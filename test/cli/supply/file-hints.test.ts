/** Tests that suggested commands name the files of the user, with the options with which they were read. */
import { checkCommand, fileArguments, withCheckedFile } from '../../../cli/suggestions/file-arguments';
import { checkAgainText } from '../../../domain/preflight/findings';
import { PLATFORMS } from '../../../platforms/platforms';
import { createMigrationKey, createVaultKey } from '../../portal/page/sample-key';
import { platform } from '../../support/migrations/platforms';
import { ferry } from '../captured-terminal';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';

afterAll(() => removeTempFiles());

const NOWHERE = {
  TOKENFERRY_HOME: '/nowhere',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  DATABASE_URL: 'postgres://127.0.0.1:1/x',
};

test('a file is named with its encoding and the time of its export', () => {
  const obtainedAt = new Date('2026-03-02T09:00:00Z');
  expect(fileArguments('my file.csv', {})).toBe("'my file.csv'");
  expect(fileArguments('a.csv', { encoding: 'windows-1252', obtainedAt })).toBe(
    'a.csv --encoding windows-1252 --obtained-at 2026-03-02T09:00:00.000Z',
  );
});

test('the advice of a preflight names the files that were checked', () => {
  for (const platform of PLATFORMS) {
    const files = { manifest: 'my file.csv', credentials: 'tokens.csv', encoding: 'windows-1252' } as const;
    const command = `ferry check 'my file.csv' --platform ${platform.slug} --credentials tokens.csv --encoding windows-1252`;
    expect(checkCommand(files, platform)).toBe(command);
    const advice = `correct the id; ${checkAgainText('name-altered', 'kite.xero', platform.slug)}`;
    const preflight = { warningAdvice: [advice], problems: [] };
    expect(withCheckedFile(preflight, files, platform)).toEqual({
      warningAdvice: [`correct the id; to check all rows again, run this command: ${command} --offline --all-findings`],
      problems: [],
    });
  }
});

test('start says how to list all findings of the file, with its encoding', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => `A-${i},Caf\xE9 ${i},${i + 1},x`);
  const file = tempFile(Buffer.from(['reference,name,realmId,expectedInvoices', ...rows].join('\n'), 'latin1'));
  const options = ['--platform', 'quickbooks-online', '--client', 'acme', '--encoding', 'windows-1252'];
  const { exitCode, out } = await ferry(['start', file, ...options], 80, NOWHERE);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/and 3 more like line\s+6/);
  const command = `ferry check '${file}' --platform quickbooks-online --encoding windows-1252 --all-findings`;
  expect(out).toContain(`\nTo list all findings, run: ${command}\n`);
});

test('a platform without the route suggests the other command with the file', async () => {
  const file = tempFile('reference,name\n');
  const options = ['--platform', 'xero', '--client', 'acme', '--encoding', 'windows-1252'];
  const { err } = await ferry(['start', file, ...options], 80, NOWHERE);
  expect(err).toContain(`ferry self-service '${file}' --encoding windows-1252 --platform xero --client acme`);
});

/** Runs `ferry seal` on a machine without Temporal, database and keys. */
async function seal(file: string, trust: '--provider' | (() => Promise<boolean>), ...more: string[]) {
  const { key: platformKey } = platform('quickbooks-online');
  const { text, provider } = createMigrationKey('acme.quickbooks-online', platformKey, createVaultKey().publicKey);
  const args = ['seal', file, '--for', text, ...more];
  return typeof trust === 'function'
    ? ferry(args, undefined, NOWHERE, { confirm: trust })
    : ferry([...args, trust, provider], undefined, NOWHERE);
}

test('seal names the sealed file so that a shell reads it as one word', async () => {
  const tokens = 'reference,accessToken,refreshToken,realmId\nC-1,any,sbx-ok-1.hint,8100000000000001';
  const sealed = await seal(tempFile(tokens, 'my tokens.csv'), '--provider');
  expect(sealed.out).toContain("who stores it with: ferry credentials acme.quickbooks-online 'my tokens.csv.sealed'\n");
  const application = ['--client-id', 'acme-app', '--environment', 'production'];
  const secret = await seal(tempFile('a-client-secret-marker', 'my secret.txt'), '--provider', ...application);
  expect(secret.out).toContain(
    "who supplies it with: ferry application acme.quickbooks-online --sealed 'my secret.txt.sealed'\n",
  );
});

test('seal says what to do if the fingerprint is not the one that the provider publishes', async () => {
  const { exitCode, err } = await seal(tempFile('any'), async () => false);
  expect(exitCode).toBe(1);
  expect(err).toContain('nothing was sealed; ask your provider for its fingerprint');
  expect(err).toContain('if the fingerprints differ, do not use this migration key');
});

test('seal prints all warnings, so that no file has to be sealed again to read them', async () => {
  const unknown = [1, 2, 3, 4, 5, 6, 7].map((column) => `extra${column}`);
  const header = ['reference,accessToken,refreshToken,realmId', ...unknown].join(',');
  const row = ['C-1,any,sbx-ok-1.hint,8100000000000001', ...unknown].join(',');
  const { exitCode, out } = await seal(tempFile(`${header}\n${row}`, 'wide.csv'), '--provider');
  expect(exitCode).toBe(0);
  expect(out.match(/the column "extra\d" is not used/g)).toHaveLength(7);
  expect(out).not.toMatch(/more like|add --json/);
});
