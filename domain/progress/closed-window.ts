/** The moves that continue after their window has closed. */
import type { Window } from '../planning/windows';
import { nextMove } from '../planning/windows';
import { momentText } from '../text/sentences';

const BEING_MOVED = 'the remaining companies are being moved';

/**
 * Replaces the window in the text about the move of the remaining companies if no window is open. The migration then
 * only finishes the companies whose move has begun, and the window in the text has closed or has not opened yet.
 * Returns every other text as it is.
 *
 * @param now ISO 8601, UTC
 */
export function withoutClosedWindow(text: string, windows: readonly Window[], now: string): string {
  const opensAt = nextMove(windows, now);
  if (!text.startsWith(`${BEING_MOVED}, in the window from `) || opensAt === null || opensAt <= now) return text;
  return `${BEING_MOVED}; no window is open until ${momentText(opensAt)}, so only moves that have begun continue`;
}
