import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { Terminal } from '../terminal/terminal';
import type { CommandResult, Output, AlreadyWritten } from '../terminal/output';
import { sentence } from '../../domain/text/sentences';
import { CommandFailed } from './errors';

/** The parts of the program that every command receives. */
export interface Context {
  readonly program: Command;
  readonly output: Output;
  readonly terminal: Terminal;
  /** The arguments as typed, without the program's name, and without `--portal` and its value. */
  readonly args: readonly string[];
  /** When the program was started. Help texts take their examples of times from it. */
  readonly now: Date;
  /** Runs the command's work and prints its result. */
  readonly run: (work: () => Promise<CommandResult | AlreadyWritten>) => Promise<void>;
}

export interface YesOption {
  readonly yes?: true;
}

/** Adds `--yes` to a command that calls {@link confirm}. */
export function addYesOption(command: Command): Command {
  return command.option(
    '--yes',
    'do not ask for confirmation. Without a terminal or with --json, this option is required for an action that does harm, has an effect that cannot be undone, or undoes what others decided',
  );
}

interface Confirmation {
  readonly question: string;
  /** The effect that makes the question necessary, as a clause; null if the action has no such effect. */
  readonly consequence: string | null;
  /**
   * True if the action can be undone, although it does harm in the meantime, or if the consequence itself says whether
   * the action can be undone. Default: the action cannot be undone.
   */
  readonly reversible?: boolean;
  /**
   * Another person's decision that the action undoes, as a clause. The action then needs `--yes` if no question can be
   * asked.
   */
  readonly overrides?: string | undefined;
  /**
   * The advice if no question can be asked about `overrides`. Default: agree with the people who paused the migration.
   */
  readonly overridesAdvice?: string | undefined;
  /** A clause that says what did not happen if no question can be asked. Default: nothing was sent. */
  readonly notDone?: string;
}

/**
 * Shows the consequence of an action, if it has one, and asks the user to confirm the action. With `--yes`, returns
 * true without asking. Without a terminal, or with `--json`, no question can be asked.
 *
 * @throws CommandFailed if no question can be asked, and the action has a consequence or undoes another person's
 * decision
 */
export async function confirm(
  { output, terminal: { prompts } }: Pick<Context, 'output' | 'terminal'>,
  { yes }: YesOption,
  {
    question,
    consequence,
    overrides,
    overridesAdvice = AGREE_FIRST,
    reversible = false,
    notDone = 'nothing was sent',
  }: Confirmation,
): Promise<boolean> {
  if (yes) return true;
  const effect = consequence === null || reversible ? consequence : `this cannot be undone: ${consequence}`;
  if (prompts && !output.json) {
    if (effect !== null) output.line(`${sentence(effect)}.`);
    return prompts.confirm(question);
  }
  if (overrides !== undefined) throw new CommandFailed(overrides, `${notDone}; ${overridesAdvice}`);
  if (effect === null) return true;
  throw new CommandFailed(effect, `${notDone}; if you agree, run the command again with --yes`);
}

const AGREE_FIRST = 'once the people who paused the migration agree, run the command again with --yes';

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/**
 * Reads ferry's package.json from the nearest parent folder that has one, because the build moves this module to
 * another depth.
 */
export function packageJson(): PackageJson {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
}
