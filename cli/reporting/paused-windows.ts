/** Reads the Schedule that opens the windows of one migration, and says that a person has paused it in Temporal. */
import { countOpen } from '../../domain/companies/counts';
import { isOver } from '../../domain/migration/terminated';
import { hasOpenWindow, isOpenWithoutEnd, openWindowOf, withWindowsResumed } from '../../domain/progress/open-window';
import type { Progress } from '../../domain/progress/progress';
import { isMoveOfRemaining } from '../../domain/progress/waiting-for';
import { isBatchRunning as readIsBatchRunning, readSchedulePause, type MigrationClient } from '../../client';
import { localTime } from '../terminal/times';
import type { ForecastFindings } from './migration-end';

/** The state of the Schedule, as far as views need it. */
export type ScheduleFindings = Pick<ForecastFindings, 'windowsPaused' | 'isBatchRunning'>;

/** The findings if the Schedule runs, does not matter yet, or was not read. */
export const NOT_PAUSED: ScheduleFindings = { windowsPaused: null, isBatchRunning: false };

/**
 * Reads the Schedule of a migration, because the workflow can learn only later that a person has paused or resumed it
 * with Temporal's own tools. Does not read it without the ledger, before step 6, after the end, without windows, or if
 * no company is left to move.
 *
 * @returns the progress with whether the windows are paused now, but without the task to resume windows that have been
 *   resumed, and the state of the Schedule
 */
export async function readSchedule(
  { db, ...ferry }: MigrationClient,
  progress: Progress,
): Promise<{ readonly progress: Progress; readonly schedule: ScheduleFindings }> {
  if (!db) return { progress, schedule: NOT_PAUSED };
  const { migrationId, step, windows, counts, state } = progress;
  const matters = step === 'complete-migration' && windows.length > 0 && countOpen(counts) > 0 && !isOver(state);
  const windowsPaused = matters ? await readSchedulePause({ ...ferry, db }, migrationId) : null;
  if (windowsPaused === null) return { progress: withWindowsResumed(progress), schedule: NOT_PAUSED };
  const schedule = { windowsPaused, isBatchRunning: await readIsBatchRunning(ferry, migrationId) };
  return { progress: withPausedWindows(progress, schedule, new Date()), schedule };
}

/** Returns the progress with whether the windows are paused now, so that no window is open. */
export function withPausedWindows(
  progress: Progress,
  { windowsPaused, isBatchRunning }: ScheduleFindings,
  now: Date,
): Progress {
  const isOpen = hasOpenWindow(progress, progress.windows, isBatchRunning, now.toISOString());
  return { ...progress, areWindowsPaused: windowsPaused !== null && !isOpen };
}

/**
 * Returns whether the migration waits only for a window to open. The text of `waitingFor` then says that companies are
 * moved in that window. If a person has paused the Schedule in Temporal, that text is wrong, because the workflow does
 * not know it yet, so callers replace it.
 */
export function isForWindow(progress: Progress, { isBatchRunning }: ScheduleFindings, now: Date): boolean {
  const { windows, counts, waitingFor } = progress;
  if (!isMoveOfRemaining(waitingFor)) return false;
  if (counts.importing + counts.syncing > 0) return false;
  if (isOpenWithoutEnd(progress, windows, isBatchRunning)) return false;
  return openWindowOf(progress, windows, isBatchRunning, now.toISOString()) === null;
}

/**
 * Says that the windows are paused; if a window is open, also how to stop its moves, because they continue. Null if the
 * windows are not paused.
 */
export function windowsPausedText(
  progress: Progress,
  { windowsPaused: why, isBatchRunning }: ScheduleFindings,
  now: Date,
): string | null {
  if (why === null) return null;
  const { migrationId, state, windows } = progress;
  if (isOpenWithoutEnd(progress, windows, isBatchRunning))
    return `No further window opens (${why}), but moves continue, because the open window covers the whole week. To stop moves now: ferry pause ${migrationId}`;
  const at = now.toISOString();
  const open = openWindowOf(progress, windows, isBatchRunning, at);
  // Moves can begin in an open window while the migration waits for a person, but not while it is paused.
  const canMove = state !== 'paused' && openWindowOf({ ...progress, state: 'running' }, windows, isBatchRunning, at);
  const stop = canMove ? `. To stop moves in the open window: ferry pause ${migrationId}` : '';
  const until = open && `Moves can begin until the open window closes at ${localTime(open.closesAt)}. After that, no`;
  const none = canMove ? 'No further window opens' : 'No window opens now';
  return `${until === null ? none : `${until} window opens`} (${why}). To open windows again: ferry schedule resume ${migrationId}${stop}`;
}
