/** Derives the shell completion from the commands. */
import type { Argument, Command, Option } from 'commander';
import { PLATFORMS } from '../../platforms/platforms';
import { STEPS } from '../../domain/migration/steps';
import { optionsOf } from './commands';

/** The possible values at a position: a fixed set of words, a file, a migration id (from `ferry list`), or anything. */
export type Completion = { readonly words: readonly string[] } | 'file' | 'migration' | 'anything';

interface CompletableOption {
  /** For example `--platform`, `-p`. */
  readonly names: readonly string[];
  readonly description: string;
  /** The possible values of the option; null if it takes no value. */
  readonly value: Completion | null;
}

/** A command, or a group of subcommands. */
export interface CompletableCommand {
  /** For example `service keys`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletableOption[];
  /** The possible values of each argument. */
  readonly values: readonly Completion[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The values of options and arguments whose help does not list the values, because the list would be too long. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  platform: PLATFORMS.map(({ slug }) => slug),
  step: STEPS,
};

export function completableCommands(command: Command, parents: readonly string[] = []): readonly CompletableCommand[] {
  const isProgram = command.parent === null;
  const names = isProgram ? [] : [...parents, command.name()];
  return [
    {
      path: names.join(' '),
      subcommands: command.commands.map((each) => ({
        name: each.name(),
        description: firstClause(each.description()),
      })),
      options: [...(isProgram ? command.options : optionsOf(command)).map(completableOption), HELP],
      values: command.registeredArguments.map(valueOfArgument),
    },
    ...command.commands.flatMap((each) => completableCommands(each, names)),
  ];
}

const HELP: CompletableOption = { names: ['--help', '-h'], description: 'show help', value: null };

function completableOption(option: Option): CompletableOption {
  const { long, short, description, required, optional } = option;
  return {
    names: [long, short].filter((name) => name != null),
    description: firstClause(description),
    value: required || optional ? valueOfOption(option) : null,
  };
}

function valueOfOption(option: Option): Completion {
  const words = option.argChoices ?? KNOWN_VALUES[option.attributeName()];
  if (words) return { words };
  return /<(file|path|url or file)>/.test(option.flags) ? 'file' : 'anything';
}

function valueOfArgument(argument: Argument): Completion {
  const words = argument.argChoices ?? KNOWN_VALUES[argument.name()];
  if (words) return { words };
  if (argument.name() === 'migration') return 'migration';
  return ['manifest', 'file', 'folder'].includes(argument.name()) ? 'file' : 'anything';
}

/** Shortens a description to its first part, because shells show it on one line. */
function firstClause(text: string): string {
  return text.split(/[;:(]/)[0]?.trim() ?? text;
}
