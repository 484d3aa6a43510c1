/** The page of a batch run in the Temporal UI: its window, and the number of companies in each state. */
import type { Counts } from '../../domain/companies/counts';
import { outageText, type Outage } from '../../domain/migration/outage';
import { neverCloses, type WindowOccurrence } from '../../domain/planning/windows';
import { momentText, sentence } from '../../domain/text/sentences';
import { movedText } from '../wording/move-status';
import { BOTTOM_PADDING, companyLines } from './page-parts';

export interface BatchFacts {
  readonly migrationId: string;
  readonly runNumber: number;
  /** The window in which moves could begin when the run began; null if they could begin at any time. */
  readonly window: WindowOccurrence | null;
  /** Null if they have not been counted yet. */
  readonly counts: Counts | null;
  /** When the companies were counted. ISO 8601, UTC. */
  readonly at: string;
  /** The outage that the run waits out; null if calls get through. */
  readonly outage: Outage | null;
}

/** Returns the current details of a batch run, as Markdown. */
export function batchDetails({ migrationId, runNumber, window, counts, at, outage }: BatchFacts): string {
  const next = outage ? 'The run is waiting' : 'The run is beginning';
  return [
    `# ${counts ? sentence(movedText(counts)) : next}. Nothing for you to do here.`,
    ...(outage ? [`**On hold:** ${outageText(outage)}. The run continues automatically.`] : []),
    ...(counts
      ? [
          ...companyLines(counts),
          `Counted at ${momentText(at)}. The count is updated within about a minute when a move begins or ends.`,
        ]
      : []),
    `**Window:** ${windowText(window)}`,
    `This is batch run ${runNumber} of ${migrationId}. The page of ${migrationId} shows the present windows, who has to act and what they have to do.`,
    BOTTOM_PADDING,
  ].join('\n\n');
}

/** Returns the window as it was when the run began. The run is not told of later changes, but they apply at once. */
function windowText(window: WindowOccurrence | null): string {
  if (!window || neverCloses(window)) return 'none when this run began: moves could begin at any time';
  return `when this run began, from ${momentText(window.opensAt)} to ${momentText(window.closesAt)}`;
}

/** Temporal's limit for a summary, in bytes. */
const MAX_SUMMARY_BYTES = 200;

/** Returns one line of ASCII for Temporal's lists, without the window if the line would exceed Temporal's limit. */
export function batchSummary({ migrationId, runNumber, window }: Omit<BatchFacts, 'counts' | 'at' | 'outage'>): string {
  const run = `Batch run ${runNumber} of ${migrationId}`;
  const withWindow = window && !neverCloses(window) ? `${run}, until ${momentText(window.closesAt)}` : run;
  return withWindow.length <= MAX_SUMMARY_BYTES ? withWindow : run;
}
