import { join } from 'node:path';

import { storedName } from '../../../domain/companies/manifest';
import { findPlatform } from '../../../platforms/platforms';
import { readWholeManifest } from './manifest-files';

const folder = join(__dirname, '../../../examples/quickbooks-online-25');

test('the example has 25 companies, of which 23 can be moved, and only the two expected warnings', async () => {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('no QuickBooks Online');
  const files = { manifest: join(folder, 'manifest.csv'), credentials: join(folder, 'credentials.csv') };
  const { rows, credentials, findings } = await readWholeManifest(files, platform);

  expect(findings.map(({ severity, code }) => [severity, code])).toEqual([
    ['warning', 'duplicate-name'],
    ['warning', 'credential-early'],
  ]);
  expect(rows).toHaveLength(25);
  expect(rows.filter(({ organization }) => !/^\d{16}$/.test(organization))).toEqual([]);
  expect(rows.filter(({ name }) => storedName(name) !== name)).toEqual([]);

  const suppliedTokens = new Map(
    credentials.map(({ reference, fields }) => [reference, fields.reveal()['refreshToken']]),
  );
  const withoutProblems = rows.filter(({ reference, expectedInvoices }) =>
    suppliedTokens.get(reference)?.startsWith(`sbx-ok-${expectedInvoices}.`),
  );
  expect(withoutProblems).toHaveLength(23);
  expect(suppliedTokens.get('C-1008')).toMatch(/^sbx-revoked\./);
  expect(suppliedTokens.get('C-1014')).toMatch(/^sbx-short-97-of-120\./);
});
