/** Writes files that must not replace another file, and must not be left half written. */
import { existsSync } from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../../config';
import { CommandFailed } from '../shared/errors';

/** Writes a complete file or none. Does not replace an existing file. */
export async function writeNew(file: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  // The process id keeps runs with the same output apart.
  const unfinished = `${file}.${process.pid}.unfinished`;
  const failed = (cause: unknown) =>
    new CommandFailed(`${file} cannot be written`, 'choose another file with --output', { cause });
  await removeLeftOver(file);
  const source = await open(unfinished, 'wx', 0o600).catch((error: unknown) => {
    throw failed(error);
  });
  try {
    try {
      for await (const line of lines) await source.appendFile(line);
      // Flushes the file to the disk, because the caller might destroy the original next.
      await source.sync();
    } finally {
      await source.close();
    }
    await moveToNew(unfinished, file).catch((error: unknown) => {
      throw failed(error);
    });
  } finally {
    await rm(unfinished, { force: true });
  }
}

const RECENT_MS = 3_600_000;

/**
 * Removes the unfinished files that killed processes with the same output have left. Best effort. Leaves a file that
 * was written recently, because a process of another machine can be writing it.
 */
async function removeLeftOver(file: string): Promise<void> {
  const { dir, base } = path.parse(file);
  for (const name of await readdir(dir || '.').catch(() => [])) {
    if (!name.startsWith(`${base}.`)) continue;
    const pid = Number(/^([1-9]\d{0,8})\.unfinished$/.exec(name.slice(base.length + 1))?.[1]);
    const leftOver = path.join(dir, name);
    const isOld = Date.now() - ((await stat(leftOver).catch(() => null))?.mtimeMs ?? Infinity) > RECENT_MS;
    if (pid === process.pid || (pid > 0 && !isAlive(pid) && isOld))
      await rm(leftOver, { force: true }).catch(() => undefined);
  }
}

/** @throws if the target exists */
async function moveToNew(file: string, target: string): Promise<void> {
  try {
    await link(file, target);
  } catch (error) {
    if (existsSync(target)) throw error;
    // The file system has no hard links. Makes sure that the target is new, and then replaces it at once.
    await (await open(target, 'wx', 0o600)).close();
    await rename(file, target).catch(async (failure: unknown) => {
      await rm(target, { force: true });
      throw failure;
    });
  }
}
