import { leavesOf } from '../../cli/reference/commands';
import { describedProgram } from '../../cli/reference/described-program';

/** Which command would have run. */
export async function parsed(line: string): Promise<string | undefined> {
  let ran: string | undefined;
  const program = describedProgram();
  for (const { path, command } of leavesOf(program)) {
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
