import { CommanderError } from 'commander';
import { ConfigurationError } from '../config';
import { CommandFailed } from './shared/errors';
import { ferryCommand } from './command-line';
import type { Context } from './shared/context';
import { withAdvice, stackTrace } from './shared/errors';
import { Output, type Terminal } from './terminal';

/** The command did what was asked. */
const DONE = 0;
/** It could not, or the answer is no. */
const FAILED = 1;
/** It was called in a way that it does not know. */
const USED_WRONGLY = 2;

/**
 * Runs the `ferry` command.
 *
 * With `--json`, standard output holds exactly one JSON value, for an error too (`ferry.error/1`), and standard error
 * only what `--debug` adds.
 *
 * @param args without the program's own name
 * @returns the exit code: 0, 1 (it failed), or 2 (used wrongly)
 */
export async function runFerry(args: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  const output = new Output(terminal, args.includes('--json'), args.includes('--quiet'));
  let failed = false;
  const run: Context['run'] = async (work) => {
    const result = await work();
    if ('shown' in result) return;
    output.show(result);
    failed = result.failed ?? false;
  };

  try {
    await ferryCommand({ run, output, terminal, args }).parseAsync(args, { from: 'user' });
    return failed ? FAILED : DONE;
  } catch (error) {
    if (error instanceof CommanderError) return usageOf(error, output);
    explain(error, output, terminal, args.includes('--debug'));
    return FAILED;
  }
}

/** Help and version arrive as errors too. Commander has written its words already, but not as JSON. */
function usageOf(error: CommanderError, output: Output): 0 | 2 {
  if (error.exitCode === 0) return DONE;
  if (output.json) output.fail(error.message.replace(/^error: /, ''), 'run with --help for an explanation');
  return USED_WRONGLY;
}

function explain(thrown: unknown, output: Output, { stderr }: Terminal, debug: boolean): void {
  const error = withAdvice(thrown);
  if (error instanceof CommandFailed) output.fail(error.message.replace(/\.$/, ''), error.advice);
  else if (error instanceof ConfigurationError) output.fail(error.message);
  else output.fail(`unexpected: ${String(error)}`, 'run again with --debug for the whole error, and report it');
  if (debug) stderr.write(stackTrace(error));
}
