/** Prints the parts of results that several commands share: findings, preflight, evidence, references, CSV. */
import { stringify } from 'csv-stringify/sync';
import type { ClientState, CompanyState } from '../../domain/companies/company-state';
import { clientStateOf } from '../../domain/companies/company-state';
import type { Finding } from '../../domain/companies/finding';
import { counted } from '../../domain/text/sentences';
import type { Preflight } from '../../domain/migration/migration-state';
import type { Progress } from '../../domain/progress/progress';
import type { LedgerCompany } from '../../store';
import type { FindingList } from '../manifest';
import type { Output, TableCell } from '../terminal';
import { withoutUnsafeCharactersInMultilineText } from '../../domain/text/untrusted-text';

/** Maximum number of findings of one kind in a printed table; `--json` lists more. */
const SHOWN_PER_KIND = 5;

/** Returns findings for `--json`. `findingsNotListed` counts the findings beyond the limit of each kind. */
export function findingsJson({ listed, errors, warnings }: FindingList) {
  const unlisted = errors + warnings - listed.length;
  return { findings: listed, ...(unlisted === 0 ? {} : { findingsNotListed: unlisted }) };
}

/** Prints findings by file and line. */
export function printFindings(output: Output, findings: FindingList): void {
  for (const [file, fileFindings] of groupBy(findings.listed, ({ file = 'Account and other migrations' }) => file)) {
    const kinds = groupBy(fileFindings, ({ code, severity, field }) => `${code} ${severity} ${field}`);
    const shown = [...kinds.values()].flatMap((kind) => kind.slice(0, SHOWN_PER_KIND));
    output.line(output.styled('bold', file));
    output.table(
      [
        { title: '' },
        { title: 'Line', align: 'right' },
        { title: 'Column' },
        { title: 'Problem' },
        { title: 'What to do' },
      ],
      shown.sort(byPlace).map(findingRow),
    );
    for (const [first] of kinds.values()) {
      const hidden = (first ? findings.countOfKind(first) : 0) - SHOWN_PER_KIND;
      if (hidden > 0) output.line(`and ${hidden.toLocaleString('en-US')} more like this: ${first?.message}`);
    }
    output.line();
  }
}

function findingRow({ severity, line, column, field, message, advice }: Finding): TableCell[] {
  return [
    { text: severity, style: severity === 'error' ? 'red' : 'yellow' },
    line === undefined ? '' : String(line),
    [column, field].filter((part) => part !== undefined).join(' '),
    message,
    advice,
  ];
}

const byPlace = (a: Finding, b: Finding): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Prints the problems and warnings of a migration's preflight. */
export function printPreflight(output: Output, { problems, warnings }: Preflight): void {
  for (const problem of problems) output.line(`  ${output.styled('red', '✗')} ${problem}`);
  for (const warning of warnings) output.line(`  ${output.styled('yellow', '!')} ${warning}`);
}

/** Prints the checks of the first company, if they have been made. */
export function printEvidence(output: Output, { firstCompany }: Pick<Progress, 'firstCompany'>): void {
  if (!firstCompany || firstCompany.stage === 'importing') return;
  output.line();
  output.line(
    `First company ${firstCompany.reference}: ${firstCompany.stage === 'failed' ? 'not moved' : 'moved and verified'}`,
  );
  for (const { label, passed, detail, correlationId, durationMs } of firstCompany.evidence) {
    const mark = passed ? output.styled('green', '✓') : output.styled('red', '✗');
    const measured = [
      ...(durationMs === undefined ? [] : [`${durationMs} ms`]),
      ...(correlationId === undefined ? [] : [`correlation id ${correlationId}`]),
    ].join(', ');
    output.line(`  ${mark} ${label}: ${detail}${measured === '' ? '' : `  (${measured})`}`);
  }
}

/** Prints all evidence if it has not been approved yet or if a check failed; otherwise prints one line. */
export function printFirstCompany(output: Output, progress: Pick<Progress, 'firstCompany' | 'steps'>): void {
  const { firstCompany, steps } = progress;
  const approved = steps.some(({ step, state }) => step === 'migrate-first-company' && state === 'done');
  if (!firstCompany || !approved || firstCompany.evidence.some(({ passed }) => !passed)) {
    printEvidence(output, progress);
    return;
  }
  output.line();
  const checks = counted(firstCompany.evidence.length, 'check');
  output.line(`First company ${firstCompany.reference}: approved, ${checks} passed (to see them: --json)`);
}

/** Returns a company for `--json`: `state` is the state as shown to clients, `ledgerState` the state in the ledger. */
export function companyJson<Company extends Pick<LedgerCompany, 'state' | 'failure'>>(
  company: Company,
): Omit<Company, 'state'> & { readonly state: ClientState; readonly ledgerState: CompanyState } {
  const { state, failure } = company;
  return { ...company, state: clientStateOf(state, failure), ledgerState: state };
}

/** Returns the first references and the number of the others: `C-1, C-2 and 3 more`. */
export function referenceList(references: readonly string[], maximum: number): string {
  const more = references.length > maximum ? ` and ${references.length - maximum} more` : '';
  return `${references.slice(0, maximum).join(', ')}${more}`;
}

/** Variants of `= + - @` that can start a formula in a spreadsheet, and that csv-stringify does not escape. */
const FORMULA_VARIANT = /^\s*[\u2212\uFE62\uFE63\uFE66\uFE6B]|^\s+[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/;

function csvCell(text: string): string {
  const safe = withoutUnsafeCharactersInMultilineText(text);
  return FORMULA_VARIANT.test(safe) ? `'${safe}` : safe;
}

/** Writes records as CSV as they are read. Cells that a spreadsheet would run as a formula are escaped. */
export async function writeCsv(
  output: Output,
  records: AsyncIterable<Readonly<Record<string, string | number | boolean | null>>>,
): Promise<void> {
  let header = true;
  for await (const record of records) {
    const cast = { boolean: String, string: csvCell };
    await output.stream(stringify([record], { header, eof: false, escape_formulas: true, cast }));
    header = false;
  }
}
