/** Every command of `ferry`, in the groups and the order of its help. */
import { Command } from 'commander';
import { addAboutCompanies } from './commands/about-companies';
import { addAdjust } from './commands/adjust';
import { addAmend } from './commands/amend';
import { addApplication } from './commands/application';
import { addApprove } from './commands/approve';
import { addAudit } from './commands/audit';
import { addCancel } from './commands/cancel';
import { addCheck } from './commands/check';
import { addCodecServer } from './commands/codec-server';
import { addCompanies } from './commands/companies';
import { addCompletion } from './commands/completion';
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
import { addStart } from './commands/start';
import { addSweep } from './commands/sweep';
import { addUp } from './commands/up';
import { addVault } from './commands/vault';
import { addWatch } from './commands/watch';
import { packageJson } from './package-json';
import { inheritedOptions, leavesOf } from './reference/commands';
import { examplesOf } from './reference/examples';

const GROUPS: Readonly<Record<string, readonly ((context: Context) => void)[]>> = {
  'Before a migration:': [addUp, addDoctor, addService, addExportTemplate, addCheck, addStart, addSelfService],
  'See how far it is:': [
    ...[addDesk, addList, addShow, addWatch, addGoNoGo],
    ...[addCompanies, addExceptions, addReport, addAudit],
  ],
  'Decide and supply:': [
    ...[addApprove, addDecisions, addCancel, addFirstCompany, addAboutCompanies],
    ...[addAdjust, addAmend, addApplication, addCredentials],
  ],
  'Windows:': [addSchedule, addSweep],
  'Keys:': [addKeys, addVault, addCodecServer],
  'Your shell:': [addCompletion],
};

/** For terminals that do not say how wide they are. */
const WIDTH = 100;

export function ferryCommand(base: Omit<Context, 'program'>): Command {
  const { screen } = base;
  const { stdout, stderr, env } = base.terminal;
  const program = new Command('ferry')
    .description('Move existing connections into the Company Data Service: six steps, each approved by a person.')
    .version(packageJson().version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain the command')
    .helpCommand(false)
    .showHelpAfterError('Run with --help for an explanation.')
    .configureHelp({
      minWidthToWrap: 25,
      showGlobalOptions: true,
      visibleGlobalOptions: (command) => [...inheritedOptions(command)],
      // With its arguments a list of commands would be too wide to wrap.
      subcommandTerm: (command) => command.name(),
      styleTitle: (title) => screen.styled('bold', title),
    })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => screen.json || stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, 'ferry:')),
      getOutHelpWidth: () => stdout.columns ?? WIDTH,
      getErrHelpWidth: () => stderr.columns ?? WIDTH,
    })
    .exitOverride();
  addDefaultName(program, env);

  const context: Context = { ...base, program };
  for (const [title, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const add of commands) add(context);
  }
  for (const command of program.commands) {
    command
      .option('--json', 'print one JSON value instead of words')
      .option('--quiet', 'print what was asked for, and failures, and nothing else')
      .option('--debug', 'with an unexpected error, print where in the program it arose');
  }
  for (const { path, command } of leavesOf(program)) {
    const lines = examplesOf(path).map((example) => `  ${example}`);
    command.addHelpText('after', () => `\n${screen.styled('bold', 'Examples:')}\n${lines.join('\n')}`);
  }
  program.addHelpText(
    'after',
    '\nferry <command> --help has examples of each.\nferry doctor looks for what is missing.',
  );
  return program;
}
