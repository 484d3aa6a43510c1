import { linkSync, mkdtempSync, openSync, closeSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { existsSync, fstatSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NotShredded, seeFile, shredFile, type FileSeen } from '../../../cli/manifest';

let folder: string;
let file: string;
const TEXT = 'a credential, '.repeat(10_000);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  file = path.join(folder, 'credentials.csv');
  writeFileSync(file, TEXT);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function seen(name = file): Promise<FileSeen> {
  const found = await seeFile(name);
  if (!found) throw new Error(`no file ${name}`);
  return found;
}

test('a file is overwritten to its last byte before it is removed', async () => {
  const stillOpen = openSync(file, 'r');
  await shredFile(await seen());
  expect(existsSync(file)).toBe(false);
  const left = Buffer.alloc(fstatSync(stillOpen).size);
  readSync(stillOpen, left, 0, left.length, 0);
  closeSync(stillOpen);
  expect(left).toHaveLength(TEXT.length);
  expect(left.toString('latin1')).not.toContain('credential');
  expect(new Set(left.subarray(-1_000)).size).toBeGreaterThan(100);
});

test.each<[string, () => Promise<FileSeen>]>([
  [
    'has changed since it was read',
    async () => {
      const before = await seen();
      truncateSync(file, 10);
      return before;
    },
  ],
  [
    'was written again since, as long as before',
    async () => {
      const before = await seen();
      utimesSync(file, new Date(0), new Date(0));
      return before;
    },
  ],
  [
    'is a link to another',
    async () => {
      symlinkSync(file, path.join(folder, 'link.csv'));
      return seen(path.join(folder, 'link.csv'));
    },
  ],
  [
    'has a second name',
    async () => {
      linkSync(file, path.join(folder, 'second.csv'));
      return seen();
    },
  ],
  ['is a folder', () => seen(folder)],
])('a file that %s is left as it is', async (_what, given) => {
  const toShred = await given();
  const before = readFileSync(file, 'utf8');
  await expect(shredFile(toShred)).rejects.toThrow(NotShredded);
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(statSync(file).isFile()).toBe(true);
});

test('a file that is not there is not seen', async () => {
  expect(await seeFile(path.join(folder, 'nothing.csv'))).toBeUndefined();
});
