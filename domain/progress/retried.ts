/** The companies that will be tried again automatically, for example after a retry. */
import { isOver } from '../migration/terminated';
import { nextMove } from '../planning/windows';
import { momentText, namedCompanies } from '../text/sentences';
import type { Progress } from './progress';
import { isForPausedWindows } from './waiting-for';

/**
 * Says which companies will be tried again, and when: `1 company (M-047) will be tried again in the window from ...`.
 *
 * @param now ISO 8601, UTC
 * @param timeText formats a time; by default with its time zone
 * @returns null if there are none, or if the migration or its workflow has ended
 */
export function retriedText(
  progress: Pick<Progress, 'state' | 'counts' | 'windows' | 'waitingFor' | 'outage'>,
  now: string,
  timeText: (iso: string) => string = momentText,
): string | null {
  const { retried = 0, firstRetried } = progress.counts;
  if (retried === 0 || isOver(progress.state)) return null;
  return `${namedCompanies(retried, firstRetried ?? [])} will be tried again ${whenText(progress, now, timeText)}`;
}

function whenText(
  { state, windows, waitingFor, outage }: Pick<Progress, 'state' | 'windows' | 'waitingFor' | 'outage'>,
  now: string,
  timeText: (iso: string) => string,
): string {
  if (state === 'paused') return 'once the migration is resumed';
  if (isForPausedWindows(waitingFor)) return 'once the windows are resumed';
  return outage === null ? dueTryText(windows, now, timeText) : 'once the outage is over';
}

/** Returns when a company that is due will be tried: now, or in the next window. */
export function dueTryText(
  windows: Progress['windows'],
  now: string,
  timeText: (iso: string) => string = momentText,
): string {
  const opensAt = nextMove(windows, now);
  if (opensAt === null) return 'in the next window';
  return Date.parse(opensAt) > Date.parse(now) ? `in the window from ${timeText(opensAt)}` : 'now';
}
