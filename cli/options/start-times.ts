/** Shows whether the start of a migration is in one of its windows. */
import { isOver } from '../../domain/migration/terminated';
import { earliestMove, farStartText, firstOpening, openingAfterStart } from '../../domain/progress/first-opening';
import { forecastOf, staleSince } from '../../domain/progress/forecast';
import type { Progress } from '../../domain/progress/progress';
import { duration, hoursText } from '../../domain/text/sentences';
import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';

/**
 * Prints a warning about a start that is far away, the window of the start, and how long data is out of date if the
 * start is outside the windows.
 */
export function printFirstOpening(output: Output, progress: Progress, now: string): void {
  const opening = firstOpening(progress, now);
  const { proposal, throughput, state } = progress;
  const farAway = isOver(state) ? null : farStartText(progress, now);
  if (farAway !== null) output.line(`  ${output.styled('yellow', '!')} ${farAway}`);
  if (opening === null || proposal === null || state === 'cancelled') return;
  if (openingAfterStart(progress, now) === null) {
    return output.line(`  moves can begin until ${localTime(opening.closesAt)}, when the window closes`);
  }
  const from = earliestMove(proposal.startAt, now);
  const isLate = from === now;
  const what = isLate ? 'the start has passed, and no window is open' : 'the start is outside the windows';
  output.line(`  ${output.styled('yellow', '!')} ${what}; the next window opens ${localTime(opening.opensAt)}`);
  const staleMs = forecastOf(progress, throughput, now)?.staleMs ?? null;
  const howLong =
    staleMs === null
      ? `for at least ${duration(Date.parse(opening.opensAt) - Date.parse(from))}`
      : `for up to ${hoursText(staleMs / HOUR_MS)}`;
  const { waiting, unconfirmed, heldBack } = progress.counts;
  const isConfirmed = waiting - unconfirmed - heldBack > 0;
  const confirmed = !isLate
    ? 'the client confirms before the start that syncing is off'
    : isConfirmed
      ? 'the client has already confirmed that syncing is off'
      : 'the client confirms now that syncing is off';
  // `isConfirmed` ignores held-back companies. If one of these is confirmed, `staleMs` counts from `staleSince`.
  const isFromStart = !isLate && !isConfirmed && staleMs !== null && staleSince(progress) === null;
  output.line(
    isFromStart
      ? `    data is out of date ${howLong} after the start; for longer if the client confirms earlier that syncing is off`
      : `    data ${isLate && isConfirmed ? 'is' : 'will be'} out of date ${howLong} for each company for which ${confirmed}`,
  );
}

const HOUR_MS = 3_600_000;
