/**
 * Tests the default of `--by` for user names that several people share, such as `root`. No server is running, so every
 * command fails.
 */
import { ferry } from '../captured-terminal';

const PAUSE = ['pause', 'kite.xero'];
const NOTE = 'ferry: acting as root; to record your name, add --by "your name"\n';

/** Runs a command under a user name, and returns its questions and its standard error. */
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

test('a person who uses sudo is not asked, because their own user name is known', async () => {
  const { questions, err } = await runAs('root', true, PAUSE, { SUDO_USER: 'sam' });
  expect(questions).toEqual([]);
  expect(err).not.toContain('acting as');
});
