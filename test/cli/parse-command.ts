import { runnableCommands } from '../../cli/reference/commands';
import { programForReference } from '../../cli/reference/cli-page';

/** Returns the path of the command that a command line runs; undefined if it runs none. */
export async function commandOf(line: string): Promise<string | undefined> {
  let ran: string | undefined;
  const program = programForReference();
  for (const { path, command } of runnableCommands(program)) {
    command.action(() => {
      ran = path;
    });
  }
  const words = [...line.replace(/ > .*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
  await program.parseAsync(words.slice(1), { from: 'user' });
  return ran;
}
