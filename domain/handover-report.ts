/** The handover report in Markdown: what was moved, what was not and why, who decided what. */
import type { CompanyState, Counts } from './company-state';
import { inClientWords, openCompanies } from './company-state';
import type { Decision, Outcome } from './decision';
import { findPlatform } from './platforms';
import { moment } from './moment';
import type { FailureKind } from './failures';
import type { Evidence } from './evidence';
import type { Ending } from './migration-state';

/** A company, as far as the report says something about it. Times are ISO 8601, UTC. */
export interface ReportedCompany {
  readonly reference: string;
  readonly name: string;
  readonly storedName: string | null;
  readonly organization: string;
  readonly state: CompanyState;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  readonly linkUrl: string | null;
  readonly movedAt: string | null;
  readonly failure: FailureKind | null;
  readonly failureText: string | null;
  readonly correlationId: string | null;
  readonly evidence: readonly Evidence[] | null;
}

export interface ReportHead {
  readonly migrationId: string;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly ending: Ending | null;
  readonly paused: boolean;
  readonly suppliedAt: string;
  readonly closedAt: string | null;
  readonly vaultDestroyedAt: string | null;
  readonly counts: Counts;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
}

/** What stands before the companies. */
export function reportHead(head: ReportHead): string {
  const { counts } = head;
  return [
    `# Handover: ${head.migrationId}`,
    [
      `- Client: ${head.client}`,
      `- Platform: ${findPlatform(head.platformKey)?.name ?? head.platformKey}`,
      `- State: ${stateInWords(head)}`,
      `- Supplied: ${moment(head.suppliedAt)}${head.closedAt ? `; closed: ${moment(head.closedAt)}` : ''}`,
      `- Whom to call: ${head.contact}`,
    ].join('\n'),
    '## Result',
    [
      '| Companies | |',
      '|---|---:|',
      `| in the manifest | ${counts.total} |`,
      `| moved | ${counts.migrated} |`,
      `| not moved | ${counts.failed} |`,
      `| left out | ${counts.skipped + counts.excluded} |`,
      `| still open | ${openCompanies(counts)} |`,
    ].join('\n'),
    '## What may be switched on again in your own application',
    [
      '- **Never** a company that was moved, is still open, must reconnect, or whose data is incomplete or could not be synced: ' +
        'its token was handed over, or is about to be, and using it twice can end it for both.',
      '- **Only after asking the contact above** a company that was not moved for any other reason.',
      '- **Yes** a company that was left out.',
    ].join('\n'),
    '## Credentials',
    head.vaultDestroyedAt
      ? `Every credential supplied for this migration, and the key that opened them, was destroyed at ${moment(head.vaultDestroyedAt)}. ` +
        'Destroy the files that held them on your side.'
      : 'The credentials that are still needed are kept encrypted, and are destroyed when the migration ends.',
  ].join('\n\n');
}

function stateInWords({ ending, paused }: ReportHead): string {
  if (ending) return ending;
  return paused ? 'paused: this report is preliminary' : 'under way: this report is preliminary';
}

/** Who decided what; what was refused stands apart, for it changed nothing. */
export function reportDecisions({ decisions }: ReportHead): string {
  const applied = decisions.filter(({ outcome }) => outcome.applied);
  const refused = decisions.filter(({ outcome }) => !outcome.applied);
  return [
    '## Decisions',
    [
      '| When | Who | What |',
      '|---|---|---|',
      ...applied.map(({ decision, outcome }) => `${decisionCells(decision, outcome)} |`),
    ].join('\n'),
    ...(refused.length === 0
      ? []
      : [
          '## Refused: these changed nothing',
          [
            '| When | Who | What | Why it was refused |',
            '|---|---|---|---|',
            ...refused.map(({ decision, outcome }) => `${decisionCells(decision, outcome)} | ${cell(outcome.text)} |`),
          ].join('\n'),
        ]),
  ].join('\n\n');
}

function decisionCells(decision: Decision, { at }: Outcome): string {
  return `| ${moment(at)} | ${cell(decision.by)} (${decision.role}) | ${cell(whatWasDecided(decision))}`;
}

function whatWasDecided(decision: Decision): string {
  const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
  switch (decision.kind) {
    case 'step':
      return `${decision.verdict} ${decision.step}${reason}`;
    case 'time':
      return `propose to start at ${moment(decision.startAt)}${reason}`;
    case 'first-company':
      return `let ${decision.reference} go first${reason}`;
    case 'sync-disabled':
      return `confirm syncing disabled: ${decision.companies === 'all' ? 'all' : `${decision.companies.length} companies`}`;
    case 'credentials-supplied':
      return `supply ${decision.companies} credentials`;
    case 'application-supplied':
      return `supply the application ${decision.clientId} (${decision.environment})`;
    case 'manifest-amended':
      return `amend the manifest: ${decision.added} companies added, ${decision.corrected} corrected`;
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
      return `${decision.kind} ${decision.companies === 'all' ? 'all' : decision.companies.join(', ')}${reason}`;
    case 'replace-credential':
      return `replace the credential of ${decision.companies.join(', ')}${reason}`;
    case 'adjust':
      return `adjust ${Object.entries(decision.limits)
        .map(([name, value]) => `${name} to ${JSON.stringify(value)}`)
        .join(', ')}${reason}`;
    case 'cancel':
    case 'pause':
    case 'resume':
      return `${decision.kind}${reason}`;
  }
}

/** The head of the table of companies about which nothing final is known. */
export const OPEN_HEAD = ['## Still open', '', '| Reference | Name | State |', '|---|---|---|'].join('\n');

export function openLine({ reference, name, state, failureText }: ReportedCompany): string {
  return `| ${cell(reference)} | ${cell(name)} | ${cell(inClientWords(state, null))}${failureText ? `: ${cell(failureText)}` : ''} |`;
}

/** The head of the table of companies that were not moved. */
export const NOT_MOVED_HEAD = [
  '## Not moved, and what to do',
  '',
  '| Reference | Name | Why | What to do | Correlation id |',
  '|---|---|---|---|---|',
].join('\n');

export function notMovedLine(company: ReportedCompany): string {
  const { reference, name, state, failureText, correlationId } = company;
  return `| ${cell(reference)} | ${cell(name)} | ${cell(failureText ?? state)} | ${cell(whatToDo(company))} | ${correlationId ?? ''} |`;
}

function whatToDo({ failure, linkUrl }: ReportedCompany): string {
  switch (failure) {
    case 'reauthorization-required':
      return linkUrl ? `the end customer connects again at ${linkUrl}` : 'the end customer connects again';
    case 'incomplete':
    case 'sync-failed':
    case 'sync-timed-out':
      return 'support looks at the sync; the connection is in place';
    case 'wrong-organization':
      return 'correct the credential and supply it with ferry credentials; after the end: in a new migration';
    case 'credential-unreadable':
      return 'supply the credential again';
    case 'refused':
      return 'support looks at the error, quoting the correlation id';
    case null:
      return '';
  }
}

/** The head of the table of companies that were moved. */
export const MOVED_HEAD = [
  '## Moved',
  '',
  '| Reference | Name | Name as stored | Organization | Company id | Connection id | Moved at | Checked |',
  '|---|---|---|---|---|---|---|---|',
].join('\n');

export function movedLine(company: ReportedCompany): string {
  const { reference, name, storedName, organization, companyId, connectionId, movedAt, evidence } = company;
  const counted = evidence?.find(({ check }) => check === 'invoices complete')?.detail;
  const checked = `${evidence?.filter(({ passed }) => passed).length ?? 0} checks passed${counted ? `; invoices: ${counted}` : ''}`;
  return `| ${[reference, name, storedName ?? '', organization].map(cell).join(' | ')} | ${companyId ?? ''} | ${connectionId ?? ''} | ${movedAt ? moment(movedAt) : ''} | ${cell(checked)} |`;
}

/** A client's words in a table: a bar would end the cell, a line break the row. */
function cell(text: string): string {
  return text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
