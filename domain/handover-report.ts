/** The handover report in Markdown, its companies apart: what was moved, what was not and why, who decided what. */
import type { Counts } from './company-state';
import { openCompanies } from './company-state';
import type { Decision, Outcome } from './decision';
import { whatWasDecided } from './decision-in-words';
import { duration } from './details';
import type { Planned } from './estimate';
import { cell, tableHead, tableRow } from './markdown';
import type { Ending } from './migration-state';
import { moment } from './moment';
import type { Route } from './platforms';
import { findPlatform } from './platforms';
import { counted } from './words';

/** What the ledger says of the migration as a whole. Times are ISO 8601, UTC. */
export interface Figures {
  /** Companies of which the service holds a grant. */
  readonly crossed: number;
  /** Companies of which nobody knows yet whether it does. */
  readonly crossingUnknown: number;
  readonly mustReconnect: number;
  readonly firstStartedAt: string | null;
  readonly lastMovedAt: string | null;
  /** From a company's freeze to its move, for those that were moved; null: none was. */
  readonly longestDarkHours: number | null;
  readonly medianDarkHours: number | null;
  /** Credentials that are still in the vault. */
  readonly credentialsLeft: number;
}

export interface ReportHead {
  readonly migrationId: string;
  readonly route: Route;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly ending: Ending | null;
  readonly paused: boolean;
  readonly suppliedAt: string;
  readonly suppliedBy: string;
  readonly closedAt: string | null;
  readonly vaultDestroyedAt: string | null;
  readonly counts: Counts;
  readonly figures: Figures;
  readonly planned: Planned | null;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
}

/** What stands before the companies. */
export function reportHead(head: ReportHead): string {
  return [
    `# Handover: ${head.migrationId}`,
    [
      `- Client: ${head.client}`,
      `- Platform: ${findPlatform(head.platformKey)?.name ?? head.platformKey}`,
      ...(head.route === 'self-service' ? ['- Route: self-service; its start confirmed every company'] : []),
      `- State: ${stateInWords(head)}`,
      `- Supplied: ${moment(head.suppliedAt)} by ${head.suppliedBy}`,
      `- Whom to call: ${head.contact}`,
    ].join('\n'),
    result(head),
    times(head),
    switchingOn(head),
    credentials(head),
  ].join('\n\n');
}

function stateInWords({ ending, paused, decisions }: ReportHead): string {
  switch (ending) {
    case null:
      return paused ? 'paused: this report is preliminary' : 'under way: this report is preliminary';
    case 'completed':
      return 'completed';
    case 'cancelled':
    case 'abandoned': {
      const last = decisions.findLast(({ decision, outcome }) => outcome.applied && ends(decision));
      if (!last) return ending;
      const { by, role, reason } = last.decision;
      return `${ending} by ${by} (${role})${reason === undefined ? '' : `: ${reason}`}`;
    }
  }
}

function ends(decision: Decision): boolean {
  return decision.kind === 'cancel' || (decision.kind === 'step' && decision.afterwards?.next === 'abandon');
}

function result({ counts, figures }: ReportHead): string {
  const rows: readonly (readonly [string, number])[] = [
    ['in the manifest', counts.total],
    ['moved', counts.migrated],
    ['must connect again', figures.mustReconnect],
    ['not moved', counts.failed - figures.mustReconnect],
    ['given up', counts.skipped],
    ['left out', counts.excluded],
    ['without an outcome', openCompanies(counts)],
  ];
  return [
    tableHead('Result', ['Companies', 'Number']),
    ...rows.map(([what, number]) => tableRow([what, String(number)])),
  ].join('\n');
}

function times({ planned, figures, closedAt }: ReportHead): string {
  const { firstStartedAt, lastMovedAt, longestDarkHours, medianDarkHours } = figures;
  const at = (iso: string | null | undefined): string => (iso ? moment(iso) : '');
  const expected = planned?.estimate;
  const took = firstStartedAt && lastMovedAt ? duration(Date.parse(lastMovedAt) - Date.parse(firstStartedAt)) : '';
  const dark =
    longestDarkHours === null || medianDarkHours === null
      ? ''
      : `${hours(longestDarkHours)} at most, median ${hours(medianDarkHours)}`;
  return [
    tableHead('Times', ['', 'Planned', 'Actual']),
    tableRow(['first company started', at(planned?.startAt), at(firstStartedAt)]),
    tableRow([
      'last company moved',
      expected?.ends ? `${moment(expected.ends.earliest)} to ${moment(expected.ends.latest)}` : '',
      at(lastMovedAt),
    ]),
    tableRow([
      'duration',
      expected ? `${duration(expected.lowMs)} to ${duration(expected.highMs)} within the windows` : '',
      took,
    ]),
    tableRow(['hours without fresh data', expected?.darkHours == null ? '' : `up to ${expected.darkHours}`, dark]),
    tableRow(['closed', '', at(closedAt)]),
  ].join('\n');
}

function hours(number: number): string {
  return String(Math.ceil(number * 10) / 10);
}

function switchingOn({ counts, figures, ending }: ReportHead): string {
  const { crossed, crossingUnknown } = figures;
  const others = counts.total - crossed - crossingUnknown;
  return [
    '## What may be switched on again in your own application',
    '',
    'Each company below says it for itself.',
    '',
    `- **Never** (${crossed}): the service holds its grant. A token that two applications use can end for both.`,
    `- **Ask first** (${crossingUnknown}): whether its token was used is not known yet. Call the contact above.`,
    ending === null
      ? `- **Not yet** (${others - counts.excluded - counts.skipped}): it may still be moved. **Yes**: what was left out.`
      : `- **Yes** (${others}): the service holds no grant of it. In your own application it goes on as before, as long as its token is good there; one that must connect again does so until then.`,
  ].join('\n');
}

function credentials({ vaultDestroyedAt, figures, decisions, platformKey }: ReportHead): string {
  const application = decisions
    .flatMap(({ decision, outcome }) => (outcome.applied && decision.kind === 'application-supplied' ? [decision] : []))
    .at(-1);
  const named = application ? ` ${application.clientId} (${application.environment})` : '';
  const platform = findPlatform(platformKey)?.name ?? platformKey;
  return [
    '## Credentials',
    '',
    vaultDestroyedAt
      ? `- Every credential supplied for this migration, and the key that opened them, was destroyed at ${moment(vaultDestroyedAt)}; ${figures.credentialsLeft === 0 ? 'none is' : `${counted(figures.credentialsLeft, 'credential')}`} left.`
      : `- ${counted(figures.credentialsLeft, 'credential')} still needed, kept encrypted: destroyed when the migration ends.`,
    '- **To destroy on your side**: every export and spreadsheet of tokens, the files that were given to ferry, and their copies in mails, chats and backups.',
    `- **To rotate on your side**: the secret of your application${named} at ${platform}, wherever it was written down on the way. ` +
      'The connections that were moved need it: give a new one to the service (ferry application) before the old one ends.',
    '- **To remove on your side**: the stored tokens of the companies that were moved, so that nothing refreshes or ' +
      "revokes them. Nobody presses Disconnect: that ends the service's access too.",
  ].join('\n');
}

/** Who decided what; what was refused stands apart, for it changed nothing. */
export function reportDecisions({ decisions }: Pick<ReportHead, 'decisions'>): string {
  const applied = decisions.filter(({ outcome }) => outcome.applied);
  const refused = decisions.filter(({ outcome }) => !outcome.applied);
  return [
    [
      tableHead('Decisions', ['When', 'Who', 'What']),
      ...applied.map(({ decision, outcome }) => `${decisionCells(decision, outcome)} |`),
    ].join('\n'),
    ...(refused.length === 0
      ? []
      : [
          [
            tableHead('Refused: these changed nothing', ['When', 'Who', 'What', 'Why it was refused']),
            ...refused.map(({ decision, outcome }) => `${decisionCells(decision, outcome)} | ${cell(outcome.text)} |`),
          ].join('\n'),
        ]),
  ].join('\n\n');
}

function decisionCells(decision: Decision, { at }: Outcome): string {
  return `| ${moment(at)} | ${cell(decision.by)} (${decision.role}) | ${cell(whatWasDecided(decision))}`;
}
