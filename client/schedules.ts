/** The Schedules that open migrations' windows, as people handle them. */
import type { ScheduleDescription, ScheduleHandle } from '@temporalio/client';
import { ScheduleNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { migrationOfSchedule, scheduleIdOf } from '../domain/migration/temporal-names';
import type { WindowStart, WindowOccurrence, Window } from '../domain/planning/windows';
import { windowOccurrences } from '../domain/planning/windows';
import { readLimits, readMigration } from '../store';
import { wakeSignal } from '../workflows/messages';
import { NoSuchMigration } from './no-such-migration';
import type { LedgerClient } from './open';

/** When a migration's companies may be started, and whether anybody opens these windows. */
export interface WindowSchedule {
  readonly migrationId: string;
  readonly windows: readonly Window[];
  /** The present one, if there is one, and those that follow. */
  readonly openings: readonly WindowOccurrence[];
  /** `not-yet`: before step 6; `none`: it has no windows, or has ended. */
  readonly state: 'running' | 'paused' | 'not-yet' | 'none';
  /** Who paused or resumed it, and why. */
  readonly note: string | null;
}

/** @throws NoSuchMigration */
export async function readWindowSchedule(ferry: LedgerClient, migrationId: string): Promise<WindowSchedule> {
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const { limits, now } = await readLimits(ferry.db, migrationId);
  const isOpen = migration.state !== 'closed' && limits.windows.length > 0;
  const described = await ifThere(() => scheduleOf(ferry, migrationId).describe());
  return {
    migrationId,
    windows: limits.windows,
    openings: isOpen ? windowOccurrences(limits.windows, now.toISOString()) : [],
    state: described ? stateOf(described) : isOpen ? 'not-yet' : 'none',
    note: described?.state.note ?? null,
  };
}

/** The migrations whose windows are scheduled. */
export async function* scheduledMigrations({ closed }: LedgerClient): AsyncGenerator<string> {
  for await (const listed of closed.schedule.list()) {
    const migrationId = migrationOfSchedule(listed);
    if (migrationId !== undefined) yield migrationId;
  }
}

/**
 * Pauses the openings, or lets them come again; what is under way goes on.
 *
 * @returns false: the migration's windows are not scheduled
 */
export async function setSchedulePaused(
  ferry: LedgerClient,
  migrationId: string,
  paused: boolean,
  note: string,
): Promise<boolean> {
  const handle = scheduleOf(ferry, migrationId);
  const done = await ifThere(async () => {
    await (paused ? handle.pause(note) : handle.unpause(note));
    // Temporal does it a moment later; the migration must not see the Schedule as it was before.
    await onceDescribed(handle, ({ state }) => state.paused === paused, Date.now() + PAUSED_WITHIN_MS);
    return true;
  });
  if (done) await tell(ferry, migrationId);
  return done ?? false;
}

const PAUSED_WITHIN_MS = 5_000;
const TRIGGERED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** The Schedule once it is as expected; null: not in time. */
async function onceDescribed(
  handle: ScheduleHandle,
  expected: (description: ScheduleDescription) => boolean,
  until: number,
): Promise<ScheduleDescription | null> {
  for (;;) {
    const description = await handle.describe();
    if (expected(description)) return description;
    if (Date.now() > until) return null;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/**
 * Opens the window that is now, as the Schedule would.
 *
 * @returns what came of it; null: no worker has done it yet; undefined: the migration's windows are not scheduled
 */
export async function triggerSchedule(
  ferry: LedgerClient,
  migrationId: string,
): Promise<WindowStart | null | undefined> {
  const handle = scheduleOf(ferry, migrationId);
  const before = await ifThere(async () => answered(await handle.describe()));
  if (before === undefined) return undefined;
  const until = Date.now() + TRIGGERED_WITHIN_MS;
  const after = await ifThere(async () => {
    await handle.trigger();
    return onceDescribed(handle, (description) => answered(description) > before, until);
  });
  if (after === undefined)
    return { opened: false, text: 'the migration has ended: nothing opens its windows any more' };
  const latest = after?.info.recentActions.at(-1);
  return latest ? whatCameOf(ferry, latest.action.workflow.workflowId, until) : null;
}

/** Whoever triggers while somebody else's trigger is being answered gets the same answer. */
const answered = ({ info }: ScheduleDescription): number => info.numActionsTaken + info.numActionsSkippedOverlap;

async function whatCameOf({ temporal }: LedgerClient, workflowId: string, until: number): Promise<WindowStart | null> {
  try {
    return await temporal.withDeadline(
      until,
      () => temporal.workflow.getHandle(workflowId).result() as Promise<WindowStart>,
    );
  } catch {
    // It is done as soon as a worker runs.
    return null;
  }
}

/** One that is gone already needs no deleting. */
export async function deleteSchedule(ferry: LedgerClient, migrationId: string): Promise<void> {
  await ifThere(() => scheduleOf(ferry, migrationId).delete());
}

/** The migration looks at its Schedule now and then; it need not wait for that. */
async function tell({ temporal }: LedgerClient, migrationId: string): Promise<void> {
  try {
    await temporal.workflow.getHandle(migrationId).signal(wakeSignal);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

const scheduleOf = ({ closed }: LedgerClient, migrationId: string) =>
  closed.schedule.getHandle(scheduleIdOf(migrationId));

const stateOf = ({ state }: ScheduleDescription): 'running' | 'paused' => (state.paused ? 'paused' : 'running');

async function ifThere<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}
