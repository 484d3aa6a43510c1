import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { log, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { closeWorkflowIdOf } from '../domain/migration/temporal-names';
import { longActivities } from './activity-proxies';
import { closeTerminated } from './close-terminated';

/** The result of a sweep: ids of migrations. */
export interface SweepOutcome {
  readonly schedulesDeleted: readonly string[];
  /** Terminated or timed out in Temporal. A `closeTerminated` workflow has been started for each of them. */
  readonly closing: readonly string[];
  /**
   * Not fully closed in the ledger, but neither running, terminated nor timed out in Temporal. A person has to find out
   * why.
   */
  readonly unknown: readonly string[];
}

/**
 * Closes migrations that were terminated or timed out in Temporal, and deletes Schedules whose migration is no longer
 * running. The Schedule `tokenferry-sweep` starts this workflow every hour. On request, `ferry sweep --close` does the
 * same, and also closes migrations that are open in the ledger but unknown to Temporal, or ended there in another way.
 */
export async function sweep(): Promise<SweepOutcome> {
  const { schedulesDeleted, terminated, unknown } = await longActivities.findTerminated();
  for (const migrationId of schedulesDeleted)
    log.info('deleted the Schedule of a migration that is no longer running', { migrationId });
  for (const migrationId of terminated) await startClosing(migrationId);
  for (const migrationId of unknown)
    log.warn(
      `the migration has failed or ended in Temporal, or Temporal does not know it, but its closing is not complete; to see what to do, run: ferry sweep ${migrationId}`,
      { migrationId },
    );
  return { schedulesDeleted, closing: terminated, unknown };
}

/**
 * Starts closing a migration. Does not wait until it is closed, because interrupted companies can still have leases.
 */
async function startClosing(migrationId: string): Promise<void> {
  log.warn('the migration was terminated or timed out in Temporal; closing it in the ledger', { migrationId });
  try {
    await startChild(closeTerminated, {
      workflowId: closeWorkflowIdOf(migrationId),
      args: [{ migrationId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `Close ${migrationId}, which was terminated or timed out`,
    });
  } catch (error) {
    // An earlier sweep, or a person with `ferry sweep --close`, has already started this workflow.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
