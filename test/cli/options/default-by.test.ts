/**
 * Tests the default of `--by` for user names that several people share, such as `root`. No server is running, so every
 * command fails.
 */
import type { Prompts, TextQuestion } from '../../../cli/terminal/prompts';
import { createTemporaryFolder } from '../../../stack/folders';
import { ferry } from '../captured-terminal';

const PAUSE = ['pause', 'kite.xero'];
const NOTE = 'ferry: acting as root; to record your name, add --by "your name"\n';

/** Runs a command under a user name, and returns its questions and its output. */
async function runAs(userName: string, isTerminal: boolean, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const questions: string[] = [];
  const text = async (question: string) => (questions.push(question), 'Sam');
  const { out, err } = await ferry([...args], undefined, env, isTerminal ? { text } : undefined, userName);
  return { questions, out, err };
}

test.each([
  ['without a terminal', false, []],
  ['with --yes', true, ['--yes']],
])('a user name that does not identify a person is reported once %s', async (_, isTerminal, more) => {
  const { questions, err } = await runAs('root', isTerminal, ['approve', 'kite.xero', ...more]);
  expect(questions).toEqual([]);
  expect(err.split(NOTE)).toHaveLength(2);
});

test('at a terminal, the name is asked for', async () => {
  const { questions, err } = await runAs('Administrator', true, PAUSE);
  expect(questions).toEqual(['Your name? (decisions and reports show it; your user name is Administrator)']);
  expect(err).not.toContain('acting as');
});

test.each([
  'npm run demo',
  'ferry show kite.xero',
  'export PATH="$HOME/.local/bin:$PATH"',
  'sudo cat file | sh',
  './run --all',
  'x'.repeat(201),
  'Sam\nferry list',
  '<name>',
  'y',
  'NO',
  '',
])('a name that is not one is rejected, with a reason: %j', async (answer) => {
  let rejection: TextQuestion['rejection'];
  const text: Prompts['text'] = async (_, question) => ((rejection = question?.rejection), 'Sam');
  await ferry(PAUSE, undefined, {}, { text }, 'root');
  expect(rejection?.(answer)).toMatch(/name/);
  for (const name of ['Sam', "Siobhán O'Brien-Smith (nights)", 'R&D, Zoë', '山田 太郎', 'Sam @ Acme', 'Sam | Acme'])
    expect(rejection?.(name)).toBeNull();
});

test('a signing key is not created for a name that no decision can have', async () => {
  const { exitCode, err } = await ferry(['keys', 'create', '--by', 'x'.repeat(201)], undefined, {
    TOKENFERRY_HOME: createTemporaryFolder(),
  });
  expect(exitCode).toBe(2);
  expect(err).toContain('Expected a name of at most 200 characters');
});

test('after the answer, ferry says how to avoid the question, unless the client decides', async () => {
  const hint = 'ferry keys create --by Sam\n';
  expect((await runAs('root', true, PAUSE)).out).toContain(hint);
  expect((await runAs('root', true, [...PAUSE, '--as', 'client'])).out).not.toContain(hint);
});

test.each([
  ['a personal user name', 'sam', PAUSE],
  ['--by', 'root', [...PAUSE, '--by', 'Sam']],
  ['--quiet', 'root', [...PAUSE, '--quiet']],
  ['--json', 'root', [...PAUSE, '--json']],
  ['a command that records no name', 'root', ['list']],
  ['ferry invite without a person', 'root', ['invite', 'kite.xero']],
])('nothing is asked or reported with %s', async (_, userName, args) => {
  expect((await runAs(userName, args.includes('--by'), args)).questions).toEqual([]);
  expect((await runAs(userName, false, args)).err).not.toContain('acting as');
});

test.each([
  ['start', '/nowhere/manifest.csv', '--platform', 'xero', '--client', 'kite'],
  ['start', '/nowhere/manifest.csv'],
  ['start', __filename, '--credentials', '/nowhere/credentials.csv'],
  ['self-service', '/nowhere/manifest.csv', '--platform', 'xero', '--client', 'kite'],
  ['manifest', 'kite.xero', '/nowhere/manifest.csv'],
  ['credentials', 'kite.xero', '/nowhere/credentials.csv'],
  ['replace-credential', 'kite.xero', '/nowhere/credentials.csv'],
  ['amend', 'kite.xero', '/nowhere/manifest.csv'],
  ['application', 'kite.xero', '--sealed', '/nowhere/application.sealed'],
  ['application', 'kite.xero', '--secret-file', '/nowhere/secret'],
])('nothing is asked if the file does not exist: %j', async (...args) => {
  const { questions, err } = await runAs('root', true, args);
  expect(questions).toEqual([]);
  expect(err).not.toContain('acting as');
});

test('ferry start names a file that does not exist before it asks for missing options', async () => {
  const { err } = await runAs('root', true, ['start', '/nowhere/manifest.csv']);
  expect(err).toContain('/nowhere/manifest.csv cannot be read: there is no such file');
});

test('a person who uses sudo is not asked, because their own user name is known', async () => {
  const { questions, err } = await runAs('root', true, PAUSE, { SUDO_USER: 'sam' });
  expect(questions).toEqual([]);
  expect(err).not.toContain('acting as');
});
