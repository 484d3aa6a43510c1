import { randomFillSync } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, open, rm, type FileHandle } from 'node:fs/promises';

/** A file as it was when it was read: only that one is destroyed. */
export interface FileSeen {
  readonly path: string;
  readonly stats: Stats;
}

/** Thrown when a file was not destroyed; it is as it was, unless its disk has failed. */
export class NotShredded extends Error {
  override readonly name = 'NotShredded';
}

const PIECE_BYTES = 64 * 1024;

/** Undefined: there is no such file, or nobody may look at it. */
export async function seeFile(path: string): Promise<FileSeen | undefined> {
  try {
    return { path, stats: await lstat(path) };
  } catch {
    return undefined;
  }
}

/**
 * Overwrites a file with random bytes, waits until the disk has them, and removes it. What the disk itself has kept of
 * it (an SSD writes to other blocks, a file system may copy on write), copies and backups are out of reach.
 *
 * @throws NotShredded
 */
export async function shredFile({ path, stats }: FileSeen): Promise<void> {
  if (!stats.isFile()) throw new NotShredded(`${path} is a link or no file: destroy the file itself`);
  if (stats.nlink > 1) throw new NotShredded(`${path} has other names (hard links): destroy it yourself`);
  try {
    const file = await open(path, 'r+');
    try {
      const { ino, size, mtimeMs } = await file.stat();
      if (ino !== stats.ino || size !== stats.size || mtimeMs !== stats.mtimeMs) {
        throw new NotShredded(`${path} has changed since it was read`);
      }
      await overwrite(file, size);
    } finally {
      await file.close();
    }
    await rm(path);
  } catch (error) {
    if (error instanceof NotShredded) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new NotShredded(`${path} could not be destroyed: ${why}`, { cause: error });
  }
}

async function overwrite(file: FileHandle, size: number): Promise<void> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let position = 0; position < size; position += PIECE_BYTES) {
    await file.write(randomFillSync(piece), 0, Math.min(PIECE_BYTES, size - position), position);
  }
  await file.sync();
}
