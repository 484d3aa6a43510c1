import {
  linkSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  existsSync,
  fstatSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NotShredded, identifyFile, shredFile, type FileIdentity } from '../../../cli/manifest';

let folder: string;
let file: string;
const TEXT = 'a credential, '.repeat(10_000);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  file = path.join(folder, 'credentials.csv');
  writeFileSync(file, TEXT);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function identityOf(name = file): Promise<FileIdentity> {
  const found = await identifyFile(name);
  if (!found) throw new Error(`no file ${name}`);
  return found;
}

test('shredFile overwrites a file to its last byte before removing it', async () => {
  const stillOpen = openSync(file, 'r');
  await shredFile(await identityOf());
  expect(existsSync(file)).toBe(false);
  const overwritten = Buffer.alloc(fstatSync(stillOpen).size);
  readSync(stillOpen, overwritten, 0, overwritten.length, 0);
  closeSync(stillOpen);
  expect(overwritten).toHaveLength(TEXT.length);
  expect(overwritten.toString('latin1')).not.toContain('credential');
  expect(new Set(overwritten.subarray(-1_000)).size).toBeGreaterThan(100);
});

test.each<[string, () => Promise<FileIdentity>]>([
  [
    'has changed since it was read',
    async () => {
      const before = await identityOf();
      truncateSync(file, 10);
      return before;
    },
  ],
  [
    'was rewritten with the same length',
    async () => {
      const before = await identityOf();
      utimesSync(file, new Date(0), new Date(0));
      return before;
    },
  ],
  [
    'is a symbolic link',
    async () => {
      symlinkSync(file, path.join(folder, 'link.csv'));
      return identityOf(path.join(folder, 'link.csv'));
    },
  ],
  [
    'has a second hard link',
    async () => {
      linkSync(file, path.join(folder, 'second.csv'));
      return identityOf();
    },
  ],
  ['is a folder', () => identityOf(folder)],
])('shredFile rejects a file that %s, and does not change it', async (_what, identify) => {
  const identity = await identify();
  const before = readFileSync(file, 'utf8');
  await expect(shredFile(identity)).rejects.toThrow(NotShredded);
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(statSync(file).isFile()).toBe(true);
});

test('identifyFile returns undefined for a missing file', async () => {
  expect(await identifyFile(path.join(folder, 'nothing.csv'))).toBeUndefined();
});
