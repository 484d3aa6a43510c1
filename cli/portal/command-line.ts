/** Builds the commands of `ferry --portal`, which a client runs. They need only the portal. */
import type { Command } from 'commander';
import { migrationOfWorkflow } from '../../domain/migration/temporal-names';
import { findPlatform } from '../../platforms/platforms';
import { addCommands, createProgram } from '../program-frame';
import type { Context } from '../shared/context';
import { findCommand } from '../options/options';
import { addShow } from './commands/show';
import { addList } from './commands/list';
import { addSignIn, addSignOut } from './commands/sign-in';
import { addCompanies, addExceptions } from './commands/companies';
import { addApplication } from './commands/application';
import { addCredentials } from './commands/credentials';
import { addCompanyDecisions, addStepDecisions } from './commands/decisions';
import { addManifest } from './commands/manifest';
import { addReport } from './commands/report';
import { addWatch } from './commands/watch';
import { onlyMigration } from './connection';
import type { PortalContext } from './context';
import { portalExamplesOf } from './examples';
import { parseLink, type PortalTarget } from './target';

const GROUPS: Readonly<Record<string, readonly ((context: PortalContext) => void)[]>> = {
  'Sign in:': [addSignIn, addSignOut, addList],
  'See progress:': [addShow, addWatch, addCompanies, addExceptions, addReport],
  'Decide:': [addStepDecisions, addCompanyDecisions],
  'Supply:': [addManifest, addApplication, addCredentials],
};

export interface PortalCommand {
  readonly command: Command;
  /**
   * Adds the only migration that the person is signed in to, if the arguments name no migration.
   *
   * @throws CommandFailed
   */
  readonly withDefaults: (args: readonly string[]) => readonly string[];
}

export function portalCommand(base: Omit<Context, 'program'> & { readonly target: PortalTarget }): PortalCommand {
  const program = createProgram(
    base,
    'ferry --portal <link>',
    'Follow your migration, make decisions and supply credentials through the portal.',
  ).option('--portal <link>', 'the link of your invitation, or the address of the portal (default: TOKENFERRY_PORTAL)');
  const context: PortalContext = { ...base, program, link: () => parseLink(base.target.link) };
  addCommands(context, GROUPS, portalExamplesOf);
  program.addHelpText(
    'after',
    '\nYou can leave out <migration> if you have signed in to only one migration.\nferry --portal <link> <command> --help shows examples.',
  );
  return { command: program, withDefaults: (args) => withMigration(context, args) };
}

function withMigration(context: PortalContext, args: readonly string[]): readonly string[] {
  const { command, rest } = findCommand(context.program, args);
  if (command.registeredArguments[0]?.name() !== 'migration') return args;
  if (rest.includes('--help') || rest.includes('-h')) return args;
  const named = firstArgument(command, rest);
  if (named !== undefined && isMigrationId(named)) return args;
  return [command.name(), onlyMigration(context), ...rest];
}

/** Returns the first argument that is neither an option nor an option's value; undefined if there is none. */
function firstArgument(command: Command, rest: readonly string[]): string | undefined {
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? '';
    if (word === '--') return rest[index + 1];
    if (!word.startsWith('-') || word === '-') return word;
    const option = command.options.find(({ long, short }) => word === long || word === short);
    if (option?.required) index += 1;
  }
  return undefined;
}

function isMigrationId(text: string): boolean {
  const [, platform = ''] = text.split('.');
  return migrationOfWorkflow(text) === text && findPlatform(platform) !== undefined;
}
