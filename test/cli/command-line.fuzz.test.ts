/**
 * Fuzzes command lines: any arguments of any command, with and without a configuration. Every command must end with
 * exit code 0, 1 or 2 and, without `--debug`, print no stack trace. An error in the command line must name the option,
 * argument or command, or print the usage. See test/support/faults/fuzz.ts for longer runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { Command, Option } from 'commander';
import { runFerry } from '../../cli/program';
import { programForReference } from '../../cli/reference/cli-page';
import { optionsOf, runnableCommands } from '../../cli/reference/commands';
import { hasUnsafeCharactersInMultilineText } from '../../domain/text/untrusted-text';
import { startTestMigration } from '../workflows/running-migration';
import { anyText, fuzzer, NASTY_TEXTS, wellFormed, withinMs } from '../support/faults/fuzz';
import { startOrchestrator, type OpenedOrchestrator } from '../support/servers/orchestrator';
import { capturedStream, ferry } from './captured-terminal';

const commandLines = fuzzer('command lines');

/** Commands that start servers as processes. They also get an unknown option, so that they start nothing. */
const NOT_STARTED = ['up', 'service start'];
const ENDS_WITHIN_MS = 30_000;

const before = process.cwd();
let orchestrator: OpenedOrchestrator;
let folder: string;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  const { until } = await startTestMigration(orchestrator, 'fuzzed-arguments', ['sbx-ok-1.any', 'sbx-ok-1.other']);
  await until(({ preflight }) => preflight !== null);
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-fuzz-'));
  // Commands that write a file write it here.
  process.chdir(folder);
  writeFileSync('manifest.csv', 'reference,name,realmId\nA-1,Acme,17\n');
  writeFileSync('credentials.csv', 'reference,accessToken,refreshToken,realmId\nR-1,at-1,rt-1,17\n');
});
afterAll(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
  await orchestrator.close();
});

const isJson = (args: readonly string[]): boolean =>
  args.includes('--json') && !args.some((arg) => /^(?:-h|--help|-V|--version|-[a-zA-Z]*[hV].*)$/.test(arg));

async function assertHandled(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  let ended = false;
  const timeLimit = new Promise<never>((_, reject) => {
    const check = setTimeout(() => {
      if (!ended) reject(new Error(`ferry ${args.join(' ')} did not end`));
    }, ENDS_WITHIN_MS);
    check.unref();
  });
  const run = runFerry(args, { stdout, stderr, env, userName: 'tester', interruption: () => AbortSignal.abort() });
  const exitCode = await Promise.race([run, timeLimit]);
  ended = true;

  const text = stdout.text + stderr.text;
  expect([0, 1, 2]).toContain(exitCode);
  expect(text).not.toMatch(/unexpected error:/);
  // `--debug` asks for the stack trace.
  if (!args.includes('--debug')) expect(text).not.toMatch(/TypeError|RangeError|ReferenceError|\n +at \S+ \(/);
  // Line breaks and tabs are allowed, because completion scripts contain them.
  expect(hasUnsafeCharactersInMultilineText(text)).toBe(false);
  if (isJson(args)) {
    expect(JSON.parse(stdout.text)).toMatchObject({ schema: expect.stringMatching(/^ferry\./) as string });
    if (!args.includes('--debug')) expect(stderr.text).toBe('');
  }
  if (exitCode !== 0) expect(text.trim()).not.toBe('');
  if (exitCode === 2) expect(text).toMatch(/(?:option|argument|command)s?\b.*['"-]|Usage:/);
}

/**
 * Makes a text usable as an argument: removes NUL, and replaces unpaired surrogates. Also removes slashes and double
 * dots, so that no path leads out of the test's folder.
 */
const asArgument = (text: string): string =>
  wellFormed(text).replaceAll('\u0000', '').replaceAll('/', '').replaceAll('..', '');

const PLAUSIBLE = [
  ...[
    'fuzzed-arguments.quickbooks-online',
    'fuzzed-arguments',
    'R-1',
    'R-2',
    'R-9',
    'all',
    'support',
    'client',
    'Sam',
    'now',
    '2026-11-21 22:00',
  ],
  ...[
    'supply-details',
    'schedule',
    'quickbooks-online',
    'xero',
    'manifest.csv',
    'credentials.csv',
    '.',
    'missing.csv',
    'new.key',
  ],
  ...[
    '1',
    '0',
    '100',
    '0.5',
    'any',
    '36h',
    '2d,1d,7d',
    'mon-fri 22:00-05:00 Europe/London',
    'csv',
    'json',
    'md',
    'html',
    'bash',
  ],
  ...['another-company', 'same-company', 'abandon', 'production', 'sandbox', 'http://127.0.0.1:1', 'client:Cleo:00'],
] as const;
const value = fc.oneof(
  { arbitrary: fc.constantFrom<string>(...PLAUSIBLE), weight: 3 },
  { arbitrary: anyText.map(asArgument), weight: 2 },
);
const COMMON = [
  '--json',
  '--quiet',
  '--debug',
  '--yes',
  '--help',
  '--version',
  '--',
  '-',
  '--no-window',
  '--nonsense',
  '-x',
];

function flagOf(option: Option): fc.Arbitrary<string[]> {
  const flag = option.long ?? option.short ?? '';
  if (!option.required && !option.optional) return fc.constant<string[]>([flag]);
  return fc.oneof(
    { arbitrary: value.map((text) => [flag, text]), weight: 6 },
    { arbitrary: value.map((text) => [`${flag}=${text}`]), weight: 2 },
    { arbitrary: fc.constant<string[]>([flag]), weight: 1 },
  );
}

function argumentsOf(name: string, command: Command): fc.Arbitrary<string[]> {
  const options = optionsOf(command);
  const mandatory = options.filter((option) => option.mandatory);
  const migration = fc.oneof({ arbitrary: fc.constant<string>(PLAUSIBLE[0]), weight: 4 }, value);
  const positional = command.registeredArguments.map((argument) =>
    argument.name() === 'migration' ? migration : value,
  );
  return fc
    .record({
      positional: fc.tuple(...positional),
      more: fc.oneof({ arbitrary: fc.constant([]), weight: 6 }, fc.array(value, { maxLength: 2 })),
      mandatory: fc.tuple(...mandatory.map(flagOf)),
      flags:
        options.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...options).chain(flagOf), { maxLength: 3 }),
      common: fc.oneof(
        { arbitrary: fc.constant([]), weight: 2 },
        fc.array(fc.constantFrom(...COMMON), { maxLength: 2 }),
      ),
      cut: fc.oneof({ arbitrary: fc.constant(99), weight: 9 }, fc.nat(4)),
    })
    .map(({ positional: words, more, mandatory: needed, flags, common, cut }) =>
      [...name.split(' '), ...words, ...more, ...needed.flat(), ...flags.flat(), ...common].slice(0, cut),
    );
}

const COMMANDS = runnableCommands(programForReference());
const anyCommandLine = fc.oneof(
  {
    arbitrary: fc
      .constantFrom(...COMMANDS)
      .chain(({ path: name, command }) =>
        argumentsOf(name, command).map((args) => (NOT_STARTED.includes(name) ? [...args, '--nonsense-too'] : args)),
      ),
    weight: 9,
  },
  { arbitrary: fc.array(fc.oneof(value, fc.constantFrom(...COMMON)), { maxLength: 4 }), weight: 1 },
);

const M = PLAUSIBLE[0];
/** Command lines that have broken a command or are likely to break one. */
const CORPUS: readonly (readonly string[])[] = [
  [],
  ['--'],
  ['__proto__'],
  ['constructor', '--json'],
  ...NASTY_TEXTS.map(asArgument).flatMap((text) => [[text], ['show', text], ['list', text, '--json']]),
  ['adjust', M, '--window', 'mon 22:00-05:00 Mars/Base'],
  ['adjust', M, '--window', ''],
  ['adjust', M, '--no-window', '--window', 'daily 20:00-23:00 UTC'],
  ['pause', M, '--valid-until', 'tomorrowish'],
  ['pause', M, '--valid-until', '+275760-09-13T00:00:00Z'],
  ['propose-time', M, '-271821-04-20'],
  ['propose-time', M, '+275760-09-13T00:00:00Z'],
  ['credentials', M, 'credentials.csv', '--obtained-at', '+275760-09-13T00:00:00Z'],
  ['credentials', M, 'credentials.csv', '--obtained-at', '-271821-04-20T00:00:00Z'],
  ['approve', M, '\u000e', '--debug'],
  ['codec-server', '--port', '', '--origin', 'x'],
  ['show', `${'x'.repeat(5_000)}`],
  ['companies', M, '--json', '--', '--json'],
];

test(
  'any command line without a configuration ends without a stack trace',
  async () => {
    const env = { TOKENFERRY_HOME: path.join(folder, 'no-home') };
    await commandLines.tryAll({ corpus: CORPUS, any: anyCommandLine, generated: 600 }, (args) =>
      assertHandled(args, env),
    );
  },
  withinMs(90_000),
);

test(
  'any command line is carried out or refused',
  async () => {
    await commandLines.tryAll({ corpus: CORPUS, any: anyCommandLine, generated: 120 }, (args) =>
      assertHandled(args, orchestrator.env),
    );
  },
  withinMs(240_000),
);

test.each([
  [['pause', M, '--valid-until', 'tomorrowish'], "option '--valid-until <time>' argument 'tomorrowish' is invalid"],
  [['propose-time', M, '+275760-09-13'], "argument '<when>' '+275760-09-13' is invalid. Write it like"],
  [['adjust', M, '--window', 'mon 22:00'], "option '--window <hours>' argument 'mon 22:00' is invalid"],
  [
    ['credentials', M, 'x.csv', '--obtained-at', '2999-01-01'],
    "'--obtained-at <when>' argument '2999-01-01' is invalid",
  ],
  [['codec-server', '--origin', 'x', '--port', ''], "option '--port <number>' argument '' is invalid"],
])('ferry %j is a wrong command line, and its error names the option or argument', async (args, names) => {
  const { exitCode, err } = await ferry(args, undefined, orchestrator.env);
  expect(exitCode).toBe(2);
  expect(err).toContain(names);
});
