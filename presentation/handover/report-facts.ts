/** Facts about the whole migration for the handover report. Not every fact is shown in both formats. */
import { clientStateWords, type MoveStage } from '../../domain/companies/company-state';
import { clientCounts, type Counts } from '../../domain/companies/counts';
import type { ReportFigures } from '../../store';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { replacedStaleText, type ApplicationsOfMoved } from '../../domain/preflight/applications';
import { approvedEnds, type PlannedEstimate } from '../../domain/planning/estimate';
import type { Ending } from '../../domain/migration/migration-state';
import type { ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';
import type { EndedInTemporal } from '../../domain/migration/terminated';
import type { Stoppage } from '../../domain/migration/stoppage';
import { counted, duration, hoursText, momentText, rangeText, timeText } from '../../domain/text/sentences';
import type { Route } from '../../platforms/platforms';
import type { ReportView } from './company-sections';
import { platformOf } from '../wording/client-page';

export interface ReportHead {
  readonly migrationId: string;
  readonly route: Route;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  /** Null if the migration has not ended. A terminated migration is closed as `cancelled` unless decisions ended it. */
  readonly ending: Ending | null;
  /**
   * How and when the workflow ended in Temporal before the migration had ended; null if that did not happen, or
   * once the migration has been closed.
   */
  readonly endedInTemporal: EndedInTemporal | null;
  /** True if the migration has ended, but is not closed yet or still checks companies that were moving. */
  readonly isFinishing: boolean;
  readonly paused: boolean;
  /** True if the ledger was restored to an older state, so that numbers can be wrong. */
  readonly ledgerBehind: boolean;
  readonly suppliedAt: string;
  readonly suppliedBy: string;
  readonly closedAt: string | null;
  readonly vaultDestroyedAt: string | null;
  readonly counts: Counts;
  readonly figures: ReportFigures;
  readonly planned: PlannedEstimate | null;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
  /** The sign-offs that still count, and the companies whose outcome has changed since. */
  readonly changedSinceSignOff: readonly ChangedSinceSignOff[];
  /** The automatic pauses and the outages, oldest first. */
  readonly stoppages: readonly Stoppage[];
  /** The applications with which companies were moved. */
  readonly applications: ApplicationsOfMoved;
  /** How the ledger differs from the signed decisions; null if the migration was started without approvers. */
  readonly unproven: readonly string[] | null;
}

/** Returns the facts that decide how companies are shown. `year` is the year in which the details were supplied. */
export function viewOf(
  head: Pick<ReportHead, 'ending' | 'endedInTemporal' | 'suppliedAt' | 'route'>,
): Omit<ReportView, 'now'> {
  return { stage: reportStage(head), route: head.route, year: head.suppliedAt.slice(0, 4) };
}

/** Returns the stage of the migration, which decides whether companies can still move. */
export function reportStage({ ending, endedInTemporal }: Pick<ReportHead, 'ending' | 'endedInTemporal'>): MoveStage {
  if (ending !== null) return 'ended';
  return endedInTemporal === null ? 'open' : 'terminated';
}

export function stateText(head: ReportHead): string {
  const preliminary = head.isFinishing ? ` (this report is preliminary: ${finishingText(head)})` : '';
  return `${endingText(head)}${preliminary}${head.ledgerBehind ? `. ${LEDGER_BEHIND}` : ''}`;
}

const LEDGER_BEHIND =
  'The numbers in this report can be wrong, because the records of the migration are out of date. Ask support for a new report once it has repaired them';

/** Says what is not finished yet. The ledger is closed some time after the end, even if no company was moving. */
function finishingText({ counts: { importing, syncing } }: ReportHead): string {
  return importing + syncing > 0
    ? 'companies that were being moved are still being checked'
    : 'the migration is still being closed';
}

function endingText({ ending, endedInTemporal, paused, decisions }: ReportHead): string {
  switch (ending) {
    case null:
      if (endedInTemporal !== null) return stoppedText(endedInTemporal);
      return `${paused ? 'paused' : 'in progress'} (this report is preliminary)`;
    case 'completed':
      return 'completed';
    case 'cancelled':
    case 'abandoned': {
      const last = decisions.findLast(({ decision, outcome }) => outcome.applied && ends(decision));
      if (!last) return ending;
      const { by, role, reason } = last.decision;
      return `${ending} by ${by} (${role})${reason === undefined ? '' : `; reason: ${reason}`}`;
    }
  }
}

/** Says to the client that the workflow was terminated, or has ended in another abnormal way. */
function stoppedText({ at }: EndedInTemporal): string {
  return `stopped${at === null ? '' : ` at ${momentText(at)}`}, so no company moves (this report is preliminary)`;
}

function ends(decision: Decision): boolean {
  return decision.kind === 'cancel' || (decision.kind === 'step' && decision.afterwards?.next === 'abandon');
}

/** Returns the facts at the top of the report. */
export function mainFacts(head: ReportHead): readonly (readonly [label: string, value: string])[] {
  return [
    ['Client', head.client],
    ['Platform', platformOf(head)],
    ...(head.route === 'self-service'
      ? [['Route', 'self-service (by supplying a company, the client confirmed that its syncing is off)'] as const]
      : []),
    ['State', stateText(head)],
    ...(head.unproven === null ? [] : [['Signed decisions', proofText(head.unproven)] as const]),
    head.counts.total === 0
      ? ['Manifest', head.ending === null ? 'not supplied yet' : 'not supplied']
      : ['Details supplied', `${timeText(head.suppliedAt)} by ${head.suppliedBy}`],
    ['Times', 'all in UTC'],
    ['Who to call', head.contact],
  ];
}

function proofText(unproven: readonly string[]): string {
  if (unproven.length === 0)
    return 'every confirmation, and every permission to move companies, is backed by a signed decision';
  return `${unproven.join('; ')}. Someone changed the database without a signed decision. Find out who did this before you rely on this report`;
}

export function resultRows({
  counts,
  figures,
  ...head
}: ReportHead): readonly (readonly [what: string, companies: number])[] {
  const stage = reportStage(head);
  const hasEnded = stage !== 'open';
  const byState = clientCounts({ ...counts, mustReconnect: figures.mustReconnect }, hasEnded);
  return [
    ['in the manifest', counts.total],
    ['moved', counts.moved],
    ['must reconnect', figures.mustReconnect],
    ['not moved', byState['not-moved']],
    ['left out', counts.excluded + counts.skipped],
    [hasEnded ? clientStateWords(stage).moving : 'not finished', byState.moving + byState['not-moved-yet']],
  ];
}

/** Returns rows with a label, the planned value and the actual value. */
export function timeRows(head: ReportHead): readonly (readonly [string, string, string])[] {
  const { planned, figures, closedAt } = head;
  const { year } = viewOf(head);
  const { firstStartedAt, lastMovedAt, longestStaleHours, medianStaleHours } = figures;
  const at = (iso: string | null | undefined): string => (iso ? timeText(iso, year) : '');
  const expected = planned?.estimate;
  const ends = planned ? approvedEnds(planned) : null;
  const took =
    firstStartedAt && lastMovedAt
      ? movingText(figures.movingMs, Date.parse(lastMovedAt) - Date.parse(firstStartedAt))
      : '';
  const stale =
    longestStaleHours === null || medianStaleHours === null
      ? ''
      : `at most ${hoursText(longestStaleHours)}, median ${hoursText(medianStaleHours)}`;
  return [
    // If no window is open at the planned start, moves are planned to begin later, when the next window opens.
    ...(planned?.opensAt === undefined ? [] : [['planned start', at(planned.startAt), ''] as const]),
    ['first move began', at(planned?.opensAt ?? planned?.startAt), at(firstStartedAt)],
    ['last company moved', ends ? rangeText(at(ends.earliest), at(ends.latest)) : '', at(lastMovedAt)],
    [
      'duration',
      expected ? `${rangeText(duration(expected.lowMs), duration(expected.highMs))} while companies are moving` : '',
      took,
    ],
    ['data of moved companies out of date', ends ? `up to ${hoursText(ends.staleHours)}` : '', stale],
    ['migration closed', '', at(closedAt)],
  ];
}

/** Returns how long companies were moving, and the time from the first move to the last one if that differs. */
function movingText(movingMs: number, inAllMs: number): string {
  const [moving, inAll] = [duration(movingMs), duration(inAllMs)];
  return moving === inAll ? moving : `${moving} while companies were moving, ${inAll} in all`;
}

/** Returns how long data is out of date, in sentences. */
export function outOfDateText(head: ReportHead): string {
  const { planned, figures } = head;
  const { longestStaleHours: longest, medianStaleHours: median } = figures;
  if (reportStage(head) !== 'open') {
    const moved =
      longest === null || median === null
        ? ''
        : `The data of all moved companies was brought up to date when they moved. Before that, it was out of date for at most ${hoursText(longest)} (median: ${hoursText(median)}).`;
    return (
      [moved, ...replacedTexts(head), ...notMovedTexts(head)].filter(Boolean).join(' ') || 'No data is out of date.'
    );
  }
  const ends = planned ? approvedEnds(planned) : null;
  const expected = ends ? ` Expected: up to ${hoursText(ends.staleHours)}.` : '';
  const measured =
    longest === null || median === null
      ? ''
      : ` For the companies that have moved so far: at most ${hoursText(longest)} (median: ${hoursText(median)}).`;
  const text = `From the moment syncing is disabled for a company until it has been moved.${expected}${measured}`;
  return [text, ...replacedTexts(head)].join(' ');
}

function replacedTexts({ applications: { replaced } }: ReportHead): readonly string[] {
  return replaced.length === 0 ? [] : [replacedStaleText(replaced)];
}

/** Returns how long the data of companies that were not moved stays out of date; empty if all were moved. */
function notMovedTexts({ counts, figures }: ReportHead): readonly string[] {
  const handedOver = Math.max(0, figures.crossed - counts.moved);
  const others = counts.total - counts.moved - handedOver;
  const reconnect = figures.mustReconnect > 0 ? ', or until its end customer reconnects' : '';
  return [
    ...(others > 0
      ? [
          `If syncing is off for a company that was not moved, its data stays out of date until you switch syncing back on in your own application${reconnect}. The tables below say for which companies you may switch syncing back on.`,
        ]
      : []),
    ...(handedOver > 0
      ? [
          `${counted(handedOver, 'company')} ${handedOver === 1 ? 'has' : 'have'} not been moved although access was handed over to us. Never switch ${handedOver === 1 ? 'its' : 'their'} syncing back on; the tables below say what to do.`,
        ]
      : []),
  ];
}
