/** Builds the `ferry` command with all of its commands, in the groups and the order of its help. */
import { Command } from 'commander';
import { addCompanyDecisions } from './commands/decide/company-decisions';
import { addAmend } from './commands/supply/amend';
import { addApplication } from './commands/supply/application';
import { addApprove } from './commands/decide/approve';
import { addAudit } from './commands/view/audit';
import { addApprover } from './commands/decide/approver';
import { addCancel } from './commands/decide/cancel';
import { addCheck } from './commands/supply/check';
import { addCodecServer } from './commands/operate/codec-server';
import { addCompanies } from './commands/view/companies';
import { addCompletion } from './commands/operate/completion';
import type { Context } from './shared/context';
import { addCredentials } from './commands/supply/credentials';
import { addSeal } from './commands/supply/seal';
import { addAdjust, addDecisions, addFirstCompany } from './commands/decide/decisions';
import { addDesk } from './commands/view/desk';
import { addDoctor } from './commands/operate/doctor';
import { addExceptions } from './commands/view/exceptions';
import { addExportTemplate } from './commands/supply/export-template';
import { addGoNoGo } from './commands/view/go-nogo';
import { addInvite } from './commands/operate/invite';
import { addKeys } from './commands/operate/keys';
import { addList } from './commands/view/list';
import { addManifest } from './commands/supply/manifest';
import { addPortal } from './commands/operate/portal';
import { addReport } from './commands/view/report';
import { addSchedule } from './commands/decide/schedule';
import { addSelfService } from './commands/supply/self-service';
import { addDefaultBy } from './shared/decisions';
import { addService } from './commands/operate/service';
import { addSetup } from './commands/operate/setup';
import { addShow } from './commands/view/show';
import { addStart } from './commands/supply/start';
import { addReconcile } from './commands/operate/reconcile';
import { addSweep } from './commands/operate/sweep';
import { addUp } from './commands/operate/up';
import { addVault } from './commands/operate/vault';
import { addWatch } from './commands/view/watch';
import { packageJson } from './shared/context';
import { fittedTo } from './terminal';
import { inheritedOptions, runnableCommands } from './reference/commands';
import { examplesOf } from './reference/examples';

const GROUPS: Readonly<Record<string, readonly ((context: Context) => void)[]>> = {
  'Set up and start:': [
    ...[addUp, addSetup, addDoctor, addService],
    ...[addExportTemplate, addCheck, addStart, addSelfService],
  ],
  'See progress:': [
    ...[addDesk, addList, addShow, addWatch, addGoNoGo],
    ...[addCompanies, addExceptions, addReport, addAudit],
  ],
  'Decide and supply:': [
    ...[addApprove, addDecisions, addCancel, addFirstCompany, addCompanyDecisions, addApprover],
    ...[addAdjust, addManifest, addAmend, addApplication, addCredentials, addSeal],
  ],
  'Windows:': [addSchedule, addSweep],
  'Repair:': [addReconcile],
  'Portal for clients:': [addInvite, addPortal],
  'Keys:': [addKeys, addVault, addCodecServer],
  'Your shell:': [addCompletion],
};

/** Returns Commander's message about a wrong command line in the words of the help. */
export function usageText(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/^command-argument value '(.*)' is invalid for argument '([^']*)'/s, "argument '<$2>' '$1' is invalid");
}

/** The width of help texts, in columns, if the terminal does not report its own. */
const DEFAULT_WIDTH = 100;

export function ferryCommand(base: Omit<Context, 'program'>): Command {
  const { output } = base;
  const { stdout, stderr } = base.terminal;
  const program = new Command('ferry')
    .description(
      'Move existing connections into the Company Data Service in six steps, with a person deciding at each step.',
    )
    .version(packageJson().version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showHelpAfterError('Run with --help for help.')
    .configureHelp({
      minWidthToWrap: 25,
      showGlobalOptions: true,
      visibleGlobalOptions: (command) => [...inheritedOptions(command)],
      // Omits the arguments, because the list of commands would be too wide to wrap.
      subcommandTerm: (command) => command.name(),
      styleTitle: (title) => output.styled('bold', title),
    })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => output.json || stderr.write(text),
      outputError: (text, write) => write(fittedTo(stderr, `ferry: ${usageText(text)}`)),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
    })
    .exitOverride();
  addDefaultBy(program, base);

  const context: Context = { ...base, program };
  for (const [title, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const add of commands) add(context);
  }
  for (const command of program.commands) {
    command
      .option('--json', 'print one JSON value instead of text')
      .option('--quiet', 'print only the requested data and failures')
      .option('--debug', 'print the stack trace of an unexpected error');
  }
  for (const { path, command } of runnableCommands(program)) {
    const lines = examplesOf(path, base.now).map((example) => `  ${example}`);
    command.addHelpText('after', () => `\n${output.styled('bold', 'Examples:')}\n${lines.join('\n')}`);
  }
  program.addHelpText('after', '\nferry <command> --help shows examples.\nTo check the setup, run: ferry doctor');
  return program;
}
