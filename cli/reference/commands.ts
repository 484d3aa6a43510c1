import type { Argument, Command, Option } from 'commander';

/** A command that can be run (not a group), with its path, for example `service keys create`. */
export interface NamedCommand {
  readonly path: string;
  readonly command: Command;
}

/** Returns every command that can be run, in the order of the help. */
export function runnableCommands(program: Command, parents: readonly string[] = []): readonly NamedCommand[] {
  return program.commands.flatMap((command) => {
    const names = [...parents, command.name()];
    return command.commands.length > 0 ? runnableCommands(command, names) : [{ path: names.join(' '), command }];
  });
}

/** Returns the visible options of a command and of its parent groups, but not of the program. */
export function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...inheritedOptions(command)].filter(({ hidden }) => !hidden);
}

/** Returns the options of the parent groups of a command. */
export function inheritedOptions({ parent }: Command): readonly Option[] {
  return parent?.parent ? [...parent.options, ...inheritedOptions(parent)] : [];
}

/** Formats an argument as in the usage line: `<migration>`, `[references...]`. */
export function argumentUsage(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
