import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { log, ParentClosePolicy, startChild, uuid4 } from '@temporalio/workflow';
import { closeDecision } from '../domain/decisions/audit-trail';
import { closeWorkflowIdOf } from '../domain/migration/temporal-names';
import { longActivities } from './activity-proxies';
import { closeTerminated } from './close-terminated';

/** The ids of the migrations that a sweep has found. */
export interface Swept {
  readonly schedulesDeleted: readonly string[];
  /** Terminated: a `closeTerminated` workflow of each is running. */
  readonly closing: readonly string[];
  /** Open in the ledger, but neither running nor terminated in Temporal: a person has to look at them. */
  readonly unclear: readonly string[];
}

/** The audit trail names the product as the one who decided, because no person did. */
const DECIDED_BY = 'Tokenferry';

/**
 * Closes migrations that were terminated in Temporal, and deletes Schedules whose migration no longer runs. The
 * worker's Schedule starts it; `ferry sweep --close` does the same on request.
 */
export async function sweep(): Promise<Swept> {
  const { schedulesDeleted, terminated, unclear } = await longActivities.lookForLeftBehind();
  for (const migrationId of schedulesDeleted)
    log.info('deleted the schedule of a migration that no longer runs', { migrationId });
  for (const migrationId of terminated) await startClosing(migrationId);
  for (const migrationId of unclear)
    log.warn('migration is open but neither runs nor was terminated; see: ferry sweep', { migrationId });
  return { schedulesDeleted, closing: terminated, unclear };
}

/** Starts the closing and does not wait for it, because it waits for the leases of interrupted companies. */
async function startClosing(migrationId: string): Promise<void> {
  log.warn('migration was terminated in Temporal; closing it as cancelled', { migrationId });
  try {
    await startChild(closeTerminated, {
      workflowId: closeWorkflowIdOf(migrationId),
      args: [{ migrationId, recorded: closeDecision(DECIDED_BY, uuid4(), new Date().toISOString()) }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `Close ${migrationId}, which was terminated`,
    });
  } catch (error) {
    // An earlier sweep, or a person with `ferry sweep --close`, has started it already.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
