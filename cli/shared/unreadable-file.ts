import { readFileSync } from 'node:fs';
import { CommandFailed } from './errors';

/**
 * Reads a text file that an option or an argument names.
 *
 * @throws CommandFailed
 */
export function readTextFile(file: string, advice: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableFile(file, error, advice);
  }
}

/** Returns why a file cannot be read, from the error of Node's file functions. */
export function whyUnreadable(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'this is not a file';
  if (code === 'EACCES' || code === 'EPERM') return 'you do not have permission to read this file';
  return `the file cannot be opened (${String(code ?? error)})`;
}

/** Returns the error for a file that an option or an argument names, and that cannot be read. */
export function unreadableFile(file: string, error: unknown, advice: string): CommandFailed {
  return new CommandFailed(`${file} cannot be read: ${whyUnreadable(error)}`, advice, { cause: error });
}
