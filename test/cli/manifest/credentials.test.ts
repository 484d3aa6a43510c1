import { statSync, utimesSync } from 'node:fs';

import { timesFrom } from '../../../cli/credentials/obtained-at';
import { platform } from '../../support/migrations/platforms';
import { readWholeCredentials, readWholeManifest, removeTempFiles, tempFile } from './manifest-files';

afterAll(removeTempFiles);

const quickBooks = platform('quickbooks-online');
const zoho = platform('zoho-books');
const NOW = new Date('2026-03-01T12:00:00Z');

const codes = ({ findings }: { findings: readonly { code: string }[] }): string[] => findings.map(({ code }) => code);

const MANIFEST = 'reference,name,realmId,expectedInvoices\nA-1,Acme,17,3\nA-2,Bolt,18,4';

test('credentials are read from a separate file, with the time when they were obtained', async () => {
  const path = tempFile(
    'reference,accessToken,refreshToken,realmId,obtainedAt\nA-1,at-1,rt-1,17,2026-03-01T10:00:00+01:00',
  );
  const { credentials, findings } = await readWholeCredentials(path, quickBooks, { now: NOW });
  expect(findings).toEqual([]);
  expect(credentials.map(({ reference, obtainedAt, fields }) => [reference, obtainedAt, fields.reveal()])).toEqual([
    ['A-1', '2026-03-01T09:00:00.000Z', { accessToken: 'at-1', refreshToken: 'rt-1', realmId: '17' }],
  ]);
  expect(JSON.stringify(credentials)).not.toContain('rt-1');
});

test('--obtained-at is used for credentials without obtainedAt, and is an error for the others', async () => {
  const times = { now: NOW, obtainedAt: new Date('2026-02-28T08:00:00Z') };
  const path = tempFile(
    'reference,accessToken,refreshToken,realmId,obtainedAt\nA-1,at-1,rt-1,17,2026-02-20T10:00:00Z\nA-2,at-2,rt-2,18,',
  );
  const { credentials, findings } = await readWholeCredentials(path, quickBooks, times);
  expect(findings).toEqual([
    expect.objectContaining({
      ...{ code: 'invalid-time', line: 2, field: 'obtainedAt', severity: 'error' },
      message: 'the field obtainedAt is filled in, but the option --obtained-at also sets a time',
    }),
  ]);
  expect(credentials.map(({ reference, obtainedAt }) => [reference, obtainedAt])).toEqual([
    ['A-2', '2026-02-28T08:00:00.000Z'],
  ]);
});

test('a credential without obtainedAt gets the modification time of its file', async () => {
  const path = tempFile('[{"reference":"A-1","accessToken":"at-1","refreshToken":"rt-1","realmId":17}]');
  const { credentials } = await readWholeCredentials(path, quickBooks);
  expect(credentials[0]?.obtainedAt).toBe(statSync(path).mtime.toISOString());
});

test("obtainedAt is never in the future, even if the file's modification time is", async () => {
  const path = tempFile('[{"reference":"A-1","accessToken":"at-1","refreshToken":"rt-1","realmId":17}]');
  const { credentials } = await readWholeCredentials(path, quickBooks, { now: NOW });
  expect(credentials[0]?.obtainedAt).toBe(NOW.toISOString());
});

test('a file from before the year 2000 needs obtainedAt or --obtained-at', async () => {
  const path = tempFile('[{"reference":"A-1","accessToken":"at-1","refreshToken":"rt-1","realmId":17}]');
  utimesSync(path, new Date('1980-01-01T00:00:00Z'), new Date('1980-01-01T00:00:00Z'));
  const { credentials, findings } = await readWholeCredentials(path, quickBooks, { now: NOW });
  expect(credentials).toEqual([]);
  expect(findings).toEqual([
    expect.objectContaining({
      ...{ code: 'invalid-time', field: 'obtainedAt', severity: 'error' },
      message:
        'obtainedAt is missing, and the time that is used instead (1980-01-01 00:00 UTC) is before the year 2000',
    }),
  ]);
  // Only some commands have `--obtained-at`, so only their advice names it.
  expect(findings[0]?.advice).toBe('enter the time at which the token was obtained');
  const withOption = await readWholeCredentials(path, quickBooks, timesFrom({}));
  expect(withOption.findings[0]?.advice).toBe(
    'specify the time of the export with --obtained-at; or, in each row, enter the time at which the token was obtained',
  );
  const given = await readWholeCredentials(path, quickBooks, { now: NOW, obtainedAt: NOW });
  expect(given.credentials[0]?.obtainedAt).toBe(NOW.toISOString());
});

test.each([
  ['a time without a time zone', '2026-03-01T10:00:00'],
  ['a date', '2026-03-01'],
  ['a time in the format of a spreadsheet', '01/03/2026 10:00'],
  ['a time in the future', '2026-03-01T12:00:01Z'],
  ['a negative year, which Postgres cannot read', '-271821-04-20T00:00:00Z'],
  ['a time before any token existed', '1999-12-31T23:59:59Z'],
])('obtainedAt is rejected if it is %s', async (_, obtainedAt) => {
  const path = tempFile(`reference,accessToken,refreshToken,realmId,obtainedAt\nA-1,at-1,rt-1,17,${obtainedAt}`);
  const read = await readWholeCredentials(path, quickBooks, { now: NOW });
  expect(codes(read)).toEqual(['invalid-time']);
  expect(read.credentials).toEqual([]);
});

test('a missing column that the platform requires is an error', async () => {
  const { findings } = await readWholeCredentials(tempFile('reference,accessToken\nA-1,at-1'), quickBooks);
  expect(findings).toEqual([
    expect.objectContaining({
      code: 'missing-column',
      message: 'missing columns: refreshToken, realmId; found: "reference", "accessToken"',
    }),
  ]);
});

test('a credential for another organization or an unknown reference is an error', async () => {
  const files = {
    manifest: tempFile(MANIFEST),
    credentials: tempFile('reference,accessToken,refreshToken,realmId\nA-1,at-1,rt-1,18\nA-9,at-2,rt-2,17'),
  };
  const read = await readWholeManifest(files, quickBooks);
  expect(read.findings).toEqual([
    expect.objectContaining({ code: 'credential-of-other-organization', file: files.credentials, line: 2, column: 4 }),
    expect.objectContaining({ code: 'credential-of-unknown-reference', file: files.credentials, line: 3, column: 1 }),
  ]);
});

test('a complete manifest with tokens can be used as the credential file', async () => {
  const path = tempFile(
    'reference,name,wave,realmId,expectedInvoices,accessToken,refreshToken\nA-1,Acme,1,17,3,at-1,rt-1',
  );
  const read = await readWholeCredentials(path, quickBooks);
  expect(codes(read)).toEqual([]);
  expect(Object.keys(read.credentials[0]?.fields.reveal() ?? {})).toEqual(['accessToken', 'refreshToken', 'realmId']);
});

test('a duplicate reference or refresh token is an error', async () => {
  const path = tempFile(
    'reference,accessToken,refreshToken,realmId\nA-1,at-1,rt-1,17\nA-1,at-2,rt-2,17\nA-2,at-3,rt-1,18',
  );
  expect(codes(await readWholeCredentials(path, quickBooks))).toEqual([
    'duplicate-reference',
    'duplicate-refresh-token',
  ]);
});

test('credentials supplied at the start cause a warning if the platform rotates tokens, and so does each missing credential', async () => {
  const manifestWithTokens = tempFile(
    'reference,name,realmId,expectedInvoices,accessToken,refreshToken\nA-1,Acme,17,3,at-1,rt-1\nA-2,Bolt,18,4,,',
  );
  const read = await readWholeManifest({ manifest: manifestWithTokens }, quickBooks);
  expect(codes(read)).toEqual(['credential-early', 'credential-missing']);
  expect(read.credentials.map(({ reference }) => reference)).toEqual(['A-1']);
  expect(read.rows).toHaveLength(2);
  expect(read.rows[0]).not.toHaveProperty('accessToken');

  const separateFiles = {
    manifest: tempFile(MANIFEST),
    credentials: tempFile('reference,accessToken,refreshToken,realmId\nA-1,at-1,rt-1,17'),
  };
  const separate = await readWholeManifest(separateFiles, quickBooks);
  expect(codes(separate)).toEqual(['credential-early', 'credential-missing']);
  expect(separate.findings[1]?.message).toContain('"A-2"');
});

test('if no company has a credential, self-service says so once', async () => {
  const organizations = ['A-1,Acme,17,3', 'A-2,Bolt,18,4', 'A-3,Cut,19,5'].join('\n');
  const manifest = tempFile(`reference,name,realmId,expectedInvoices\n${organizations}`);
  const read = await readWholeManifest({ manifest }, quickBooks, 'self-service');
  expect(read.findings).toMatchObject([
    {
      code: 'credential-missing',
      message: 'no company in this manifest has a credential; without a credential, a company cannot be moved',
      advice: 'add the credentials to the file, or supply them after the start',
    },
  ]);
  const separately = { isSupplied: () => false, command: 'ferry credentials me.quickbooks-online credentials.csv' };
  const amended = await readWholeManifest({ manifest }, quickBooks, 'self-service', new Date(), separately);
  expect(amended.findings).toMatchObject([{ advice: `supply the credentials with: ${separately.command}` }]);
});

test('companies without a credential are reported if the platform does not rotate tokens', async () => {
  const manifest = tempFile(
    'reference,name,organizationId,expectedInvoices,family,accessToken,refreshToken,region\n' +
      'A-1,Acme,17,3,jo,at-1,rt-1,eu\nA-2,Bolt,18,4,jo,,,\nA-3,Cut,19,5,jo,,,',
  );
  const credentials = tempFile('reference,accessToken,refreshToken,organizationId,region\nA-3,at-3,rt-3,19,eu');
  const read = await readWholeManifest({ manifest, credentials }, zoho);
  expect(codes(read)).toEqual(['token-families', 'credential-missing']);
  expect(read.findings[1]?.message).toContain('"A-2"');
  expect(read.credentials.map(({ reference }) => reference)).toEqual(['A-1', 'A-3']);
});

test('a manifest without credentials causes no finding about credentials', async () => {
  expect(codes(await readWholeManifest({ manifest: tempFile(MANIFEST) }, zoho))).toEqual(['missing-column']);
  expect(codes(await readWholeManifest({ manifest: tempFile(MANIFEST) }, quickBooks))).toEqual([]);
});
