/** Builds the `ferry` command with all of its commands, in the groups and the order of its help. */
import type { Command } from 'commander';
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
import { addPauses } from './commands/decide/pauses';
import { addAdjust } from './commands/decide/adjust';
import { addDecisions } from './commands/decide/decisions';
import { addFirstCompany } from './commands/decide/first-company';
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
import { addCommands, createProgram } from './program-frame';
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
    ...[addApprove, addDecisions, addPauses, addCancel, addFirstCompany, addCompanyDecisions, addApprover],
    ...[addAdjust, addManifest, addAmend, addApplication, addCredentials, addSeal],
  ],
  'Windows:': [addSchedule, addSweep],
  'Repair:': [addReconcile],
  'Portal for clients:': [addInvite, addPortal],
  'Keys:': [addKeys, addVault, addCodecServer],
  'Your shell:': [addCompletion],
};

export function ferryCommand(base: Omit<Context, 'program'>): Command {
  const program = createProgram(
    base,
    'ferry',
    'Move existing connections into the Company Data Service. People decide in each of six steps, or the client moves its connections itself.',
  ).option(
    '--portal <link>',
    'work as the client, only through the portal. The link is the link of the invitation or the address of the portal (default: the value of TOKENFERRY_PORTAL). To list the commands, run: ferry --portal <link> --help',
  );
  addDefaultBy(program, base);
  addCommands({ ...base, program }, GROUPS, examplesOf);
  program.addHelpText('after', '\nferry <command> --help shows examples.\nTo check the setup, run: ferry doctor');
  return program;
}
