import { runnableCommands } from '../../cli/reference/commands';
import { portalProgramForReference, programForReference } from '../../cli/reference/cli-page';
import type { Command } from 'commander';

/**
 * Returns the name of the command that a command line runs, including its groups: `service keys create`.
 *
 * @returns undefined if the command line runs no command
 */
export async function commandOf(line: string): Promise<string | undefined> {
  let ran: string | undefined;
  const isPortal = / --portal /.test(line);
  const program = isPortal ? portalProgramForReference() : programForReference();
  for (const { path, command } of runnableCommands(program)) {
    command.action(() => {
      ran = path;
    });
  }
  const words = [...line.replace(/ >>? .*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
  const [name = '', ...args] = words.slice(isPortal ? words.indexOf('--portal') + 2 : 1);
  await program.parseAsync([name, ...(isPortal ? withMigrationOf(program, name, args) : args)], { from: 'user' });
  return ran;
}

/**
 * Adds a migration to the arguments if the command needs one and they name none. With `--portal`, a person who is
 * signed in to only one migration can leave it out.
 */
function withMigrationOf({ commands }: Command, name: string, args: readonly string[]): readonly string[] {
  const command = commands.find((each) => each.name() === name);
  const isNamed = args.some((arg) => /^acme\.[a-z-]+$/.test(arg));
  return command?.registeredArguments[0]?.name() === 'migration' && !isNamed ? ['acme.xero', ...args] : args;
}
