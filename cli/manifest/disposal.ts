/** What becomes of a client's file once the credentials in it are sealed and stored: it still holds them readable. */
import type { Command } from 'commander';
import { CommandFailed } from '../shared/errors';
import type { FileSeen } from '.';
import { NotShredded, shredFile } from '.';
import type { Output, Terminal } from '../terminal';

export interface ShredOption {
  readonly shred?: true;
  /** Then nobody is asked. */
  readonly json?: true;
}

export function addShred(command: Command): Command {
  return command.option('--shred', 'overwrite and remove the file once every credential in it is stored');
}

export interface Disposal {
  readonly shredded: boolean;
  /** It was to be destroyed, and was not. */
  readonly failed: boolean;
  print(screen: Output): void;
}

/**
 * Destroys the file where `--shred` says so, or whoever sits there; but never one of which anything is not stored.
 *
 * @param file undefined: it is gone, or nobody may look at it
 */
export async function disposeOf(
  file: FileSeen | undefined,
  isAllStored: boolean,
  options: ShredOption,
  { prompts }: Terminal,
): Promise<Disposal> {
  const shred = options.shred === true;
  if (!file) return kept('The file is not there any more', shred);
  const { path } = file;
  if (!isAllStored) return kept(`${path} is kept: not every credential in it is stored`, shred);
  const question = `Everything in ${path} is sealed and stored. Overwrite and remove the file?`;
  if (!shred && (options.json || !prompts || !(await isYes(prompts.confirm(question))))) {
    return kept(`${path} is yours and still holds credentials readable: destroy it, and every copy`, false);
  }
  try {
    await shredFile(file);
  } catch (error) {
    if (error instanceof NotShredded) return kept(error.message, true);
    throw error;
  }
  const text = `${path} was overwritten and removed; its copies and backups, and what an SSD keeps, are yours to destroy`;
  return { shredded: true, failed: false, print: (screen) => screen.line(`  ${text}`) };
}

function kept(text: string, failed: boolean): Disposal {
  return {
    shredded: false,
    failed,
    print: (screen) => screen.line(failed ? `  ${screen.styled('red', '✗')} ${text}` : `  ${text}`),
  };
}

/** Whoever leaves the question without an answer has not said yes. */
async function isYes(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CommandFailed) return false;
    throw error;
  }
}
