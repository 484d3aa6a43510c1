/** The reference pages follow from the commands, and what they show can be typed. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readDocument } from '../documented-commands';
import { cliPage } from '../../../cli/reference/cli-page';
import { jsonPage } from '../../../cli/reference/json-page';
import { leavesOf } from '../../../cli/reference/commands';
import { describedProgram } from '../../../cli/reference/described-program';
import { examplesOf } from '../../../cli/reference/examples';
import { ferry } from '../captured-terminal';
import { parsed } from '../parse-command';

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

/** Those of README, of docs/operating.md and of docs/runbook.md are run by tests of their own. */
const DOCUMENTS = [
  ...['docs/security.md', 'docs/sandbox.md', 'docs/clients.md', 'docs/deploying.md', 'docs/platforms.md'],
  'examples/README.md',
];
const LINES = DOCUMENTS.flatMap((document) => {
  const text = readFileSync(path.join(__dirname, '../../..', document), 'utf8');
  const lines = [...text.matchAll(/^```(?:sh|text)\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n'));
  return lines.filter((line) => /^(npx )?ferry /.test(line)).map((line) => [document, line] as const);
});
/** What stands for a key that nobody has. */
const PUBLIC_KEY = 'ab'.repeat(32);

test.each(LINES)('%s shows what the command takes: %s', async (_, line) => {
  const typed = line.replace(/^npx /, '').replaceAll('<public key>', PUBLIC_KEY);
  expect(await parsed(typed)).toBe(COMMANDS.find((command) => typed.startsWith(`ferry ${command}`)));
});
