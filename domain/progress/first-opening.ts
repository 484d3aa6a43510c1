/** The window in which the first moves of a migration can begin. */
import type { FirstCompany, Proposal } from '../migration/migration-state';
import { isAlwaysOpen, nextMove, windowOccurrences, type Window, type WindowOccurrence } from '../planning/windows';
import { momentText, numberText } from '../text/sentences';

/** The facts of a migration's progress on which its first window depends. */
export interface Planned {
  readonly proposal: Proposal | null;
  readonly windows: readonly Window[];
  readonly firstCompany: FirstCompany | null;
}

/**
 * Returns the window that is open at the start, or else the next window. If the start has passed, uses the current time
 * instead. Null if no start is proposed, if moves can begin at any time, or if the first company has begun to move.
 *
 * @param now ISO 8601, UTC
 */
export function firstOpening(progress: Planned, now: string): WindowOccurrence | null {
  return firstOpenings(progress, now)[0] ?? null;
}

/**
 * Returns the window of {@link firstOpening} and the windows after it; empty if there is none.
 *
 * @param now ISO 8601, UTC
 */
export function firstOpenings({ proposal, windows, firstCompany }: Planned, now: string): readonly WindowOccurrence[] {
  if (proposal === null || firstCompany !== null || isAlwaysOpen(windows)) return [];
  return windowOccurrences(windows, earliestMove(proposal.startAt, now));
}

/**
 * Returns the window of {@link firstOpening} if it opens after the start; otherwise null. If the start has passed, uses
 * the current time instead.
 *
 * @param now ISO 8601, UTC
 */
export function openingAfterStart(progress: Planned, now: string): WindowOccurrence | null {
  const opening = firstOpening(progress, now);
  if (opening === null || progress.proposal === null) return null;
  return opening.opensAt > earliestMove(progress.proposal.startAt, now) ? opening : null;
}

/** A start that is more than this number of days away is probably a mistake, for example in the year. */
const MAX_DAYS_AHEAD = 90;

/**
 * Returns a warning if the proposed start is unusually far away; null otherwise, or once the moves have begun.
 *
 * @param now ISO 8601, UTC
 */
export function farStartText({ proposal, firstCompany }: Planned, now: string): string | null {
  if (proposal === null || firstCompany !== null) return null;
  const days = Math.floor((Date.parse(proposal.startAt) - Date.parse(now)) / DAY_MS);
  return days > MAX_DAYS_AHEAD ? `the start is ${numberText(days)} days away: check that the date is right` : null;
}

const DAY_MS = 86_400_000;

const FIRST_MOVE = 'the first company will be moved ';

/**
 * Replaces a time that has passed in a text about the move of the first company: the move begins now or in the next
 * window. Returns every other text as it is.
 *
 * @param now ISO 8601, UTC
 */
export function withoutPastStart(text: string, windows: readonly Window[], now: string): string {
  const opensAt = nextMove(windows, now);
  if (!text.startsWith(`${FIRST_MOVE}at `) || opensAt === null) return text;
  if (text > `${FIRST_MOVE}at ${momentText(now)}`) return text;
  return `${FIRST_MOVE}${opensAt > now ? `at ${momentText(opensAt)}` : 'now'}`;
}

/** Returns the start, or the current time if the start has passed. Both ISO 8601, UTC. */
export function earliestMove(startAt: string, now: string): string {
  const start = new Date(startAt).toISOString();
  return start > now ? start : now;
}
