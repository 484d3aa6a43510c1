/** Tests that suggested commands name the files of the user, with the options with which they were read. */
import { checkCommand, fileArguments, withCheckedFile } from '../../../cli/shared/file-arguments';
import { checkAllCommand } from '../../../domain/preflight/findings';
import { PLATFORMS } from '../../../platforms/platforms';
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
    const advice = `correct the id; to check all rows again, run: ${checkAllCommand(platform.slug)}`;
    const preflight = { warningAdvice: [advice], problems: [] };
    expect(withCheckedFile(preflight, files, platform)).toEqual({
      warningAdvice: [`correct the id; to check all rows again, run: ${command}`],
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
