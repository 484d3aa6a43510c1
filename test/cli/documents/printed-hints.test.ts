/** Tests that every command that a message tells people to run can be pasted as it is printed. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { runnableCommands } from '../../../cli/reference/commands';
import { programForReference } from '../../../cli/reference/cli-page';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { commandOf } from '../parse-command';

const ROOT = path.join(__dirname, '../../..');
const FOLDERS = ['activities', 'cli', 'client', 'config', 'domain', 'presentation', 'security', 'stack', 'store'];
/** Folders with the texts of the generated documentation. Other tests check the commands in these texts. */
const DOCUMENTATION = ['cli/json-schemas/', 'cli/reference/'];

interface Text {
  readonly file: string;
  readonly text: string;
}

/** Returns the string literals of the product, with a plausible value for each expression in them. */
function texts(): readonly Text[] {
  return [...FOLDERS, 'worker', 'workflows'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((file) => file.endsWith('.ts') && !DOCUMENTATION.some((each) => file.startsWith(each)))
      .flatMap((file) => textsOf(file)),
  );
}

function textsOf(file: string): readonly Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push({ file, text: node.text });
    else if (ts.isTemplateExpression(node)) {
      const spans = node.templateSpans.map(({ expression, literal }) => valueOf(expression.getText()) + literal.text);
      found.push({ file, text: node.head.text + spans.join('') });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(path.join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
}

/** Returns a plausible value for an expression, depending on the names in it. */
function valueOf(expression: string): string {
  if (/BY_CLIENT|byClient/.test(expression)) return '--as client --by "your name"';
  if (/WITH_REASON/.test(expression)) return '--reason "why"';
  if (/fingerprint/.test(expression)) return '930f-ae9c-e700-114a-8336-c65a-0a25-246e';
  if (/slug/.test(expression)) return 'quickbooks-online';
  if (/referenceArguments|referenceWords/.test(expression)) return 'C-1001 C-1002';
  if (/route/.test(expression)) return 'start';
  if (/environment/i.test(expression)) return 'production';
  if (expression === 'role') return 'client';
  if (expression === 'approver') return `client:Cleo:${PUBLIC_KEY}`;
  if (expression === 'wave') return '1';
  if (/wave/i.test(expression)) return '--wave 1';
  if (/exampleTime/.test(expression)) return '2026-11-21 22:00';
  return 'acme';
}

const COMMANDS = runnableCommands(programForReference())
  .map((command) => command.path)
  .sort((one, other) => other.length - one.length);
/**
 * Matches a command that a text tells people to run: after a colon, after a word such as "run" or "with", in backticks,
 * in quotes, in parentheses, or at the beginning of a line.
 */
const HINT = new RegExp(
  `(?:^ *|[:\`"(] ?|\\n *|\\b(?:run|with|use|see|is) )(ferry (?:${COMMANDS.join('|')})(?![\\w-])(?:"[^"\\n]*"|'[^'\\n]*'|[^"'\`;)\\n])*)`,
  'g',
);

/** Matches the part of a command that writes its output to a file. */
const REDIRECTION = / > [\w.-]+$/;

/** Commands that can be suggested without arguments, because they ask for the arguments at a terminal. */
const ASKS = ['ferry start'];

interface Hint {
  readonly file: string;
  readonly command: string;
}

function hintsIn({ file, text }: Text): readonly Hint[] {
  return [...text.matchAll(HINT)].map(([, command = '']) => ({
    file,
    // The command ends at a comma, at a full stop, or before a word with which the sentence continues, such as "and".
    command: command.replace(/(?:, |\. | (?:and|or|for|again|to|adds|shows|prints|describes)\b).*$|[,.:]?\s*$/, ''),
  }));
}

/** A public key, for the placeholder in `--approver role:name:key`. */
const PUBLIC_KEY = parseSigningKey(new Secret(createSigningKey('Cleo'))).publicKey;

const HINTS = texts()
  .flatMap(hintsIn)
  .filter(({ command }) => !ASKS.includes(command) && !command.endsWith(' --help'));

test('the texts of the product contain commands to run', () => {
  expect(HINTS.length).toBeGreaterThan(50);
});

test('no full stop follows a command in a text that goes on, because a copy of the command would contain it', () => {
  expect(texts().filter(({ text }) => /: ferry [^;,\n]*\S\. [A-Z]/.test(text))).toEqual([]);
});

test.each([...new Map(HINTS.map((hint) => [hint.command, hint])).values()])(
  'the printed command is valid: $command ($file)',
  async ({ command }) => {
    // Words in capitals, words with `..`, and words with `<` or `>` are placeholders. A shell passes them on or
    // misreads them.
    expect(command.replace(REDIRECTION, '').match(/\s(?:[A-Z][A-Z-]+(?=[\s.]|$)|\S*(?:\.\.|[<>])\S*)/g)).toBeNull();
    // Replaces the placeholders in quotes, as a person does, because ferry refuses them.
    const filledIn = command
      .replace(REDIRECTION, '')
      .replace(/"(?:your name|name of the person)"/, 'Cleo')
      .replace('"client id"', 'AB1')
      .replace(':name:key"', `:Cleo:${PUBLIC_KEY}"`);
    expect(await commandOf(filledIn)).toBeDefined();
  },
);
