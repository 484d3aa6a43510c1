import { runnableCommands } from '../../cli/reference/commands';
import { portalProgramForReference, programForReference } from '../../cli/reference/cli-page';
import type { Command } from 'commander';

/** Returns the path of the command that a command line runs; undefined if it runs none. */
export async function commandOf(line: string): Promise<string | undefined> {
  let ran: string | undefined;
  const isPortal = / --portal /.test(line);
  const program = isPortal ? portalProgramForReference() : programForReference();
  for (const { path, command } of runnableCommands(program)) {
    command.action(() => {
      ran = path;
    });
  }
  const words = [...line.replace(/ > .*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
  const [name = '', ...args] = words.slice(isPortal ? words.indexOf('--portal') + 2 : 1);
  await program.parseAsync([name, ...(isPortal ? withMigrationOf(program, name, args) : args)], { from: 'user' });
  return ran;
}

/** Adds the migration, which a person can leave out if they are signed in to only one. */
function withMigrationOf({ commands }: Command, name: string, args: readonly string[]): readonly string[] {
  const command = commands.find((each) => each.name() === name);
  const isNamed = args.some((arg) => /^acme\.[a-z-]+$/.test(arg));
  return command?.registeredArguments[0]?.name() === 'migration' && !isNamed ? ['acme.xero', ...args] : args;
}
