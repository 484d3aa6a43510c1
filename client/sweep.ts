/**
 * Closes migrations that have not ended in the ledger although their workflows no longer run, for example because they
 * were terminated with Temporal's own tools, and deletes their Schedules.
 */
import { closeWorkflowIdOf } from '../domain/migration/temporal-names';
import { listUnfinishedMigrations, readMigration } from '../store';
import { CLOSE_TERMINATED } from '../workflows/messages';
import type { LedgerClient } from './connect';
import { deleteSchedule, scheduledMigrations } from './schedules';
import { describeIfFound, isInProgress, resultWithin, runUntilEffect, type WorkflowWithFixedId } from './workflow-ids';

/** The result of a sweep. All lists contain migration ids. */
export interface SweepResult {
  /** Migrations whose Schedules were deleted. */
  readonly schedulesDeleted: readonly string[];
  /**
   * Migrations that are still open in the ledger but not running in Temporal: they were terminated, have ended in
   * another way, or are unknown to Temporal. Their organizations cannot be moved in another migration, and their
   * credentials are kept. Includes ended migrations whose closing was interrupted: their organizations might be
   * free already, but their credentials are kept.
   */
  readonly open: readonly string[];
  /** The migrations in `open` that Temporal does not have. If its address is wrong, they can be running elsewhere. */
  readonly unknown: readonly string[];
}

export interface SweepOptions {
  /** The only migration to sweep. Default: all. */
  readonly only?: string | undefined;
  /**
   * Called before anything is deleted, with the open and the unknown migrations, and with the migrations whose
   * Schedules will be deleted. If it throws, nothing is deleted.
   */
  readonly beforeDeleting?: (
    found: Pick<SweepResult, 'open' | 'unknown'>,
    scheduled: readonly string[],
  ) => Promise<void>;
}

/**
 * Finds migrations that are open in the ledger but not running, and deletes the Schedules of migrations that are not
 * running.
 */
export async function sweep(ferry: LedgerClient, { only, beforeDeleting }: SweepOptions = {}): Promise<SweepResult> {
  const isLeftOut = (migrationId: string): boolean => only !== undefined && migrationId !== only;
  const open: string[] = [];
  const unknown: string[] = [];
  for (const migrationId of await listUnfinishedMigrations(ferry.db, ferry.temporal.options.namespace)) {
    if (isLeftOut(migrationId)) continue;
    const isRunningNow = await isRunning(ferry, migrationId);
    if (!isRunningNow) open.push(migrationId);
    if (isRunningNow === null) unknown.push(migrationId);
  }
  const scheduled: string[] = [];
  for await (const migrationId of scheduledMigrations(ferry)) {
    if (!isLeftOut(migrationId) && !(await isRunning(ferry, migrationId))) scheduled.push(migrationId);
  }
  await beforeDeleting?.({ open, unknown }, scheduled);
  const schedulesDeleted: string[] = [];
  for (const migrationId of scheduled) {
    // The migration can have been started during `beforeDeleting`, which can wait for a person's answer.
    if (await isRunning(ferry, migrationId)) continue;
    await deleteSchedule(ferry, migrationId);
    schedulesDeleted.push(migrationId);
  }
  return { schedulesDeleted, open, unknown };
}

const CLOSED_WITHIN_MS = 30_000;

/**
 * Closes a terminated migration in the ledger in the same way as a cancelled migration: its organizations are released
 * and its credentials destroyed. Waits up to 30 s, or up to 60 s if it joins a workflow that has no effect, because
 * it then starts the workflow once more.
 *
 * @param by the person who requests the closing, for the audit trail
 * @returns false if the migration is not closed yet; a worker closes it once no request of the migration can be in
 * flight
 * @throws WorkflowIdOccupied
 * @throws WorkflowHadNoEffect
 */
export async function closeTerminated(ferry: LedgerClient, migrationId: string, by: string): Promise<boolean> {
  const closing: WorkflowWithFixedId = {
    type: CLOSE_TERMINATED,
    workflowId: closeWorkflowIdOf(migrationId),
    args: [{ migrationId, requestedBy: by }],
    staticSummary: `Clean up after ${migrationId}`,
  };
  const { temporal, db } = ferry;
  return runUntilEffect(ferry, closing, async (handle) => {
    const hasEnded = (await resultWithin(CLOSED_WITHIN_MS, temporal, handle)) !== null;
    const isClosed = (await readMigration(db, migrationId))?.vaultDestroyedAt instanceof Date;
    return hasEnded && !isClosed ? null : isClosed;
  });
}

/** Returns whether a migration is running; null if Temporal does not have it. */
async function isRunning({ temporalWithoutCodec }: LedgerClient, migrationId: string): Promise<boolean | null> {
  const found = await describeIfFound(temporalWithoutCodec.workflow, migrationId);
  return found && isInProgress(found);
}
