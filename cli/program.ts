import { CommanderError, type Command } from 'commander';
import { ConfigurationError } from '../config';
import { withoutUnsafeCharactersInMultilineText } from '../domain/text/untrusted-text';
import { stopTracing } from '../observability/tracing';
import { CommandFailed, withAdvice, stackTrace } from './shared/errors';
import { ferryCommand } from './command-line';
import { portalCommand } from './portal/command-line';
import { findPortal, PORTAL_VARIABLE, type PortalTarget } from './portal/target';
import { usageText } from './program-frame';
import type { Context } from './shared/context';
import { assertKnownOptions, findCommand } from './options/options';
import { type Terminal } from './terminal/terminal';
import { Output, OutputClosed } from './terminal/output';

/** Exit code of a command that succeeded. */
const DONE = 0;
/** Exit code of a command that failed, found a problem, or was not confirmed. */
const FAILED = 1;
/** Exit code of a wrong command line. */
const USAGE_ERROR = 2;

/**
 * Runs the `ferry` command.
 *
 * With `--json`, the command writes exactly one JSON value to standard output, even for an error (`ferry.error/1`),
 * unless it prints the help or the version. Standard error then contains only warnings and the stack trace of
 * `--debug`.
 *
 * @param typed the arguments after the program's name
 * @returns the exit code: 0 (success), 1 (failure, a problem was found, or the user answered no) or 2 (usage error)
 */
export async function runFerry(typed: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  const target = findPortal(typed, terminal.env);
  const args = target?.args ?? typed;
  const output = new Output(terminal, args.includes('--json'), args.includes('--quiet'));
  let failed = false;
  const run: Context['run'] = async (work) => {
    const result = await work();
    if (!('written' in result)) output.show(result);
    failed = result.failed ?? false;
  };

  try {
    const base = { run, output, terminal, args, now: new Date() };
    const { command, withDefaults } = target
      ? portalCommand({ ...base, target })
      : { command: ferryCommand(base), withDefaults: (given: readonly string[]) => given };
    const given = withHelpOption(command, withCommonOptionsLast(args));
    assertKnownOptions(command, given);
    const complete = withDefaults(given);
    await command.parseAsync(complete, { from: 'user' });
    return failed ? FAILED : DONE;
  } catch (error) {
    if (error instanceof OutputClosed) return DONE;
    if (error instanceof CommanderError) {
      if (target && error.code === 'commander.unknownCommand') explainCommands(target, output);
      return handleUsage(error, output, args, target !== null);
    }
    reportError(error, output, terminal, args.includes('--debug'));
    return FAILED;
  } finally {
    await stopTracing();
  }
}

/** The options that every command has. `ferry --json list` means the same as `ferry list --json`. */
const COMMON_OPTIONS: readonly string[] = ['--json', '--quiet', '--debug'];

/** Moves common options from before the command's name to after it, where Commander expects them. */
function withCommonOptionsLast(args: readonly string[]): readonly string[] {
  const name = args.findIndex((arg) => !COMMON_OPTIONS.includes(arg));
  const command = args[name];
  if (command === undefined || command.startsWith('-')) return args;
  return [command, ...args.slice(0, name), ...args.slice(name + 1)];
}

/**
 * Adds `--help` if the arguments ask for help with `ferry help <command>`, or name only a group of commands or no
 * command at all.
 */
function withHelpOption(program: Command, args: readonly string[]): readonly string[] {
  const words = args.filter((arg) => !COMMON_OPTIONS.includes(arg));
  if (words[0] === 'help') return helpOf(program, words.slice(1));
  const { command, rest } = findCommand(program, words);
  return command.commands.length > 0 && rest.length === 0 ? [...words, '--help'] : args;
}

/** Returns the arguments that print the help of a command, or Commander's error if there is no such command. */
function helpOf(program: Command, words: readonly string[]): readonly string[] {
  const { command, rest } = findCommand(program, words);
  // Commander explains an unknown command only without `--help`.
  const isUnknown = rest.length > 0 && command.commands.length > 0;
  return isUnknown ? words : [...words.slice(0, words.length - rest.length), '--help'];
}

/**
 * Handles a CommanderError, which Commander throws for a usage error, but also after printing the help or the version.
 * Commander has already written its text. With `--json`, its error texts are suppressed (`createProgram`), so this
 * function writes the error as JSON.
 */
function handleUsage(error: CommanderError, output: Output, args: readonly string[], isPortal: boolean): 0 | 2 {
  if (error.exitCode === 0) return DONE;
  if (output.json) output.fail(usageText(error.message, args, isPortal), 'run with --help for help');
  return USAGE_ERROR;
}

/** Explains why a command can be unknown: a portal has only the commands of the client. */
function explainCommands({ isOption }: PortalTarget, output: Output): void {
  const why = isOption ? 'with --portal' : `because ${PORTAL_VARIABLE} is set`;
  output.warn(`${why}, only the client's commands are available`);
}

function reportError(thrown: unknown, output: Output, { stderr, env }: Terminal, debug: boolean): void {
  const error = withAdvice(thrown, env);
  if (error instanceof CommandFailed) output.fail(error.message.replace(/\.$/, ''), error.advice);
  else if (error instanceof ConfigurationError) output.fail(error.message);
  else
    output.fail(
      `unexpected error: ${String(error)}`,
      debug
        ? 'please report this error with the stack trace below'
        : 'to report this error, run the command again with --debug, and send the stack trace',
    );
  if (debug) stderr.write(withoutUnsafeCharactersInMultilineText(stackTrace(error)));
}
