/** What people read on the page of a batch run in the Temporal UI: its window, and how far the companies are. */
import { companiesText } from './companies-text';
import type { Counts } from '../../domain/companies/company-state';
import { moment } from '../../domain/text/moments';
import { BOTTOM_PADDING } from './room-below';
import type { WindowOccurrence } from '../../domain/planning/windows';

export interface BatchShown {
  readonly migrationId: string;
  readonly runNumber: number;
  /** The window it may start companies in; null: it may at any time. */
  readonly opening: WindowOccurrence | null;
  /** Null: not known yet. */
  readonly counts: Counts | null;
  /** When they were counted. ISO 8601, UTC. */
  readonly at: string;
}

export function batchDetails({ migrationId, runNumber, opening, counts, at }: BatchShown): string {
  return [
    `# Batch run ${runNumber} of ${migrationId}`,
    `**Window:** ${windowText(opening)}`,
    ...(counts ? [...companiesText(counts), `Counted at ${moment(at)}, once a minute while companies move.`] : []),
    `What is waited for, and from whom, stands on the page of ${migrationId}.`,
    BOTTOM_PADDING,
  ].join('\n\n');
}

function windowText(opening: WindowOccurrence | null): string {
  if (!opening) return 'none, companies may be started at any time';
  return `companies are started from ${moment(opening.opensAt)} to ${moment(opening.closesAt)}`;
}

/** One line for Temporal's lists. ASCII, far below the 200 bytes that Temporal takes. */
export function batchSummary({ migrationId, runNumber, opening }: Omit<BatchShown, 'counts' | 'at'>): string {
  const until = opening ? `, until ${moment(opening.closesAt)}` : '';
  return `Batch run ${runNumber} of ${migrationId}${until}`;
}
