/** Reads, pauses, resumes and triggers the Temporal Schedules that open the windows of migrations. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  ScheduleNotFoundError,
  WorkflowNotFoundError,
  type ScheduleDescription,
  type ScheduleHandle,
} from '@temporalio/client';
import { migrationOfSchedule, scheduleIdOf } from '../domain/migration/temporal-names';
import {
  NO_WINDOWS,
  windowOccurrences,
  type WindowOpening,
  type WindowOccurrence,
  type Window,
} from '../domain/planning/windows';
import { readLimits, readMigration, readProposedStart } from '../store';
import { wakeSignal } from '../workflows/messages';
import { NoSuchMigration } from './errors';
import type { LedgerClient } from './connect';

/** The windows of a migration and the state of the Schedule that opens them. */
export interface WindowSchedule {
  readonly migrationId: string;
  readonly windows: readonly Window[];
  /** The current window, if one is open, and the next ones; empty if the migration has no windows or has ended. */
  readonly occurrences: readonly WindowOccurrence[];
  /**
   * `not-yet`: the Schedule does not exist yet; see `allReleased`. `none`: the migration has no windows or has ended.
   */
  readonly state: 'running' | 'paused' | 'not-yet' | 'none';
  /** Who paused or resumed the Schedule last, and why; null if it was never paused or resumed. */
  readonly note: string | null;
  /**
   * The proposed or agreed start, while it is still to come. Occurrences are then counted from it. ISO 8601, UTC; null
   * if there is none, the migration has no windows or has ended, or the Schedule already exists.
   */
  readonly startAt: string | null;
  /**
   * True in step 6, and always in the self-service route: the Schedule is then created before the next batch run.
   * False: the Schedule is created in step 6.
   */
  readonly allReleased: boolean;
}

/**
 * Reads the windows of a migration and the state of its Schedule.
 *
 * @throws NoSuchMigration
 */
export async function readWindowSchedule(ferry: LedgerClient, migrationId: string): Promise<WindowSchedule> {
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const { limits, now } = await readLimits(ferry.db, migrationId);
  const hasWindows = migration.state !== 'closed' && limits.windows.length > 0;
  const description = await undefinedIfMissing(() => scheduleOf(ferry, migrationId).describe());
  const startAt = hasWindows && !description ? await readFutureStart(ferry, migrationId, now) : null;
  return {
    migrationId,
    windows: limits.windows,
    occurrences: hasWindows ? windowOccurrences(limits.windows, startAt ?? now.toISOString()) : [],
    state: description ? stateOf(description) : hasWindows ? 'not-yet' : 'none',
    note: description?.state.note ?? null,
    startAt,
    allReleased: migration.released === 'all',
  };
}

/** Returns who paused the Schedule of a migration, and why; null if it is not paused or does not exist. */
export async function readSchedulePause(ferry: LedgerClient, migrationId: string): Promise<string | null> {
  const description = await undefinedIfMissing(() => scheduleOf(ferry, migrationId).describe());
  return description?.state.paused === true ? (description.state.note ?? 'paused') : null;
}

/** Returns the proposed or agreed start if it is still to come; otherwise null. */
async function readFutureStart({ db }: LedgerClient, migrationId: string, now: Date): Promise<string | null> {
  const startAt = await readProposedStart(db, migrationId);
  return startAt !== null && Date.parse(startAt) > now.getTime() ? new Date(startAt).toISOString() : null;
}

/** Lists the ids of all migrations in the namespace that have a Schedule. */
export async function* scheduledMigrations({ temporalWithoutCodec }: LedgerClient): AsyncGenerator<string> {
  for await (const listed of temporalWithoutCodec.schedule.list()) {
    const migrationId = migrationOfSchedule(listed);
    if (migrationId !== undefined) yield migrationId;
  }
}

/**
 * Pauses or resumes a migration's Schedule. A batch run that is in progress continues.
 *
 * @param note who did it and why; Temporal shows it
 * @returns false if the migration has no Schedule
 */
export async function setSchedulePaused(
  ferry: LedgerClient,
  migrationId: string,
  paused: boolean,
  note: string,
): Promise<boolean> {
  const handle = scheduleOf(ferry, migrationId);
  const done = await undefinedIfMissing(async () => {
    await (paused ? handle.pause(note) : handle.unpause(note));
    // Temporal applies the change a moment later. A migration that was notified earlier would read the old state.
    await waitForDescription(handle, ({ state }) => state.paused === paused, Date.now() + PAUSED_WITHIN_MS);
    return true;
  });
  if (done) await notifyMigration(ferry, migrationId);
  return done ?? false;
}

const PAUSED_WITHIN_MS = 5_000;
const TRIGGERED_WITHIN_MS = 15_000;
const POLL_EVERY_MS = 100;

/** Polls until the description is as expected, and returns it; null if the deadline passes first. */
async function waitForDescription(
  handle: ScheduleHandle,
  isExpected: (description: ScheduleDescription) => boolean,
  deadline: number,
): Promise<ScheduleDescription | null> {
  for (;;) {
    const description = await handle.describe();
    if (isExpected(description)) return description;
    if (Date.now() > deadline) return null;
    await delay(POLL_EVERY_MS);
  }
}

/**
 * Triggers a migration's Schedule, which opens the current window even if the Schedule is paused. Waits up to 15 s.
 *
 * @returns the outcome; null if no worker has answered in time; undefined if the migration has no Schedule
 */
export async function triggerSchedule(
  ferry: LedgerClient,
  migrationId: string,
): Promise<WindowOpening | null | undefined> {
  const handle = scheduleOf(ferry, migrationId);
  const before = await undefinedIfMissing(async () => actionsTaken(await handle.describe()));
  if (before === undefined) return undefined;
  const deadline = Date.now() + TRIGGERED_WITHIN_MS;
  const after = await undefinedIfMissing(async () => {
    await handle.trigger();
    return waitForDescription(handle, (description) => actionsTaken(description) > before, deadline);
  });
  if (after === undefined) return { opened: false, text: NO_WINDOWS };
  const latest = after?.info.recentActions.at(-1);
  return latest ? readWindowStart(ferry, latest.action.workflow.workflowId, deadline) : null;
}

/** Includes skipped actions: if two triggers overlap, Temporal skips the second, and both report the latest action. */
const actionsTaken = ({ info }: ScheduleDescription): number => info.numActionsTaken + info.numActionsSkippedOverlap;

async function readWindowStart(
  { temporal }: LedgerClient,
  workflowId: string,
  deadline: number,
): Promise<WindowOpening | null> {
  try {
    return await temporal.withDeadline(
      deadline,
      () => temporal.workflow.getHandle(workflowId).result() as Promise<WindowOpening>,
    );
  } catch {
    // No worker has answered in time. The window opens as soon as a worker runs.
    return null;
  }
}

/** Deletes a migration's Schedule if it has one. */
export async function deleteSchedule(ferry: LedgerClient, migrationId: string): Promise<void> {
  await undefinedIfMissing(() => scheduleOf(ferry, migrationId).delete());
}

/** Wakes the migration, because otherwise it reads its Schedule only at long intervals. */
export async function notifyMigration({ temporal }: LedgerClient, migrationId: string): Promise<void> {
  try {
    await temporal.workflow.getHandle(migrationId).signal(wakeSignal);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

const scheduleOf = ({ temporalWithoutCodec }: LedgerClient, migrationId: string) =>
  temporalWithoutCodec.schedule.getHandle(scheduleIdOf(migrationId));

const stateOf = ({ state }: ScheduleDescription): 'running' | 'paused' => (state.paused ? 'paused' : 'running');

async function undefinedIfMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}
