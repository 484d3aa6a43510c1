/** What a shell completes, taken from the commands themselves. */
import type { Argument, Command, Option } from 'commander';
import { PLATFORMS } from '../../platforms/platforms';
import { STEPS } from '../../domain/migration/steps';
import { optionsOf } from './commands';

/** What stands where: a word that is known, a file, or the id of a migration, which `ferry list` knows. */
export type Completed = { readonly words: readonly string[] } | 'file' | 'migration' | 'anything';

interface CompletedOption {
  /** `--platform`, `-p` */
  readonly names: readonly string[];
  readonly description: string;
  /** What follows it; null: nothing does. */
  readonly value: Completed | null;
}

/** A command, or one that only has others below it. */
export interface CompletedCommand {
  /** `service keys`; the program itself: nothing. */
  readonly path: string;
  readonly below: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** What may stand in its arguments. */
  readonly values: readonly Completed[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Words that no option lists itself, because its help would be too long with them. */
const KNOWN_WORDS: Readonly<Record<string, readonly string[]>> = {
  platform: PLATFORMS.map(({ slug }) => slug),
  step: STEPS,
};

export function completedCommands(command: Command, above: readonly string[] = []): readonly CompletedCommand[] {
  const isProgram = command.parent === null;
  const names = isProgram ? [] : [...above, command.name()];
  return [
    {
      path: names.join(' '),
      below: command.commands.map((each) => ({ name: each.name(), description: firstSentence(each.description()) })),
      options: [...(isProgram ? command.options : optionsOf(command)).map(completedOption), HELP],
      values: command.registeredArguments.map(valueOfArgument),
    },
    ...command.commands.flatMap((each) => completedCommands(each, names)),
  ];
}

const HELP: CompletedOption = { names: ['--help', '-h'], description: 'explain the command', value: null };

function completedOption(option: Option): CompletedOption {
  const { long, short, description, required, optional } = option;
  return {
    names: [long, short].filter((name) => name != null),
    description: firstSentence(description),
    value: required || optional ? valueOfOption(option) : null,
  };
}

function valueOfOption(option: Option): Completed {
  const words = option.argChoices ?? KNOWN_WORDS[option.attributeName()];
  if (words) return { words };
  return /<(file|path|url or file)>/.test(option.flags) ? 'file' : 'anything';
}

function valueOfArgument(argument: Argument): Completed {
  const words = argument.argChoices ?? KNOWN_WORDS[argument.name()];
  if (words) return { words };
  if (argument.name() === 'migration') return 'migration';
  return ['manifest', 'file', 'folder'].includes(argument.name()) ? 'file' : 'anything';
}

/** There is room for no more. */
function firstSentence(text: string): string {
  return text.split(/[;:(]/)[0]?.trim() ?? text;
}
