/** Tests that a sealed file is written completely or not at all. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync, utimesSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isSealedFile, writeSealedCredentials } from '../../../cli/manifest';
import type { SecretCredential } from '../../../cli/manifest/row-file';
import { createVaultKey, Secret } from '../../../security';
import { removeTempFiles, tempFile } from './manifest-files';

afterEach(() => jest.restoreAllMocks());
afterAll(removeTempFiles);

const facts = { migrationId: 'acme.xero', platformKey: 'xero', publicKey: createVaultKey().publicKey };
const KEY = { ...facts, signedBy: '', signature: '' };
const CREDENTIAL = {
  ...{ row: 1, reference: 'C-1', organization: 'o-1', obtainedAt: '2026-11-24T09:00:00.000Z' },
  fields: new Secret({ accessToken: 'at-1', refreshToken: 'rt-1' }),
} as unknown as SecretCredential;

/** Returns the path of a file that does not exist yet, in a new folder. */
const newFile = (): string => path.join(path.dirname(tempFile('')), 'sealed');

/** Returns the path under which this process writes a file. */
const unfinishedOf = (file: string): string => `${file}.${process.pid}.unfinished`;

/** Writes a sealed file. Calls `before` when the file has been begun, but is not complete. */
function write(file: string, before: () => void = () => undefined): Promise<void> {
  async function* credentials() {
    before();
    yield CREDENTIAL;
  }
  return writeSealedCredentials(file, KEY, 1, credentials());
}

test('until the file is complete, only an unfinished file exists, which only its owner can read', async () => {
  const file = newFile();
  // A process that was killed has left it.
  writeFileSync(unfinishedOf(file), 'left over', { mode: 0o644 });
  let mode = 0;
  await write(file, () => {
    expect(existsSync(file)).toBe(false);
    ({ mode } = statSync(unfinishedOf(file)));
  });
  expect(mode & 0o777).toBe(0o600);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await isSealedFile(file)).toBe(true);
  expect(existsSync(unfinishedOf(file))).toBe(false);
});

test('an unfinished file of a process that no longer runs is removed, and no other file', async () => {
  const file = newFile();
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const leftOver = `${file}.${ended}.unfinished`;
  const others = [
    `${file}.1${ended}.unfinished`,
    `${file}.${process.ppid}.unfinished`,
    `${file}.${ended}.unfinished.txt`,
    `${file}2.${ended}.unfinished`,
  ];
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const each of [leftOver, ...others]) {
    writeFileSync(each, '');
    // The first of the others was written recently, so a process of another machine can be writing it.
    if (each !== others[0]) utimesSync(each, hoursAgo, hoursAgo);
  }
  await write(file);
  expect([file, leftOver, ...others].filter((each) => existsSync(each))).toEqual([file, ...others]);
});

test('if the writing fails, no file stays behind', async () => {
  const file = newFile();
  const failing = write(file, () => {
    throw new Error('cannot be read');
  });
  await expect(failing).rejects.toThrow('cannot be read');
  expect([file, unfinishedOf(file)].filter((each) => existsSync(each))).toEqual([]);
});

test.each([true, false])('a file that exists is not replaced; with hard links: %s', async (hasLinks) => {
  const unsupported = Object.assign(new Error('operation not supported'), { code: 'ENOTSUP' });
  if (!hasLinks) jest.spyOn(fs, 'link').mockRejectedValue(unsupported);
  const file = newFile();
  await write(file);
  expect(await isSealedFile(file)).toBe(true);
  const other = newFile();
  const late = write(other, () => writeFileSync(other, 'of another program'));
  await expect(late).rejects.toThrow(`${other} cannot be written`);
  expect(readFileSync(other, 'utf8')).toBe('of another program');
  expect(existsSync(`${other}.unfinished`)).toBe(false);
});
