/** Prints the parts of results that several commands share: findings, preflight, evidence, references, CSV. */
import { csvPieces } from '../../client/text-formats';
import { CLIENT_STATES, clientStateOf, clientStateText, leftOutText } from '../../domain/companies/company-state';
import type { Evidence } from '../../domain/companies/evidence';
import type { Finding } from '../../domain/companies/finding';
import { counted } from '../../domain/text/sentences';
import { applicationName, replacedText, type ApplicationsOfMoved } from '../../domain/preflight/applications';
import type { Preflight } from '../../domain/migration/preflight-result';
import type { Progress } from '../../domain/progress/progress';
import { stateOfFailed } from '../../presentation/wording/move-status';
import type { LedgerCompany } from '../../store';
import type { FindingList } from '../manifest';
import type { TableCell } from '../terminal/table';
import type { CommandResult, Output } from '../terminal/output';
import { inLocalTime, shortTime } from '../terminal/times';

/** Maximum number of findings of one kind in a printed table; `--json` lists more. */
const SHOWN_PER_KIND = 5;

/** Returns findings for `--json`. `findingsNotListed` counts the findings beyond the limit of each kind. */
export function findingsJson({ listed, errors, warnings }: FindingList) {
  const unlisted = errors + warnings - listed.length;
  return { findings: listed, ...(unlisted === 0 ? {} : { findingsNotListed: unlisted }) };
}

/**
 * Returns the result of a command that does nothing, because a file has errors.
 *
 * @param consequence what was not done
 */
export function invalidFileResult(
  json: CommandResult['json'],
  findings: FindingList,
  howToListAll: HowToListAll,
  consequence: string,
): CommandResult {
  return {
    failed: true,
    json: { ...json, ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings, howToListAll);
      output.line(`${output.styled('red', '✗')} ${consequence}`);
    },
  };
}

/**
 * How to list all findings: a text that completes "to list all, ...", or a command, which is printed on its own line,
 * because a table would break it over several lines.
 */
export type HowToListAll = string | { readonly command: string };

/**
 * Prints the first findings of each kind, by file and line.
 *
 * @param howToListAll null to list all: if a person asks for it, or if the command has supplied or sealed credentials
 *   and must not be repeated only to list them. The list is short then, because a file of credentials without errors
 *   has at most one warning for each column
 */
export function printFindings(output: Output, findings: FindingList, howToListAll: HowToListAll | null): void {
  const perKind = howToListAll === null ? Infinity : SHOWN_PER_KIND;
  const kinds = findings.firstOfEachKind(perKind);
  for (const [file, ofFile] of groupBy(kinds, ({ shown: [first] }) => first?.file ?? 'Account and other migrations')) {
    output.line(output.styled('bold', file));
    output.table(
      ['', { title: 'Line', align: 'right' }, 'Column', 'Problem', 'What to do'],
      ofFile
        .flatMap(({ shown, hidden }) =>
          shown.map((finding, index) => ({ finding, hidden: index === shown.length - 1 ? hidden : 0 })),
        )
        .sort((one, other) => byPlace(one.finding, other.finding))
        .flatMap(({ finding, hidden }) => [
          findingRow(finding),
          ...(hidden === 0 ? [] : [hiddenRow(finding, hidden, howToListAll)]),
        ]),
    );
    output.line();
  }
  const isComplete = kinds.every(({ hidden }) => hidden === 0);
  if (isComplete || howToListAll === null || typeof howToListAll === 'string') return;
  output.line(`To list all findings, run: ${howToListAll.command}`);
  output.line();
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

/** Returns the row after the last shown finding of a kind. The row says how many others of this kind are hidden. */
function hiddenRow({ line, message }: Finding, hidden: number, howToListAll: HowToListAll | null): TableCell[] {
  const how = typeof howToListAll !== 'string' ? '' : ` (to list all, ${howToListAll})`;
  const like = line === undefined ? message : `line ${line}`;
  return ['', '', '', `and ${hidden.toLocaleString('en-US')} more like ${like}${how}`, ''];
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

/** Prints the problems and warnings of a migration's preflight, and what to do about each. */
export function printPreflight(
  output: Output,
  {
    problems,
    advice = [],
    warnings,
    warningAdvice = [],
  }: Pick<Preflight, 'problems' | 'advice' | 'warnings' | 'warningAdvice'>,
): void {
  const print = (mark: string, finding: string, what: string | undefined): void => {
    output.line(`  ${mark} ${inLocalTime(finding)}`);
    if (what !== undefined) output.line(`    What to do: ${what}`);
  };
  for (const [index, problem] of problems.entries()) print(output.styled('red', '✗'), problem, advice[index]);
  for (const [index, warning] of warnings.entries()) print(output.styled('yellow', '!'), warning, warningAdvice[index]);
}

/** Prints the client's application at the platform. Prints nothing if the preflight does not contain it. */
export function printApplication(output: Output, { application }: Preflight, indent = '  '): void {
  if (application === undefined) return;
  if (application === null) return output.line(`${indent}Application: none is registered`);
  const { suppliedBy } = application;
  const text = `${indent}Application: ${applicationName(application)}`;
  if (suppliedBy !== null) return output.line(`${text}, supplied by ${suppliedBy}`);
  output.line(`${text}, ${output.styled('yellow', 'not supplied for this migration')}`);
}

interface FirstCompanyOptions {
  /** True to list the passed checks too. */
  readonly inFull: boolean;
  /** The option or the command that lists the passed checks. */
  readonly how: string;
  /** By default, the current time. */
  readonly now?: Date;
}

/**
 * Prints the result of the first company: the failed checks, and how many others have passed. Until the approval, also
 * the organization, because only people can compare its name with the manifest.
 */
export function printFirstCompany(
  output: Output,
  { firstCompany, steps }: Pick<Progress, 'firstCompany' | 'steps'>,
  { inFull, how, now = new Date() }: FirstCompanyOptions,
): void {
  if (!firstCompany || firstCompany.stage === 'importing') return;
  const { reference, stage, evidence, checkedAt } = firstCompany;
  const failed = evidence.filter(({ passed }) => !passed);
  const passed = evidence.length - failed.length;
  const isApproved = steps.some(({ step, state }) => step === 'migrate-first-company' && state === 'done');
  const result =
    stage === 'failed' ? CLIENT_STATES[stateOfFailed(firstCompany)] : isApproved ? 'approved' : CLIENT_STATES.moved;
  const checks =
    failed.length > 0
      ? counted(passed, 'other check')
      : `${stage === 'failed' ? '' : 'all '}${counted(passed, 'check')}`;
  const summary = inFull || passed === 0 ? '' : `, ${checks} passed (${how} lists them)`;
  const at = checkedAt === undefined ? '' : `, checked ${shortTime(checkedAt, now)}`;
  output.line(`First company ${reference}: ${result}${at}${summary}`);
  const needsComparison = stage === 'verified' && !isApproved;
  const isListed = ({ code, passed }: Evidence): boolean =>
    inFull || !passed || (code === 'organization' && needsComparison);
  for (const check of evidence.filter(isListed)) output.line(`  ${evidenceText(output, check)}`);
}

function evidenceText(output: Output, { label, passed, detail, correlationId, durationMs }: Evidence): string {
  const mark = passed ? output.styled('green', '✓') : output.styled('red', '✗');
  const measured = [
    ...(durationMs === undefined ? [] : [`${durationMs} ms`]),
    ...(correlationId === undefined ? [] : [`correlation id ${correlationId}`]),
  ].join(', ');
  return `${mark} ${label}: ${detail}${measured === '' ? '' : `  (${measured})`}`;
}

/** Prints the companies whose application was replaced after they were connected. */
export function printReplacedApplications(
  output: Output,
  migrationId: string,
  applications: ApplicationsOfMoved,
): void {
  for (const each of applications.replaced) output.line(`! ${replacedText(each, applications)}`);
  if (applications.replaced.length > 0)
    output.line(
      `  To list these companies with their links, run: ferry companies ${migrationId} --replaced-application`,
    );
}

/** Says that the ledgers of these migrations were restored to an older state, and how to repair them. */
export function ledgersBehindTexts(ids: readonly string[]): readonly string[] {
  return [
    `The ledger is out of date for ${ids.join(', ')}, probably because it was restored from a backup, so the numbers can be wrong.`,
    `  To repair ${ids.length === 1 ? 'it' : 'one of them'}, run: ferry reconcile ${ids[0] ?? ''}`,
  ];
}

/**
 * Returns why a company was not moved, without the state with which the text begins. For a company that was left out,
 * returns the reason and the failure before that. Null if nothing has failed and no reason was given.
 */
export function explanationOf({
  state,
  failure,
  failureText,
  leftOutReason,
}: Pick<LedgerCompany, 'state' | 'failure' | 'failureText' | 'leftOutReason'>): string | null {
  if (clientStateOf(state, failure) === 'left-out') return leftOutText(leftOutReason, failureText);
  const prefix = `${clientStateText(state, failure)}: `;
  return failureText?.startsWith(prefix) ? failureText.slice(prefix.length) : failureText;
}

/** Returns the first references and the number of the others: `C-1, C-2 and 3 more`. */
export function referenceList(references: readonly string[], maximum: number): string {
  const more = references.length > maximum ? ` and ${references.length - maximum} more` : '';
  return `${references.slice(0, maximum).join(', ')}${more}`;
}

/** Streams records as CSV. Cells that a spreadsheet would run as a formula are escaped. */
export async function writeCsv(output: Output, records: Parameters<typeof csvPieces>[0]): Promise<void> {
  for await (const piece of csvPieces(records)) await output.stream(piece);
}
