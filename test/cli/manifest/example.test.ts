import { join } from 'node:path';

import { storedName } from '../../../domain/companies/manifest';
import { findPlatform } from '../../../platforms/platforms';
import { wholeManifest } from './whole-manifest';

const folder = join(__dirname, '../../../examples/quickbooks-online-25');

test('the example has 25 companies, 23 of them good, and nothing to complain about but a shared name', async () => {
  const platform = findPlatform('quickbooks-online');
  if (!platform) throw new Error('no QuickBooks Online');
  const files = { manifest: join(folder, 'manifest.csv'), credentials: join(folder, 'credentials.csv') };
  const { rows, credentials, findings } = await wholeManifest(files, platform);

  expect(findings.map(({ severity, code }) => [severity, code])).toEqual([
    ['warning', 'duplicate-name'],
    ['warning', 'credential-early'],
  ]);
  expect(rows).toHaveLength(25);
  expect(rows.filter(({ organization }) => !/^\d{16}$/.test(organization))).toEqual([]);
  expect(rows.filter(({ name }) => storedName(name) !== name)).toEqual([]);

  const promised = new Map(credentials.map(({ reference, fields }) => [reference, fields.reveal()['refreshToken']]));
  const good = rows.filter(({ reference, expectedInvoices }) =>
    promised.get(reference)?.startsWith(`sbx-ok-${expectedInvoices}.`),
  );
  expect(good).toHaveLength(23);
  expect(promised.get('C-1008')).toMatch(/^sbx-revoked\./);
  expect(promised.get('C-1014')).toMatch(/^sbx-short-97-of-120\./);
});
