/**
 * Checks that docs/runbook.md has an entry for every state, failure, stop reason, ending and notice, for every topic of
 * a no-go, and for every finding and every sentence in the files that are listed below.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { COMPANY_STATES, type CompanyState } from '../../domain/companies/company-state';
import { failureText, shownStopText, type FailureKind, type StopReason } from '../../domain/companies/failures';
import type { GoNoGo } from '../../domain/progress/go-nogo-facts';
import type { Ending } from '../../domain/migration/migration-state';
import type { NoticeKind } from '../../domain/progress/notices';
import { STEP_RULES, STEPS, stepNumber } from '../../domain/migration/steps';

const ROOT = path.join(__dirname, '../..');
const RUNBOOK = readFileSync(path.join(ROOT, 'docs/runbook.md'), 'utf8');

/** Returns the table rows of a chapter that have this name in backquotes in their first cell. */
function rowsOf(chapter: string, name: string): readonly string[] {
  const [, afterTitle = ''] = RUNBOOK.split(`## ${chapter}\n`);
  const text = afterTitle.split(/^## /m)[0] ?? '';
  return text.split('\n').filter((line) => line.startsWith('|') && line.split('|')[1]?.includes(`\`${name}\``));
}

// These records are complete, because the compiler reports a missing key.
const FAILURES: Readonly<Record<FailureKind, true>> = {
  refused: true,
  'credential-unreadable': true,
  'reauthorization-required': true,
  'wrong-organization': true,
  incomplete: true,
  'sync-failed': true,
  'sync-timed-out': true,
  'application-refused': true,
};
const STOPS: Readonly<Record<StopReason, true>> = {
  'key-refused': true,
  'account-limit': true,
  'application-refused': true,
  'wrong-organization': true,
  'too-many-failures': true,
  'ledger-behind': true,
};
const ENDINGS: Readonly<Record<Ending, true>> = { completed: true, abandoned: true, cancelled: true };
const NOTICES: Readonly<Record<NoticeKind, true>> = { stopped: true, reminder: true, escalation: true };
const GO_NO_GO_TOPICS: Readonly<Record<GoNoGo['answers'][number]['check'], true>> = {
  decisions: true,
  window: true,
  'sync-disabled': true,
  credentials: true,
  companies: true,
  'first-company': true,
  failures: true,
  account: true,
  application: true,
  service: true,
  worker: true,
};
const keysOf = <Key extends string>(record: Readonly<Record<Key, true>>): readonly Key[] =>
  Object.keys(record) as Key[];

test.each(keysOf(FAILURES))('the failure %s has a row with its message', (kind) => {
  const [row = ''] = rowsOf('Companies', kind);
  expect(row).toContain(`| ${failureText(kind)} `);
});

test.each(keysOf(STOPS))('the stop reason %s has a row with its message', (reason) => {
  const [row = ''] = rowsOf('The migration paused itself', reason);
  expect(row).toContain(`| ${shownStopText(reason)} `);
});

test.each<[string, readonly string[]]>([
  ['Companies', COMPANY_STATES satisfies readonly CompanyState[]],
  ['The end', keysOf(ENDINGS)],
  ['Notices', keysOf(NOTICES)],
  ['No-go', keysOf(GO_NO_GO_TOPICS)],
  [
    'What the check of the details finds',
    findingCodes('preflight/preflight.ts', 'preflight/company-findings.ts', 'preflight/organization-conflicts.ts'),
  ],
])('the chapter "%s" has a row for every name', (chapter, names) => {
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => rowsOf(chapter, name).length === 0)).toEqual([]);
});

test('every step has its own section', () => {
  const missing = STEPS.filter((step) => !RUNBOOK.includes(`\n### ${stepNumber(step)}. ${STEP_RULES[step].title}\n`));
  expect(missing).toEqual([]);
});

test.each([
  ['who has to act', ['progress/waiting-for.ts', 'progress/remaining-moves.ts'], 20],
  [
    'why a decision is refused',
    [
      'decisions/decide.ts',
      'decisions/approvals.ts',
      'decisions/approver-changes.ts',
      'decisions/rejections.ts',
      'decisions/exceptions.ts',
      'decisions/first-company.ts',
      'decisions/supplied-details.ts',
      'decisions/guards.ts',
      'decisions/pauses.ts',
      'decisions/preconditions.ts',
      'decisions/release.ts',
      'decisions/roles.ts',
      'decisions/self-service.ts',
      'decisions/verification.ts',
      'migration/decision-record.ts',
      'migration/signatures.ts#signatureRefusal',
    ],
    30,
  ],
])('the runbook lists every sentence that says %s', (_, files, atLeast) => {
  const sentences = files.flatMap(sentencesIn);
  expect(sentences.length).toBeGreaterThanOrEqual(atLeast);
  expect(sentences.filter((sentence) => !RUNBOOK.includes(`\`${sentence}\``))).toEqual([]);
});

test('every row of a table has as many cells as the header', () => {
  const tables = RUNBOOK.split(/\n(?!\|)/).map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  const cellsOf = (row: string): number => row.split(/(?<!\\)\|/).length;
  const short = tables.flatMap(([header = '', ...rows]) => rows.filter((row) => cellsOf(row) !== cellsOf(header)));
  expect(short).toEqual([]);
});

test('every row of "Something is down" says what happens until then', () => {
  const [, chapter = ''] = RUNBOOK.split('\n## Something is down\n');
  const [, , ...rows] = (chapter.split(/^##/m)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([]);
});

function parsed(file: string): ts.SourceFile {
  const text = readFileSync(path.join(ROOT, 'domain', file), 'utf8');
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/**
 * Returns the sentences in a file, except those about applied decisions, with "…" in place of inserted values.
 *
 * @param place the file, or a file and one of its functions, separated by `#`
 */
function sentencesIn(place: string): readonly string[] {
  const [file = '', name] = place.split('#');
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    // A text in a variable is only part of a sentence.
    if (ts.isVariableDeclaration(node) && node.initializer && !ts.isAsExpression(node.initializer)) return;
    if (ts.isCallExpression(node) && node.expression.getText() === 'applied') return;
    const text = textOf(node);
    if (text === undefined) ts.forEachChild(node, visit);
    else if (text.includes(' ')) found.add(text);
  };
  const source = parsed(file);
  const isNamed = (node: ts.Node): boolean => ts.isFunctionDeclaration(node) && node.name?.text === name;
  for (const node of source.statements) if (name === undefined || isNamed(node)) visit(node);
  return [...found];
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text.trim();
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…').trim();
}

/** Returns the first arguments of `errorFinding` and `warningFinding`, if they are string literals. */
function findingCodes(...files: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ['errorFinding', 'warningFinding'].includes(node.expression.getText())) {
      const [code] = node.arguments;
      if (code && ts.isStringLiteral(code)) found.add(code.text);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) visit(parsed(file));
  return [...found];
}
