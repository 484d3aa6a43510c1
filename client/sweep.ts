/** What migrations leave behind that were terminated in Temporal's own tools: nothing of theirs runs that could tidy up. */
import { randomUUID } from 'node:crypto';
import { WorkflowIdConflictPolicy, WorkflowNotFoundError } from '@temporalio/client';
import { closeDecision } from '../domain/decisions/audit-trail';
import { closeWorkflowIdOf } from '../domain/migration/temporal-names';
import { listOpenMigrations } from '../store';
import { CLOSE_TERMINATED, TASK_QUEUE } from '../workflows/messages';
import type { LedgerClient } from './open';
import { deleteSchedule, scheduledMigrations } from './schedules';

export interface Swept {
  /** Whose Schedules were deleted. */
  readonly schedulesDeleted: readonly string[];
  /** Terminated, but open in the ledger: their organizations are taken, and their credentials not destroyed. */
  readonly open: readonly string[];
}

/** Deletes the Schedules of migrations that run no more, and finds those that are still open in the ledger. */
export async function sweep(ferry: LedgerClient): Promise<Swept> {
  const schedulesDeleted: string[] = [];
  for await (const migrationId of scheduledMigrations(ferry)) {
    if (await isRunning(ferry, migrationId)) continue;
    await deleteSchedule(ferry, migrationId);
    schedulesDeleted.push(migrationId);
  }
  const open: string[] = [];
  for (const migrationId of await listOpenMigrations(ferry.db, ferry.temporal.options.namespace)) {
    if (!(await isRunning(ferry, migrationId))) open.push(migrationId);
  }
  return { schedulesDeleted, open };
}

const CLOSED_WITHIN_MS = 30_000;

/**
 * Closes a migration in the ledger that was terminated, as a cancellation would have.
 *
 * @returns false: a worker does it later, when nothing of it can be on its way any more
 */
export async function closeTerminated({ temporal }: LedgerClient, migrationId: string, by: string): Promise<boolean> {
  const handle = await temporal.workflow.start(CLOSE_TERMINATED, {
    workflowId: closeWorkflowIdOf(migrationId),
    taskQueue: TASK_QUEUE,
    args: [{ migrationId, recorded: closeDecision(by, randomUUID(), new Date().toISOString()) }],
    staticSummary: `What ${migrationId} has left behind`,
    // Whoever asks twice waits for the same.
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
  try {
    await temporal.withDeadline(Date.now() + CLOSED_WITHIN_MS, () => handle.result());
    return true;
  } catch (error) {
    if (isDeadline(error)) return false;
    throw error;
  }
}

/** gRPC: not answered in time. */
function isDeadline(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === 4;
}

async function isRunning({ closed }: LedgerClient, migrationId: string): Promise<boolean> {
  try {
    const { status } = await closed.workflow.getHandle(migrationId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
