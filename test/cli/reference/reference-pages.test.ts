/** Tests that the reference pages are up to date, and that the command lines in help texts and documents are valid. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readDocument } from '../documented-commands';
import { cliPage, portalProgramForReference, programForReference } from '../../../cli/reference/cli-page';
import { jsonPage } from '../../../cli/reference/json-page';
import { runnableCommands } from '../../../cli/reference/commands';
import { examplesOf } from '../../../cli/reference/examples';
import { portalExamplesOf } from '../../../cli/portal/examples';
import { ferry } from '../captured-terminal';
import { commandOf } from '../parse-command';

const COMMANDS = runnableCommands(programForReference()).map(({ path }) => path);

test('docs/cli.md is up to date with `npm run docs`', () => {
  expect(readDocument('cli.md')).toBe(cliPage());
});

test('docs/json.md is up to date with `npm run docs`', () => {
  expect(readDocument('json.md')).toBe(jsonPage());
});

test.each(COMMANDS)('ferry %s has a description and valid examples', async (path) => {
  const { out } = await ferry([...path.split(' '), '--help']);
  expect(out).toMatch(new RegExp(`^Usage: ferry ${path} .*\\n\\n[A-Z]`));
  const examples = examplesOf(path, new Date());
  expect(examples).not.toEqual([]);
  for (const example of examples) {
    expect(out).toContain(`  ${example}\n`);
    expect(await commandOf(example)).toBe(path);
  }
});

const PORTAL_COMMANDS = runnableCommands(portalProgramForReference()).map(({ path }) => path);

test.each(PORTAL_COMMANDS)('ferry --portal %s has a description and valid examples', async (path) => {
  const { out } = await ferry(['--portal', 'https://portal.example', path, '--help']);
  expect(out).toMatch(new RegExp(`^Usage: ferry --portal <link> ${path} .*\\n\\n[A-Z]`));
  const examples = portalExamplesOf(path, new Date());
  expect(examples).not.toEqual([]);
  for (const example of examples) {
    expect(out).toContain(`  ${example}\n`);
    expect(await commandOf(example)).toBe(path);
  }
});

/** The documents whose command lines are only parsed. Other tests cover README, operating.md and runbook.md. */
const DOCUMENTS = [
  ...['docs/security.md', 'docs/sandbox.md', 'docs/clients.md', 'docs/deploying.md', 'docs/platforms.md'],
  ...['docs/backup.md', 'examples/README.md'],
];
const LINES = DOCUMENTS.flatMap((document) => {
  const text = readFileSync(path.join(__dirname, '../../..', document), 'utf8');
  const lines = [...text.matchAll(/^```(?:sh|text)\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n'));
  return lines.filter((line) => /^(npx )?ferry /.test(line)).map((line) => [document, line] as const);
});
/** The values that replace the placeholders for a public key and a fingerprint. */
const PUBLIC_KEY = '930fae9ce700114a8336c65a0a25246e12d297eb6a1063beb5e552fc981f986e';
const FINGERPRINT = 'ab12-cd34-ef56-0718-293a-4b5c-6d7e-8f90';

test.each(LINES)('%s shows a valid command line: %s', async (_, line) => {
  const typed = line.replace(/^npx /, '').replaceAll('<public key>', PUBLIC_KEY).replace('<fingerprint>', FINGERPRINT);
  const [, name = ''] = /^ferry --portal \S+ (\S+)/.exec(typed) ?? [];
  const expected = name === '' ? COMMANDS.find((command) => typed.startsWith(`ferry ${command}`)) : name;
  expect(await commandOf(typed)).toBe(expected);
});
