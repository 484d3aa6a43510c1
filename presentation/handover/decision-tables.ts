/** The tables at the end of the report: decisions, automatic pauses and outages, in words for the client. */
import { NO_COUNTS } from '../../domain/companies/counts';
import { withdrawnApprovals, withdrawnConfirmations } from '../../domain/decisions/release';
import type { Stoppage } from '../../domain/migration/stoppage';
import { changedText } from '../../domain/progress/sign-off-changes';
import { roughDuration, timeText } from '../../domain/text/sentences';
import { decisionText } from '../wording/decisions';
import { stopText } from '../wording/status-line';
import { viewOf, type ReportHead } from './report-facts';
import { platformOf } from '../wording/client-page';

export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Returns the applied decisions, and the stoppages and the refused decisions if there are any. Refused decisions are in
 * a separate table, because they changed nothing.
 */
export function decisionTables(head: ReportHead): readonly [ReportTable, ...ReportTable[]] {
  const columns = ['When', 'Who', 'What'];
  const stoppages = stoppageRows(head);
  const refused = decisionRows(head, false);
  return [
    { title: 'Decisions', columns, rows: decisionRows(head, true) },
    ...(stoppages.length === 0 ? [] : [{ title: STOPPAGES, columns: ['From', 'Until', 'Why'], rows: stoppages }]),
    ...(refused.length === 0
      ? []
      : [{ title: REFUSED, columns: [...columns, 'Reason for the refusal'], rows: refused }]),
  ];
}

const STOPPAGES = 'When no company moved, although nobody had paused the migration';
const REFUSED = 'Refused decisions, which changed nothing';

/** Returns the rows of the applied or of the refused decisions. A refused decision also has the reason. */
function decisionRows(head: ReportHead, areApplied: boolean): readonly (readonly string[])[] {
  const { decisions } = head;
  const { year } = viewOf(head);
  const approvals = withdrawnApprovals(decisions);
  const confirmations = withdrawnConfirmations(decisions);
  const laterText = (index: number): string => {
    const later = decisions[approvals.get(index) ?? confirmations.get(index) ?? -1];
    if (later === undefined) return changedAfter(head, decisions[index]);
    const { decision, outcome } = later;
    const which = confirmations.has(index) ? ' for companies that were waiting to be moved' : '';
    return `; withdrawn${which} by the decision of ${decision.by} (${decision.role}) at ${timeText(outcome.at, year)}`;
  };
  return decisions.flatMap(({ decision, outcome }, index) => {
    if (outcome.applied !== areApplied) return [];
    const what = `${decisionText(decision, (iso) => timeText(iso, year))}${areApplied ? laterText(index) : ''}`;
    const who = `${decision.by} (${decision.role})`;
    return [[timeText(outcome.at, year), who, what, ...(areApplied ? [] : [outcome.text])]];
  });
}

/** Says which outcomes have changed since a sign-off that still counts; empty if the decision is not one. */
function changedAfter(
  { changedSinceSignOff }: ReportHead,
  record: ReportHead['decisions'][number] | undefined,
): string {
  if (record?.decision.kind !== 'step' || record.decision.step !== 'complete-migration') return '';
  const { decision, outcome } = record;
  const change = changedSinceSignOff.find(({ role, at }) => role === decision.role && at === outcome.at);
  return change === undefined ? '' : `; before these outcomes: ${changedText(change)}`;
}

function stoppageRows(head: ReportHead): readonly (readonly string[])[] {
  const { year } = viewOf(head);
  return head.stoppages.map((each) => [
    timeText(each.beganAt, year),
    each.endedAt === null ? 'not over yet' : timeText(each.endedAt, year),
    whyText(each, platformOf(head)),
  ]);
}

function whyText({ kind, source, stop, beganAt, endedAt }: Stoppage, platform: string): string {
  if (kind === 'pause')
    return `The migration paused automatically${stop === null ? '' : `: ${stopText(stop, platform, NO_COUNTS)}`}`;
  // The duration is rough. The recorded beginning is when the work on the first deferred company began or, if later,
  // when a company last got through. The outage can have begun some seconds before or after that.
  const waited =
    endedAt === null ? 'Moves wait' : `Moves waited ${roughDuration(Date.parse(endedAt) - Date.parse(beganAt))}`;
  return `${waited}, because no call got through to ${source === 'platform' ? platform : 'the Company Data Service'}`;
}
