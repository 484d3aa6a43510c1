/** The window in which moves continue although the Schedule, which opens the windows, is paused. */
import { waitsForDeferred } from '../companies/counts';
import { isAlwaysOpen, windowOccurrences, type Window, type WindowOccurrence } from '../planning/windows';
import type { Progress } from './progress';
import { countUndecided } from './undecided';
import { isForPausedWindows, waitingForMoves } from './waiting-for';

type MovesInWindow = Pick<Progress, 'state' | 'step' | 'counts' | 'waitingFor' | 'window' | 'openedWindow'>;

/**
 * Returns the current window if it has been opened, if companies are moving, or if a batch run is in progress: the run
 * continues until the window closes. Null between two windows, if the Schedule was paused before it could open the
 * current window, if moves can begin at any time, and before step 6. Also null if no move may begin.
 *
 * A run that outlasts its window claims no company in the next window, because claims use the stored window
 * (`progress.window`) until another window is opened. So a run or a moving company does not count if the stored window
 * closed before the current window opened.
 *
 * @param windows the current windows of the migration
 * @param isBatchRunning whether a batch run is in progress. Between two companies, the counts do not show a run
 * @param now ISO 8601, UTC
 */
export function openWindowOf(
  { state, step, counts, waitingFor, window: stored, openedWindow }: MovesInWindow,
  windows: readonly Window[],
  isBatchRunning: boolean,
  now: string,
): WindowOccurrence | null {
  if (!canBeginMoves({ state, step, counts, waitingFor }) || isAlwaysOpen(windows)) return null;
  const [window] = windowOccurrences(windows, now);
  if (window === undefined || window.opensAt > now) return null;
  if (openedWindow?.opensAt === window.opensAt) return window;
  // Changed windows apply at once, so the stored window can differ from the current one and overlap it.
  if (stored !== null && stored.closesAt <= window.opensAt) return null;
  return isBatchRunning || counts.importing + counts.syncing > 0 ? window : null;
}

/**
 * Returns whether moves continue although the Schedule is paused: the windows cover the whole week, so they never
 * close, and a window was opened, companies are moving, or a batch run is in progress. False if no move may begin, or
 * before step 6.
 */
export function isOpenWithoutEnd(
  { state, step, counts, waitingFor, openedWindow }: Omit<MovesInWindow, 'window'>,
  windows: readonly Window[],
  isBatchRunning: boolean,
): boolean {
  if (!canBeginMoves({ state, step, counts, waitingFor }) || !isAlwaysOpen(windows)) return false;
  return (openedWindow ?? null) !== null || isBatchRunning || counts.importing + counts.syncing > 0;
}

/** Returns whether moves go on in an open window although the Schedule is paused, as soon as no pause stops them. */
export function hasOpenWindow(
  progress: MovesInWindow,
  windows: readonly Window[],
  isBatchRunning: boolean,
  now: string,
): boolean {
  const running = { ...progress, state: 'running' } as const;
  return (
    isOpenWithoutEnd(running, windows, isBatchRunning) || openWindowOf(running, windows, isBatchRunning, now) !== null
  );
}

/**
 * Returns the progress of a migration whose Schedule is known to be running. A migration that waits for paused windows
 * reads its Schedule again at the latest a few minutes after the next window should have opened. Until then, its own
 * progress asks for windows that a person has already resumed with Temporal's tools.
 */
export function withWindowsResumed(progress: Progress): Progress {
  const { state, route, step, counts, reconnections, window, windows, outage, waitingFor } = progress;
  const resumed = { ...progress, areWindowsPaused: false, noFurtherWindow: false };
  if (state !== 'waiting' || !isForPausedWindows(waitingFor)) return resumed;
  const undecided = countUndecided({ step, counts, relinking: reconnections?.waiting ?? 0, countsRelinked: true });
  const { roles, what } = waitingForMoves(outage, undecided, { counts, window, windows });
  if (roles.length === 0) return { ...resumed, state: 'running', waitingFor: { roles, what }, waitingSince: null };
  return { ...resumed, waitingFor: { roles: route === 'self-service' ? ['client'] : roles, what } };
}

/** Returns whether the moves of step 6 can begin. While a person has to act, deferred companies are still tried. */
export function canBeginMoves({
  state,
  step,
  counts,
  waitingFor,
}: Pick<Progress, 'state' | 'step' | 'counts' | 'waitingFor'>): boolean {
  if (step !== 'complete-migration') return false;
  return state === 'running' || (state === 'waiting' && waitsForDeferred(counts) && !isForPausedWindows(waitingFor));
}
