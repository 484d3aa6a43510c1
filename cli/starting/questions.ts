/** `ferry start` without all that it needs: asks for it, and shows the command that would have done the same. */
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Platform, Route } from '../../platforms/platforms';
import { isRotating, PLATFORMS } from '../../platforms/platforms';
import { isIdWord, migrationIdOf } from '../../domain/migration/temporal-names';
import { CommandFailed } from '../shared/command-failed';
import type { Prompts } from '../terminal/prompts';
import type { WholeCheck } from '../commands/supply/check';
import { checkWhole, printSummary } from '../commands/supply/check';
import type { Context } from '../shared/context';
import { printFindings } from '../shared/finding-list';
import { quoted } from '../shared/remedy-commands';

/** What was typed already. */
export interface Typed {
  readonly manifest: string | undefined;
  readonly platform?: Platform;
  readonly client?: string;
  readonly label?: string;
  readonly credentials?: string;
  /** Absent: nobody has typed one. */
  readonly contact?: string;
}

/** What is known once everything was asked. */
interface Answers {
  readonly route: Route;
  readonly platform: Platform;
  readonly manifest: string;
  readonly credentials?: string;
  readonly client: string;
  readonly label?: string;
  /** What has to be typed beside what was. */
  readonly added: readonly string[];
}

/**
 * Asks for what is missing, checks it, and asks for a last yes.
 *
 * @param args what was typed, without the program's own name
 * @returns the arguments of the command that starts it
 * @throws CommandFailed when nothing is to be started
 */
export async function askedArguments(
  { output, terminal }: Context,
  prompts: Prompts,
  args: readonly string[],
  typed: Typed,
): Promise<readonly string[]> {
  let answers = await ask(prompts, typed, (line) => output.line(line));
  // That command checks, says what it is about to do, and asks, by itself.
  if (answers.route === 'self-service') return shown(['self-service', ...args.slice(1), ...answers.added]);
  for (;;) {
    const check = await checked(terminal.env, answers);
    printFindings(output, check.findings);
    printSummary(output, check);
    if (check.findings.errors === 0) break;
    answers = await corrected(prompts, answers, check);
  }
  const command = shown([...args, ...answers.added]);
  if (!(await prompts.confirm('Start it?'))) throw notStarted();
  return command;

  function shown(command: readonly string[]): readonly string[] {
    output.line();
    output.line('The command that does the same:');
    output.line(output.styled('bold', `  ferry ${command.map(quoted).join(' ')}`));
    output.line();
    return command;
  }
}

const notStarted = (): CommandFailed =>
  new CommandFailed('nothing was stored, nothing was started', 'run it again when you know');

async function ask(prompts: Prompts, typed: Typed, say: (line: string) => void): Promise<Answers> {
  const platform =
    typed.platform ?? (await prompts.search('Which platform do the companies come from?', PLATFORM_CHOICES));
  const route = await routeOf(prompts, platform, say);
  const manifest = typed.manifest ?? (await askFile(prompts, 'Which manifest? (CSV or JSON, one company per row)'));
  const credentials = typed.credentials ?? (await askCredentials(prompts, platform, route, say));
  const client =
    typed.client ?? (await askWord(prompts, 'Which client? (a key, as acme: migrations are named after it)'));
  const contact =
    typed.contact ?? (await prompts.text('Whom does the client call?', { defaultAnswer: DEFAULT_CONTACT }));
  return {
    ...{ route, platform, manifest, client },
    ...(credentials === undefined ? {} : { credentials }),
    ...(typed.label === undefined ? {} : { label: typed.label }),
    added: [
      ...(typed.manifest === undefined ? [manifest] : []),
      ...(typed.platform === undefined ? ['--platform', platform.slug] : []),
      ...(typed.client === undefined ? ['--client', client] : []),
      ...(typed.credentials === undefined && credentials !== undefined ? ['--credentials', credentials] : []),
      ...(typed.contact === undefined && contact !== DEFAULT_CONTACT ? ['--contact', contact] : []),
    ],
  };
}

/** Whom a client calls where nobody has said it. */
export const DEFAULT_CONTACT = 'the solutions team';

const PLATFORM_CHOICES = PLATFORMS.map((platform) => ({ name: platform.name, value: platform }));

const ROUTES = [
  { name: "the provider's: six steps, each approved by a person", value: 'managed' },
  { name: "the client's own: self-service, without the steps", value: 'self-service' },
] as const;

async function routeOf(prompts: Prompts, { name, routes }: Platform, say: (line: string) => void): Promise<Route> {
  const [only, ...more] = routes;
  if (only === undefined || more.length > 0) return prompts.choose('Whose key of the service moves them?', ROUTES);
  const whose = only === 'managed' ? "the provider's key, in six steps" : "the client's own key: self-service";
  say(`  ${name}: moved with ${whose}.`);
  return only;
}

async function askCredentials(
  prompts: Prompts,
  platform: Platform,
  route: Route,
  say: (line: string) => void,
): Promise<string | undefined> {
  if (route === 'managed' && isRotating(platform)) {
    say('  Its tokens change: credentials come later, once syncing is disabled.');
    return undefined;
  }
  const file = await askFile(prompts, 'Which file holds the credentials? (Enter: none yet)', 'none');
  return file === '' ? undefined : file;
}

async function askFile(prompts: Prompts, question: string, orNone?: 'none'): Promise<string> {
  const refused = (answer: string): string | null => {
    if (answer === '') return orNone ? null : 'A file is needed';
    const file = pathOf(answer);
    return existsSync(file) && statSync(file).isFile() ? null : `There is no file ${file}`;
  };
  return pathOf(await prompts.text(question, { rejection: refused }));
}

/** As a shell takes it, from which people paste: with quotes, or from their home folder. */
function pathOf(text: string): string {
  const bare = text.replace(/^(['"])(.*)\1$/, '$2');
  return bare.replace(/^~(?=\/)/, homedir());
}

function askWord(prompts: Prompts, question: string): Promise<string> {
  const refused = (answer: string): string | null =>
    isIdWord(answer) ? null : 'Lower-case letters, digits and hyphens are needed';
  return prompts.text(question, { rejection: refused });
}

function checked(
  env: NodeJS.ProcessEnv,
  { platform, route, manifest, credentials, client, label }: Answers,
): Promise<WholeCheck> {
  return checkWhole(env, {
    files: { manifest, ...(credentials === undefined ? {} : { credentials }) },
    platform,
    route,
    migrationId: migrationIdOf(client, platform.slug, label),
  });
}

/** An id that is taken gets a label; anything else is corrected in the files. */
async function corrected(prompts: Prompts, answers: Answers, { findings }: WholeCheck): Promise<Answers> {
  if (answers.label === undefined && findings.listed.some(({ code }) => code === 'migration-exists')) {
    const label = await askWord(prompts, 'A word that tells this migration apart?');
    return { ...answers, label, added: [...answers.added, '--label', label] };
  }
  if (await prompts.confirm('Is it corrected? Check again?')) return answers;
  throw notStarted();
}
