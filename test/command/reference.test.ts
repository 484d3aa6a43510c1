/** The reference pages follow from the commands, and what they show can be typed. */
import { readDocument } from './documented';
import { cliPage } from '../../client/reference/cli-page';
import { jsonPage } from '../../client/reference/json-page';
import { leavesOf } from '../../client/reference/commands';
import { describedProgram } from '../../client/reference/described-program';
import { examplesOf } from '../../client/reference/examples';
import { ferry } from './captured';

const COMMANDS = leavesOf(describedProgram()).map(({ path }) => path);

test('docs/cli.md is what `npm run docs` writes', () => {
  expect(readDocument('cli.md')).toBe(cliPage());
});

test('docs/json.md is what `npm run docs` writes', () => {
  expect(readDocument('json.md')).toBe(jsonPage());
});

test.each(COMMANDS)('ferry %s has a description, and examples that the command takes', async (path) => {
  const { out } = await ferry([...path.split(' '), '--help']);
  expect(out).toMatch(new RegExp(`^Usage: ferry ${path} .*\\n\\n[A-Z]`));
  expect(examplesOf(path)).not.toEqual([]);
  for (const example of examplesOf(path)) {
    expect(out).toContain(`  ${example}\n`);
    expect(await parsed(example)).toBe(path);
  }
});

/** Which command would have run. */
async function parsed(line: string): Promise<string | undefined> {
  let ran: string | undefined;
  const program = describedProgram();
  for (const { path, command } of leavesOf(program)) {
    command.action(() => {
      ran = path;
    });
  }
  const words = [...line.replace(/ > .*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word ?? '',
  );
  await program.parseAsync(words.slice(1), { from: 'user' });
  return ran;
}
