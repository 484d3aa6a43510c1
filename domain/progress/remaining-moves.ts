/** The work in progress in step 6: what happens to the remaining companies while no person has to act. */
import { countReadyOrMoving, waitsForDeferred } from '../companies/counts';
import type { MigrationState } from '../migration/migration-state';
import { isAlwaysOpen, nextMove, windowOccurrences, type Window, type WindowOccurrence } from '../planning/windows';
import { momentText } from '../text/sentences';

/** The facts on which the remaining moves depend. */
export interface RemainingMoves extends Pick<MigrationState, 'counts' | 'window'> {
  readonly windows: readonly Window[];
  /** True if no window is open, and the Schedule, which opens the windows, is paused. */
  readonly areWindowsPaused?: boolean;
  /** See `Progress.noFurtherWindow`. */
  readonly noFurtherWindow?: boolean;
}

/**
 * Returns what happens to the remaining companies.
 *
 * @param now ISO 8601, UTC; null in the workflow, whose text must be true before the window opens and afterwards
 */
export function remainingText(moves: RemainingMoves, now: string | null): string {
  const { counts } = moves;
  const ready = countReadyOrMoving(counts);
  // The ledger's counts can show that no company is left, because they are newer than the workflow's.
  if (ready === 0) return 'no more companies are moving: the results are being recorded';
  const moving = counts.importing + counts.syncing;
  const arePaused = moves.areWindowsPaused || (now !== null && areClosedUntilResumed(moves, now));
  if (arePaused && moving > 0)
    return ready > moving ? 'moves that have begun continue' : 'the remaining companies are being moved';
  if (waitsForDeferred(counts)) {
    // Names no window, because the next try can be after that window.
    return ready === 1
      ? 'the remaining company is waiting for its next try'
      : 'the remaining companies are waiting for their next try';
  }
  const window = windowAt(moves, now);
  const isAhead = now !== null && window !== null && window.opensAt > now;
  const [opens, closes] = window === null ? ['', ''] : [momentText(window.opensAt), momentText(window.closesAt)];
  if (arePaused) return 'no move begins, because the windows are paused';
  if (window !== null && moving === 0 && (isAhead || now === null))
    return `the remaining companies are moved in the window from ${opens} to ${closes}`;
  if (!isAhead)
    return `the remaining companies are being moved${window === null ? '' : `, in the window from ${opens} to ${closes}`}`;
  // Moves that have begun need no window. Does not say when more moves begin, because `ferry show` prints this text
  // also while a person has paused the windows.
  return ready === moving
    ? 'the remaining companies are being moved'
    : `moves that have begun continue; no more begin before ${opens}`;
}

/**
 * Returns whether the window that was open when the windows were paused has closed.
 *
 * @param now ISO 8601, UTC
 */
export function areClosedUntilResumed(
  { noFurtherWindow = false, window, windows }: Pick<RemainingMoves, 'noFurtherWindow' | 'window' | 'windows'>,
  now: string,
): boolean {
  const opensAt = nextMove(windows, now);
  if (!noFurtherWindow || opensAt === null) return false;
  // A run with long syncs can last into the next window, which nobody has opened.
  return opensAt > now || (window !== null && !isAlwaysOpen(windows) && window.closesAt <= now);
}

/**
 * Returns the current or the next window; null if moves can begin at any time. Calculates it from `windows`, because
 * the stored `window` does not follow a change of the windows during a batch run.
 *
 * @param now ISO 8601, UTC; null for the time at which the stored window opens
 */
export function windowAt(
  { windows, window }: Pick<RemainingMoves, 'windows' | 'window'>,
  now: string | null,
): WindowOccurrence | null {
  if (windows.length === 0 || isAlwaysOpen(windows)) return null;
  const from = now ?? window?.opensAt;
  return (from === undefined ? undefined : windowOccurrences(windows, from)[0]) ?? window;
}
