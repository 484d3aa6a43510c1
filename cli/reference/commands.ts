import type { Argument, Command, Option } from 'commander';

/** A command that can be run, and what it is called: `service keys create`. */
export interface NamedCommand {
  readonly path: string;
  readonly command: Command;
}

/** Every command that can be run, in the order of the help. */
export function leavesOf(program: Command, above: readonly string[] = []): readonly NamedCommand[] {
  return program.commands.flatMap((command) => {
    const names = [...above, command.name()];
    return command.commands.length > 0 ? leavesOf(command, names) : [{ path: names.join(' '), command }];
  });
}

/** The options that a command takes, those of the commands above it among them; the program's own are for itself. */
export function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...inheritedOptions(command)].filter(({ hidden }) => !hidden);
}

/** Options of the commands above, below the program. */
export function inheritedOptions({ parent }: Command): readonly Option[] {
  return parent?.parent ? [...parent.options, ...inheritedOptions(parent)] : [];
}

/** As the usage shows it: `<migration>`, `[references...]`. */
export function argumentInWords(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
