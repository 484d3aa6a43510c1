import { Command, CommanderError } from 'commander';

import { ConfigurationError } from '../config';
import { CommandFailed } from './command-failed';
import { addAboutCompanies } from './commands/about-companies';
import { addAdjust } from './commands/adjust';
import { addApprove } from './commands/approve';
import { addAmend } from './commands/amend';
import { addApplication } from './commands/application';
import { addAudit } from './commands/audit';
import { addCheck } from './commands/check';
import { addCodecServer } from './commands/codec-server';
import { addCompanies } from './commands/companies';
import type { Context } from './commands/context';
import { addCredentials } from './commands/credentials';
import { addDecisions } from './commands/decisions';
import { addDesk } from './commands/desk';
import { addDoctor } from './commands/doctor';
import { addExceptions } from './commands/exceptions';
import { addExportTemplate } from './commands/export-template';
import { addFirstCompany } from './commands/first-company';
import { addGoNoGo } from './commands/go-nogo';
import { addKeys } from './commands/keys';
import { addList } from './commands/list';
import { addReport } from './commands/report';
import { addSchedule } from './commands/schedule';
import { addSelfService } from './commands/self-service';
import { addDefaultName } from './commands/sender';
import { addService } from './commands/service';
import { addShow } from './commands/show';
import { addSweep } from './commands/sweep';
import { addStart } from './commands/start';
import { addUp } from './commands/up';
import { addVault } from './commands/vault';
import { addWatch } from './commands/watch';
import { packageJson } from './package-json';
import { Screen, type Terminal } from './screen';

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
  const screen = new Screen(terminal, args.includes('--json'));
  let failed = false;
  const run: Context['run'] = async (work) => {
    const result = await work();
    if ('shown' in result) return;
    screen.show(result);
    failed = result.failed ?? false;
  };

  try {
    await ferryCommand({ run, screen, terminal, args }).parseAsync(args, { from: 'user' });
    return failed ? FAILED : DONE;
  } catch (error) {
    if (error instanceof CommanderError) return usageOf(error, screen);
    explain(error, screen, terminal, args.includes('--debug'));
    return FAILED;
  }
}

function ferryCommand(base: Omit<Context, 'program'>): Command {
  const { screen } = base;
  const { stdout, stderr } = base.terminal;
  const program = new Command('ferry')
    .description('Move existing connections into the Company Data Service: six steps, each approved by a person.')
    .version(packageJson().version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command')
    .helpCommand(false)
    .showHelpAfterError('Run with --help for an explanation.')
    .configureHelp({ styleTitle: (title) => screen.styled('bold', title) })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => screen.json || stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, 'ferry:')),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
    })
    .exitOverride();

  addDefaultName(program, base.terminal.env);

  const context: Context = { ...base, program };
  program.commandsGroup('Before a migration:');
  addUp(context);
  addDoctor(context);
  addService(context);
  addExportTemplate(context);
  addCheck(context);
  addStart(context);
  addSelfService(context);
  program.commandsGroup('See how far it is:');
  addDesk(context);
  addList(context);
  addShow(context);
  addWatch(context);
  addGoNoGo(context);
  addCompanies(context);
  addExceptions(context);
  addReport(context);
  addAudit(context);
  program.commandsGroup('Decide and supply:');
  addApprove(context);
  addDecisions(context);
  addFirstCompany(context);
  addAboutCompanies(context);
  addAdjust(context);
  addAmend(context);
  addApplication(context);
  addCredentials(context);
  program.commandsGroup('Windows:');
  addSchedule(context);
  addSweep(context);
  program.commandsGroup('Keys:');
  addKeys(context);
  addVault(context);
  addCodecServer(context);

  for (const command of program.commands) {
    command
      .option('--json', 'print one JSON value instead of words')
      .option('--debug', 'with an unexpected error, print where in the program it arose');
  }
  return program;
}

/** Help and version arrive as errors too. Commander has written its words already, but not as JSON. */
function usageOf(error: CommanderError, screen: Screen): 0 | 2 {
  if (error.exitCode === 0) return DONE;
  if (screen.json) screen.fail(error.message.replace(/^error: /, ''), 'run with --help for an explanation');
  return USED_WRONGLY;
}

function explain(error: unknown, screen: Screen, { stderr }: Terminal, debug: boolean): void {
  if (error instanceof CommandFailed) screen.fail(error.message.replace(/\.$/, ''), error.advice);
  else if (error instanceof ConfigurationError) screen.fail(error.message);
  else screen.fail(`unexpected: ${String(error)}`, 'run again with --debug for the whole error');
  if (debug && error instanceof Error) stderr.write(`${error.stack ?? ''}\n`);
}
