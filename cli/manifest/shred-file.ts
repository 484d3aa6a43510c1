/**
 * Destroys a client's file after its credentials or client secret have been sealed, because the file still contains
 * them in plain text.
 */
import { plainTextAdvice } from '../../domain/supply/client-secret';
import { randomFillSync } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, open, rm, type FileHandle } from 'node:fs/promises';
import type { Command } from 'commander';
import { CommandFailed } from '../shared/errors';
import type { Terminal } from '../terminal/terminal';
import type { Output } from '../terminal/output';
import { addEncoding } from './encoding';

export interface ShredOption {
  readonly shred?: true;
  /** True if the output is JSON; the command then never asks. */
  readonly json?: true;
}

/**
 * Adds the options of a command that stores or seals the credentials of a file: its encoding, and `--shred`.
 *
 * @param shred the description of `--shred`
 */
export function addFileOptions(
  command: Command,
  shred = 'overwrite and remove the file that contains the credentials, once all of them have been accepted',
): Command {
  return addEncoding(command).option('--shred', shred);
}

/** The result of destroying or keeping a file. */
export interface Disposal {
  readonly shredded: boolean;
  /** True if the file should have been destroyed but was kept. */
  readonly failed: boolean;
  print(output: Output): void;
}

/**
 * Destroys the file if `--shred` was given or the user agrees. Keeps it if any of its credentials was not accepted.
 *
 * @param file identity of the file when it was read; undefined if it was missing or inaccessible
 * @param done what has happened to its content, in the words of the question
 * @param content what the file contains
 */
export async function disposeOf(
  file: FileIdentity | undefined,
  isEverythingAccepted: boolean,
  options: ShredOption,
  { prompts }: Terminal,
  done: 'sealed and stored' | 'sealed' = 'sealed and stored',
  content: 'credentials' | 'the client secret' = 'credentials',
): Promise<Disposal> {
  const shred = options.shred === true;
  if (!file) return kept('The file was kept, because it was not accessible when the command started', shred);
  const { path } = file;
  if (!isEverythingAccepted) {
    // Without `--shred`, prints nothing, because the user has not asked to destroy the file, and needs it again.
    return shred
      ? kept(`${path} was kept, because it contains no credentials, or not all of them have been accepted`, true)
      : { shredded: false, failed: false, print: () => undefined };
  }
  const isDone = content === 'credentials' ? `All credentials in ${path} have` : `The client secret in ${path} has`;
  const question = `${isDone} been ${done}. Overwrite and remove the file?`;
  if (!shred && (options.json || !prompts || !(await isYes(prompts.confirm(question))))) {
    const afterwards = done === 'sealed' ? ' once the sealed file has been accepted' : '';
    return kept(plainTextAdvice(path, content, afterwards), false);
  }
  try {
    await shredFile(file);
  } catch (error) {
    if (error instanceof NotShredded) return kept(error.message, true);
    throw error;
  }
  const text = `${path} was overwritten and removed. Also delete its copies and backups. An SSD can still contain old blocks.`;
  return { shredded: true, failed: false, print: (output) => output.line(`  ${text}`) };
}

function kept(text: string, failed: boolean): Disposal {
  return {
    shredded: false,
    failed,
    print: (output) => output.line(failed ? `  ${output.styled('red', '✗')} ${text}` : `  ${text}`),
  };
}

/** Returns the answer. An unanswered question (`CommandFailed`) counts as no. */
async function isYes(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CommandFailed) return false;
    throw error;
  }
}

/** The identity of a file when it was read. `shredFile` refuses a file that has changed since then. */
export interface FileIdentity {
  readonly path: string;
  readonly stats: Stats;
}

/** Returns the file's identity; undefined if it does not exist or is inaccessible. */
export async function identifyFile(path: string): Promise<FileIdentity | undefined> {
  try {
    return { path, stats: await lstat(path) };
  } catch {
    return undefined;
  }
}

/** Thrown when a file could not be destroyed. The file is unchanged, unless overwriting or removing it failed. */
export class NotShredded extends Error {
  override readonly name = 'NotShredded';
}

const PIECE_BYTES = 64 * 1024;

/**
 * Overwrites a file with random bytes, flushes them to the disk and removes the file. Copies and backups remain. Old
 * blocks can remain, because an SSD writes to other blocks and some file systems copy on write.
 *
 * @throws NotShredded
 */
export async function shredFile({ path, stats }: FileIdentity): Promise<void> {
  if (!stats.isFile())
    throw new NotShredded(
      `${path} was kept, because it is not a regular file; if it is a link, destroy the linked file yourself`,
    );
  if (stats.nlink > 1)
    throw new NotShredded(`${path} was kept, because it has other names (hard links); destroy the file yourself`);
  try {
    const file = await open(path, 'r+');
    try {
      const { ino, size, mtimeMs } = await file.stat();
      if (ino !== stats.ino || size !== stats.size || mtimeMs !== stats.mtimeMs) {
        throw new NotShredded(
          `${path} was kept, because it has changed since it was read; destroy the file yourself once you no longer need it`,
        );
      }
      await overwrite(file, size);
    } finally {
      await file.close();
    }
    await rm(path);
  } catch (error) {
    if (error instanceof NotShredded) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new NotShredded(`${path} could not be destroyed: ${why}; destroy the file yourself`, { cause: error });
  }
}

async function overwrite(file: FileHandle, size: number): Promise<void> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let position = 0; position < size; position += PIECE_BYTES) {
    await file.write(randomFillSync(piece), 0, Math.min(PIECE_BYTES, size - position), position);
  }
  await file.sync();
}
