/** The parts of Commander's program that `ferry` and `ferry --portal` share. */
import { Command } from 'commander';
import { isPlaceholder } from '../domain/text/placeholders';
import { PLATFORMS, type Route } from '../platforms/platforms';
import { packageJson, type Context } from './shared/context';
import { fittedTo } from './terminal/output';
import { inheritedOptions, runnableCommands } from './reference/commands';

/** The commands to use instead of words that people try, but that are not commands. */
const INSTEAD: Readonly<Record<string, string>> = {
  abandon:
    'To abandon a migration, reject its first company with --next abandon. For an example, run: ferry reject --help',
  stop: 'To stop further moves, run: ferry pause --help; to end a migration, run: ferry cancel --help',
  delete: 'A migration cannot be deleted. To end one, run: ferry cancel --help',
  undo: 'A move cannot be undone. To withdraw an approval, run: ferry reject --help',
};

/**
 * Adds what to use instead of an unknown command. Replaces Commander's suggestion, which only looks similar.
 *
 * @param first the first word of the command line. An unknown subcommand, such as `stop` in `ferry schedule stop`, is
 * not the first word and means something else, so nothing is added
 */
function withInstead(message: string, first: string | undefined): string {
  const [, word = ''] = /^unknown command '([^']*)'/.exec(message) ?? [];
  const instead = word === first && Object.hasOwn(INSTEAD, word) ? INSTEAD[word] : undefined;
  return instead === undefined ? message : `unknown command '${word}'\n(${instead})${/\n$/.test(message) ? '\n' : ''}`;
}

/** The commands for the platforms of one route. `ferry start` accepts others only if it can ask for the route. */
const ROUTES: Readonly<Record<string, Route>> = { start: 'managed', 'self-service': 'self-service' };

/**
 * Adds the platforms that the command accepts to the message that none was specified.
 *
 * @param first the first word of the command line
 */
function withPlatforms(message: string, first: string | undefined): string {
  if (!message.startsWith("required option '-p, --platform")) return message;
  const route = ROUTES[first ?? ''];
  const listed = PLATFORMS.filter(({ routes }) => route === undefined || routes.includes(route));
  return `${message.trimEnd()}\n(Choose one of: ${listed.map(({ slug }) => slug).join(', ')}.)\n`;
}

/**
 * Rewrites Commander's message about a wrong command line in the words that the help uses.
 *
 * @param args the arguments after the program's name
 * @param isPortal true for `ferry --portal`, which has only the client's commands
 */
export function usageText(message: string, args: readonly string[], isPortal: boolean): string {
  const text = message.replace(/^error: /, '');
  return (isPortal ? text : withInstead(text, firstWord(args))).replace(
    /^command-argument value '(.*)' is invalid for argument '([^']*)'/s,
    "argument '<$2>' '$1' is invalid",
  );
}

/** Returns the first word of the command line that is neither an option nor `help`. */
const firstWord = (args: readonly string[]): string | undefined =>
  args.find((arg) => !arg.startsWith('-') && arg !== 'help');

/** The width of help texts, in columns, if the terminal does not report its own. */
const DEFAULT_WIDTH = 100;

export function createProgram(
  { output, args, terminal: { stdout, stderr } }: Pick<Context, 'output' | 'args' | 'terminal'>,
  name: string,
  description: string,
): Command {
  return new Command(name)
    .description(description)
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
      outputError: (text, write) =>
        write(fittedTo(stderr, `ferry: ${withPlatforms(usageText(text, args, name !== 'ferry'), firstWord(args))}`)),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
    })
    .exitOverride()
    .hook('preAction', (_, command) => refusePlaceholders(command));
}

/** The options whose values are stored, shown or sent as typed, so a placeholder would be recorded. */
const DETAILS: readonly string[] = ['clientId', 'contact', 'by', 'name'];

/** Refuses an example of the documentation that was pasted with its placeholder, for example `--client-id "<id>"`. */
function refusePlaceholders(command: Command): void {
  for (const option of command.options.filter((each) => DETAILS.includes(each.attributeName()))) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string' && isPlaceholder(value))
      command.error(
        `error: '${value}' is a placeholder. Replace it with the actual value of ${option.long ?? option.flags}.`,
      );
  }
}

/** Adds the commands in their groups, the options that every command has, and the examples. */
export function addCommands<SomeContext extends Context>(
  context: SomeContext,
  groups: Readonly<Record<string, readonly ((context: SomeContext) => void)[]>>,
  examplesOf: (path: string, now: Date) => readonly string[],
): void {
  const { program, output, now } = context;
  for (const [title, commands] of Object.entries(groups)) {
    program.commandsGroup(title);
    for (const add of commands) add(context);
  }
  for (const command of program.commands) {
    command
      .option('--json', 'print one JSON value instead of text')
      .option('--quiet', 'print only the requested data and failures')
      .option('--debug', 'print the stack trace of an error');
  }
  for (const { path, command } of runnableCommands(program)) {
    const lines = examplesOf(path, now).map((example) => `  ${example}`);
    command.addHelpText('after', () => `\n${output.styled('bold', 'Examples:')}\n${lines.join('\n')}`);
  }
}
