/** Tests that a file in an encoding other than UTF-8 is reported once, and can be read with --encoding. */
import iconv from 'iconv-lite';

import type { Encoding } from '../../../cli/manifest';
import { platform } from '../../support/migrations/platforms';
import { csv, HEADER } from './finding-cases';
import { readWholeCredentials, readWholeManifest, removeTempFiles, tempFile } from './manifest-files';

afterAll(removeTempFiles);

const quickBooks = platform('quickbooks-online');
const read = (content: Buffer, encoding?: Encoding) =>
  readWholeManifest({ manifest: tempFile(content), ...(encoding && { encoding }) }, quickBooks);
const encoded = (encoding: string, ...rows: string[]): Buffer => iconv.encode(csv(...rows), encoding);

/** Returns the code, line and column of each error. */
const errorsOf = async (content: Buffer, encoding?: Encoding) =>
  (await read(content, encoding)).findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, line, column }) => [code, line, column]);

const MÜLLER = 'A-1,Müller Café,1,1,1';
const ZOË = 'A-2,Zoë – “€”,2,1,1';

test('Windows-1252 is one error for the whole file, which says how to read it', async () => {
  const { findings } = await read(encoded('windows-1252', 'A-0,Acme,3,1,1', MÜLLER, ZOË));
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([
    {
      code: 'not-utf8',
      severity: 'error',
      file: expect.any(String) as string,
      line: 3,
      message: `this file is not UTF-8; it looks like Windows-1252 (Excel's "CSV")`,
      advice: 'save the file as UTF-8 (in Excel: "CSV UTF-8"), or add: --encoding windows-1252',
    },
  ]);
});

test('the other errors of a Windows-1252 file are found as well', async () => {
  expect(await errorsOf(encoded('windows-1252', MÜLLER, 'A-2,Bolt,,1,1'))).toEqual([
    ['not-utf8', 2, undefined],
    ['missing-value', 3, 3],
  ]);
});

test.each([
  ['a file in the old encoding of the Mac', encoded('macintosh', MÜLLER, 'A-2,Zoë,2,1,1')],
  ['a file in Shift JIS', encoded('shift_jis', 'A-1,Acme 株式会社,1,1,1')],
  ['UTF-8 with one line in Windows-1252', Buffer.concat([encoded('utf-8', MÜLLER), encoded('windows-1252', ZOË)])],
  ['UTF-8 that ends within a character', encoded('utf-8', MÜLLER, 'A-2,é').subarray(0, -1)],
])('%s is not said to be Windows-1252', async (_, content) => {
  const { findings } = await read(content);
  const errors = findings.filter(({ code }) => code === 'not-utf8');
  expect(errors.map(({ message }) => message)).toEqual(['this file is not UTF-8']);
  expect(errors[0]?.advice).toMatch(/CSV UTF-8.*--encoding$/);
});

test('UTF-8 with a byte order mark and a broken character can be read with no other encoding', async () => {
  const content = Buffer.from(`\xEF\xBB\xBF${csv('A-1,M\xFC,1,1,1')}`, 'latin1');
  const { findings } = await read(content);
  expect(findings.filter(({ code }) => code === 'not-utf8')).toMatchObject([
    { message: 'this file is not UTF-8', advice: 'save the file as UTF-8 (in Excel: "CSV UTF-8")' },
  ]);
});

test.each(['windows-1252', 'iso-8859-15', 'windows-1250', 'macintosh', 'utf-8', 'utf-16le', 'utf-16be'] as const)(
  'a file in %s is read correctly with --encoding, also when its rows are read again',
  async (encoding) => {
    const { findings, rows, digest } = await read(encoded(encoding, MÜLLER), encoding);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual(['Müller Café']);
    expect(digest).toBe((await read(encoded('utf-8', MÜLLER))).digest);
  },
);

test('credentials are read with --encoding', async () => {
  const header = 'reference,realmId,accessToken,refreshToken';
  const file = tempFile(iconv.encode(`${header}\nMüller,1,at-1,rt-1\n`, 'windows-1252'));
  const { findings, credentials } = await readWholeCredentials(file, quickBooks, { now: new Date() }, 'windows-1252');
  expect(findings).toEqual([]);
  expect(credentials.map(({ reference }) => reference)).toEqual(['Müller']);
});

test.each([
  ['UTF-8', encoded('utf-8', MÜLLER), /^this file is UTF-8, not windows-1252$/],
  [
    'UTF-16 with a byte order mark',
    iconv.encode(csv(MÜLLER), 'utf-16le', { addBOM: true }),
    /byte order mark of UTF-16LE/,
  ],
])('%s with another --encoding is an error, because names would become garbled', async (_, content, says) => {
  const { findings } = await read(content, 'windows-1252');
  const [error, ...more] = findings.filter(({ severity }) => severity === 'error');
  expect(more).toEqual([]);
  expect(error).toMatchObject({ code: 'wrong-encoding', advice: 'leave out --encoding' });
  expect(error?.message).toMatch(says);
});

test('a byte that is not UTF-8 is found at the end of a large file, even if reads split its characters', async () => {
  const many = Array.from({ length: 30_000 }, (_, i) => `C-${i},Ácmé éé${'é'.repeat(i % 5)},9${i},1,1`);
  expect(await errorsOf(encoded('utf-8', ...many))).toEqual([]);
  const broken = Buffer.concat([encoded('utf-8', ...many), Buffer.from('\nZ-1,M\xFC,1,1,1\n', 'latin1')]);
  expect(await errorsOf(broken)).toEqual([['not-utf8', many.length + 2, undefined]]);
});

test('a Windows-1252 file with only a header row is reported for its encoding and its missing companies', async () => {
  const codes = (await read(iconv.encode(`${HEADER},Größe\n`, 'windows-1252'))).findings.map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(['not-utf8', 'no-companies']));
});
