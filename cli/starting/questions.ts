/** Asks for the options that `ferry start` needs and prints the complete command. */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isRotating, PLATFORMS, type Platform, type Route } from '../../platforms/platforms';
import { isPlaceholder } from '../../domain/text/placeholders';
import { isIdWord, isReservedLabel, migrationIdOf } from '../../domain/migration/temporal-names';
import { CommandFailed } from '../shared/errors';
import type { Prompts } from '../terminal/prompts';
import type { Encoding } from '../manifest';
import { checkAll, printSummary, type CheckOutcome } from './check';
import type { Context } from '../shared/context';
import { listAllFindings } from '../suggestions/file-arguments';
import { printFindings } from '../shared/results';
import { shellQuoted } from '../../domain/text/shell-quoted';

/** The options on the command line. */
export interface GivenOptions {
  readonly manifest: string | undefined;
  readonly manifestLater?: true;
  readonly platform?: Platform;
  readonly client?: string;
  readonly label?: string;
  readonly credentials?: string | undefined;
  readonly encoding?: Encoding | undefined;
  /** Undefined if the user did not pass the option. */
  readonly contact: string | undefined;
}

/** The options on the command line, completed with the user's answers. */
interface Answers {
  readonly route: Route;
  readonly platform: Platform;
  /** Undefined: the manifest is supplied in step 1. */
  readonly manifest: string | undefined;
  readonly credentials: string | undefined;
  readonly client: string;
  readonly label: string | undefined;
  readonly encoding: Encoding | undefined;
  /** The arguments that the answers add to the command line. */
  readonly added: readonly string[];
}

/**
 * Asks for the missing options, checks everything, and asks for confirmation.
 *
 * @param args the arguments on the command line, without the program's own name
 * @returns the arguments of the complete command
 * @throws CommandFailed if the user decides not to start
 */
export async function askForArguments(
  { output, terminal }: Context,
  prompts: Prompts,
  args: readonly string[],
  given: GivenOptions,
): Promise<readonly string[]> {
  assertFilesExist(given);
  let answers = await ask(prompts, given, (line) => output.line(line));
  // The self-service command makes its own checks and asks for its own confirmation.
  if (answers.route === 'self-service') return printCommand(['self-service', ...args.slice(1), ...answers.added]);
  for (;;) {
    const { platform, route, manifest, credentials, client, label, encoding } = answers;
    if (manifest === undefined) break;
    const migrationId = migrationIdOf(client, platform.slug, label);
    const files = { manifest, credentials, encoding };
    const outcome = await checkAll(terminal.env, { files, platform, route, migrationId });
    printFindings(output, outcome.findings, listAllFindings(outcome.files, outcome.platform));
    printSummary(output, outcome);
    if (outcome.findings.errors === 0) break;
    answers = await askForCorrection(prompts, answers, outcome);
  }
  const command = printCommand([...args, ...answers.added]);
  if (!(await prompts.confirm('Start the migration?'))) throw notStarted();
  return command;

  function printCommand(command: readonly string[]): readonly string[] {
    output.line();
    output.line('The complete command:');
    output.line(output.styled('bold', `  ferry ${command.map(shellQuoted).join(' ')}`));
    output.line();
    return command;
  }
}

/** @throws CommandFailed before the first question, because the answers would be lost */
function assertFilesExist({ manifest, credentials }: GivenOptions): void {
  for (const file of [manifest, credentials])
    if (file !== undefined && !existsSync(file))
      throw new CommandFailed(
        `${file} cannot be read: there is no such file`,
        'nothing was stored or started; check the path. A relative path starts at the folder where the command runs',
      );
}

const notStarted = (): CommandFailed =>
  new CommandFailed('nothing was stored or started', 'run the command again when you are ready');

async function ask(prompts: Prompts, given: GivenOptions, print: (line: string) => void): Promise<Answers> {
  const platform = given.platform ?? (await prompts.search('Which platform are the companies on?', PLATFORM_CHOICES));
  const route = await askRoute(prompts, platform, print);
  const manifest = given.manifest ?? (given.manifestLater ? undefined : await askManifest(prompts, route));
  const credentials =
    given.credentials ?? (manifest === undefined ? undefined : await askCredentials(prompts, platform, route, print));
  const client =
    given.client ?? (await askWord(prompts, "Short name of the client, e.g. acme (used in the migration's id)"));
  const contact =
    given.contact ??
    (await prompts.text('Who should the client call for help?', {
      defaultAnswer: DEFAULT_CONTACT,
      rejection: (answer) => (isPlaceholder(answer) ? 'That is a placeholder.' : null),
    }));
  return {
    ...{ route, platform, manifest, client, credentials, label: given.label, encoding: given.encoding },
    added: [
      ...(given.manifest !== undefined || given.manifestLater ? [] : [manifest ?? '--manifest-later']),
      ...(given.platform === undefined ? ['--platform', platform.slug] : []),
      ...(given.client === undefined ? ['--client', client] : []),
      ...(given.credentials === undefined && credentials !== undefined ? ['--credentials', credentials] : []),
      ...(given.contact === undefined && contact !== DEFAULT_CONTACT ? ['--contact', contact] : []),
    ],
  };
}

/** The contact if the user specifies none. */
export const DEFAULT_CONTACT = 'the solutions team';

const PLATFORM_CHOICES = PLATFORMS.map((platform) => ({ name: platform.name, value: platform }));

const ROUTES = [
  { name: 'the provider: six steps, with approvals', value: 'managed' },
  { name: 'the client: self-service, without approvals', value: 'self-service' },
] as const;

async function askRoute(prompts: Prompts, { name, routes }: Platform, print: (line: string) => void): Promise<Route> {
  const [only, ...more] = routes;
  if (only === undefined || more.length > 0)
    return prompts.choose("Who runs this migration: the provider's team, or the client?", ROUTES);
  const who = only === 'managed' ? 'the provider, in six steps' : 'the client, in self-service';
  print(`  ${name} companies are moved by ${who}.`);
  return only;
}

function askManifest(prompts: Prompts, route: Route): Promise<string | undefined> {
  const isOptional = route === 'managed';
  const orLater = isOptional ? '; press Enter to supply the manifest later' : '';
  return askFile(prompts, `Manifest file? (CSV or JSON, one company per row${orLater})`, isOptional);
}

async function askCredentials(
  prompts: Prompts,
  platform: Platform,
  route: Route,
  print: (line: string) => void,
): Promise<string | undefined> {
  if (route === 'managed' && isRotating(platform)) {
    print(`  When a refresh token is used, ${platform.name} can replace it, so exported tokens can stop working.`);
    print('  Export and supply the credentials later, after the client has confirmed that syncing is off.');
    return undefined;
  }
  const question =
    'Credential file? (press Enter if the manifest contains the credentials, or if you supply them later)';
  return askFile(prompts, question, true);
}

/** @returns undefined if no file is needed, and the user has pressed Enter */
async function askFile(prompts: Prompts, question: string, isOptional: boolean): Promise<string | undefined> {
  const rejection = (answer: string): string | null => {
    if (answer === '') return isOptional ? null : 'Enter the path of a file';
    const file = pathOf(answer);
    return existsSync(file) && statSync(file).isFile() ? null : `There is no file ${file}`;
  };
  return pathOf(await prompts.text(question, { rejection })) || undefined;
}

/** Returns the path in an answer. Accepts paths as people paste them from a shell: in quotes, or beginning with ~. */
function pathOf(text: string): string {
  const unquoted = text.replace(/^(['"])(.*)\1$/, '$2');
  return unquoted.replace(/^~(?=\/)/, homedir());
}

/** Asks for a word that can be part of an id. */
function askWord(prompts: Prompts, question: string, isReserved = (_word: string) => false): Promise<string> {
  const rejection = (answer: string): string | null => {
    if (!isIdWord(answer))
      return 'Use up to 64 characters: a-z, 0-9 and hyphens, without a hyphen at the beginning or end';
    return isReserved(answer) ? 'This label is reserved; use another label' : null;
  };
  return prompts.text(question, { rejection });
}

/**
 * Asks for a label if the id already exists and has no label. Otherwise, offers another encoding if it would help. If
 * it would not, or the user declines it, asks whether to check again, once the user has corrected the files.
 */
async function askForCorrection(prompts: Prompts, answers: Answers, { findings }: CheckOutcome): Promise<Answers> {
  if (answers.label === undefined && findings.listed.some(({ code }) => code === 'migration-exists')) {
    const question = 'This migration already exists. Which label should the new migration have?';
    const label = await askWord(prompts, question, isReservedLabel);
    return { ...answers, label, added: [...answers.added, '--label', label] };
  }
  const encoding = suggestedEncoding(answers, findings);
  if (encoding !== null && (await prompts.confirm(`Read the files as ${encoding}?`))) {
    return { ...answers, encoding, added: [...answers.added, '--encoding', encoding] };
  }
  if (await prompts.confirm('Check again?')) return answers;
  throw notStarted();
}

/** Returns the encoding that would make the files readable; null if none is known, or the user has specified one. */
function suggestedEncoding({ encoding }: Answers, { listed }: CheckOutcome['findings']): Encoding | null {
  const isSuggested = listed.some(({ code, advice }) => code === 'not-utf8' && advice.endsWith('windows-1252'));
  return encoding === undefined && isSuggested ? 'windows-1252' : null;
}
