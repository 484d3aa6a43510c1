import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { CommandResult, Output, AlreadyWritten, Terminal } from '../terminal';

/** The parts of the program that every command receives. */
export interface Context {
  readonly program: Command;
  readonly output: Output;
  readonly terminal: Terminal;
  /** The arguments as typed, without the program's own name. */
  readonly args: readonly string[];
  /** Runs the command's work and prints its result. */
  readonly run: (work: () => Promise<CommandResult | AlreadyWritten>) => Promise<void>;
}

export interface YesOption {
  readonly yes?: true;
}

/**
 * Asks a yes-or-no question. Returns true without asking if there is no terminal, or with `--json` or `--yes`.
 *
 * @param show prints what the user should see before answering; called only if the question is asked
 */
export async function confirm(
  { output, terminal: { prompts } }: Pick<Context, 'output' | 'terminal'>,
  { yes }: YesOption,
  question: string,
  show: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  if (yes || output.json || !prompts) return true;
  await show();
  return prompts.confirm(question);
}

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** Reads ferry's package.json from the nearest parent folder that has one, because the build moves this module. */
export function packageJson(): PackageJson {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
}
