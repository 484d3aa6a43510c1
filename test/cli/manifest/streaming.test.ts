/** Tests that rows are read on demand, because a file can be larger than memory. */
import { appendFileSync, createWriteStream, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import fs, { type FileHandle } from 'node:fs/promises';
import { manifestDigest, readCredentials, readManifest } from '../../../cli/manifest';
import { HashedKeyMap } from '../../../cli/manifest/hashed-key-map';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { findPlatform } from '../../../platforms/platforms';
import { removeTempFiles, tempFile } from './manifest-files';

const opened: FileHandle[] = [];

beforeEach(() => {
  opened.splice(0);
  const { open } = fs;
  jest.spyOn(fs, 'open').mockImplementation(async (...args) => {
    const file = await open(...args);
    jest.spyOn(file, 'read');
    opened.push(file);
    return file;
  });
});
afterEach(() => jest.restoreAllMocks());
afterAll(removeTempFiles);

const found = findPlatform('quickbooks-online');
if (!found) throw new Error('no QuickBooks Online');
const platform = found;

const ROWS = 40_000;
const cells = (at: number): string[] => [`A-${at}`, `Company ${at}`, String(1_000_000 + at), `at-${at}`, `rt-${at}`];
const company = (at: number): ManifestRow => {
  const [reference = '', name = '', organization = ''] = cells(at);
  return { row: at + 1, reference, name, organization, expectedInvoices: null, wave: null, family: null };
};
const FIELDS = ['reference', 'name', 'realmId', 'accessToken', 'refreshToken'];
const asObject = (at: number): string =>
  JSON.stringify(Object.fromEntries(cells(at).map((cell, i) => [FIELDS[i], cell])));

async function longFile(before: string, line: (at: number) => string, after: string): Promise<string> {
  const path = tempFile('');
  const file = createWriteStream(path);
  file.write(before);
  for (let at = 0; at < ROWS; at += 1) if (!file.write(line(at))) await once(file, 'drain');
  file.end(after);
  await once(file, 'close');
  return path;
}

const csv = () => longFile(`${FIELDS.join(',')}\n`, (at) => `${cells(at).join(',')}\n`, '');
const json = () => longFile('[', (at) => `${at === 0 ? '' : ','}\n${asObject(at)}`, '\n]');

/** Returns the number of reads from the file that was opened last. */
const readCount = (): number => (opened.at(-1)!.read as jest.Mock).mock.calls.length;

test.each<[string, () => Promise<string>]>([
  ['CSV', csv],
  ['JSON', json],
])('%s is read only as far as its rows are consumed', async (_, write) => {
  const { digest, rows } = await readManifest({ manifest: await write() }, platform);
  expect(digest).toBe(manifestDigest(Array.from({ length: ROWS }, (_row, at) => company(at))));
  const readsOfWholeFile = readCount();

  const reading = rows[Symbol.asyncIterator]();
  await reading.next();
  // The first `next` reads a JSON file to its end, to collect its fields.
  const readsBefore = readCount();
  for (let row = 1; row < ROWS / 2; row += 1) await reading.next();
  expect(readCount() - readsBefore).toBeGreaterThan(5);
  expect(readsOfWholeFile - readCount()).toBeGreaterThan(5);
  await reading.return?.(undefined);
});

test('credentials are read only as far as they are consumed', async () => {
  const file = await csv();
  const { credentials } = await readCredentials(file, platform);
  const readsOfWholeFile = readCount();
  const reading = credentials[Symbol.asyncIterator]();
  await reading.next();
  expect(readCount()).toBeLessThan(5);
  expect(readsOfWholeFile).toBeGreaterThan(20);
  await reading.return?.(undefined);
});

test('rows can be read more than once', async () => {
  const manifest = tempFile('reference,name,realmId\nA-1,Acme,1\nA-2,Bolt,2');
  const { rows } = await readManifest({ manifest }, platform);
  for (const _ of ['first', 'second']) {
    const references: string[] = [];
    for await (const { reference } of rows) references.push(reference);
    expect(references).toEqual(['A-1', 'A-2']);
  }
});

test.each<[string, (path: string) => void]>([
  ['an additional row', (path) => appendFileSync(path, 'A-3,Cut,3\n')],
  ['a different organization', (path) => writeFileSync(path, 'reference,name,realmId\nA-1,Acme,1\nA-2,Bolt,7\n')],
  ['different columns', (path) => writeFileSync(path, 'reference,title\nA-1,Acme\n')],
  ['no content', (path) => writeFileSync(path, '')],
])('reading fails if the file has changed since the check: %s', async (_, change) => {
  const manifest = tempFile('reference,name,realmId\nA-1,Acme,1\nA-2,Bolt,2\n');
  const { rows } = await readManifest({ manifest }, platform);
  change(manifest);
  const reading = async (): Promise<void> => {
    for await (const row of rows) expect(row.reference).toMatch(/^A/);
  };
  await expect(reading()).rejects.toThrow('has changed since it was checked');
});

test('all findings of one kind are counted, but at most 10,000 are listed', async () => {
  const lines = Array.from({ length: 12_000 }, (_, at) => `A-${at},Company ${at},`);
  const { findings } = await readManifest(
    { manifest: tempFile(['reference,name,realmId', ...lines].join('\n')) },
    platform,
  );
  expect(findings.listed).toHaveLength(10_000);
  expect(findings.errors).toBe(12_000);
  expect(findings.firstOfEachKind(5).map(({ shown, hidden }) => [shown.length, hidden])).toEqual([[5, 11_995]]);
});

test('a HashedKeyMap returns the number of each of 200,000 keys', () => {
  const map = new HashedKeyMap();
  const count = 200_000;
  for (let at = 1; at <= count; at += 1) map.set(`value ${at}`, at);
  expect(map.size).toBe(count);
  for (let at = 1; at <= count; at += 97) expect(map.get(`value ${at}`)).toBe(at);
  expect(map.get('value 0')).toBe(0);
});
