/** Shows where the start of a migration lies in its windows, before it is approved. */
import type { Progress } from '../../domain/progress/progress';
import { endWithin, windowOccurrences } from '../../domain/planning/windows';
import type { WindowOccurrence } from '../../domain/planning/windows';
import { duration } from '../../domain/text/sentences';
import type { Output } from '../terminal';
import { localTime } from '../terminal/times';

type Planned = Pick<Progress, 'proposal' | 'windows' | 'estimate' | 'firstCompany' | 'state'>;

/**
 * Returns the window that is open at the start, or else the first one after it. If the start has passed, now counts
 * instead. Null if there is no start, if moves can begin at any time, or if the first company has begun to move.
 *
 * @param now ISO 8601, UTC
 */
export function firstOpening({ proposal, windows, firstCompany }: Planned, now: string): WindowOccurrence | null {
  if (proposal === null || firstCompany !== null) return null;
  return windowOccurrences(windows, earliestMove(proposal.startAt, now))[0] ?? null;
}

/** Prints the window of the start, and how long data is out of date if the start is outside the windows. */
export function printFirstOpening(output: Output, progress: Planned, now: string): void {
  const opening = firstOpening(progress, now);
  const { proposal, windows, estimate, state } = progress;
  if (opening === null || proposal === null || state === 'cancelled') return;
  const from = earliestMove(proposal.startAt, now);
  if (opening.opensAt <= from) return output.line(`  in the window that is open until ${localTime(opening.closesAt)}`);
  const what = from === proposal.startAt ? 'outside the windows' : 'the start has passed, and no window is open';
  output.line(`  ${output.styled('yellow', '!')} ${what}: the next one opens ${localTime(opening.opensAt)}`);
  const waits = duration(Date.parse(opening.opensAt) - Date.parse(from));
  const end = estimate && endWithin(windows, from, estimate.highMs);
  const atMost = end ? duration(Date.parse(end) - Date.parse(from)) : null;
  const howLong =
    atMost === null ? `for at least ${waits}` : atMost === waits ? `for ${waits}` : `for ${waits} to ${atMost}`;
  const when = from === proposal.startAt ? 'by the start' : 'by now';
  output.line(`    data of companies confirmed ${when} is out of date ${howLong}`);
}

/** Returns the start, or the current time if the start has passed. Both ISO 8601, UTC. */
function earliestMove(startAt: string, now: string): string {
  const start = new Date(startAt).toISOString();
  return start > now ? start : now;
}
