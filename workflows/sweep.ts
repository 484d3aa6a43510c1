import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { log, ParentClosePolicy, startChild, uuid4 } from '@temporalio/workflow';
import { closeDecision, closeWorkflowIdOf } from '../domain/migration/terminated';
import { longActivities } from './activity-proxies';
import { closeTerminated } from './close-terminated';

/** What a sweep has found and done, by migration. */
export interface Swept {
  readonly schedulesDeleted: readonly string[];
  /** Being closed, each by a workflow of its own. */
  readonly closing: readonly string[];
  /** Open, though they neither run nor were terminated as far as Temporal knows: left to a person. */
  readonly unclear: readonly string[];
}

/** Whose decision it is in the audit trail: nobody was asked. */
const BY = 'Tokenferry';

/** What the worker's Schedule starts: ends in order what was terminated in Temporal, as `ferry sweep --close` does. */
export async function sweep(): Promise<Swept> {
  const { schedulesDeleted, terminated, unclear } = await longActivities.lookForLeftBehind();
  for (const migrationId of schedulesDeleted)
    log.info('the schedule of a migration that runs no more is deleted', { migrationId });
  for (const migrationId of terminated) await close(migrationId);
  for (const migrationId of unclear)
    log.warn('a migration is open, and neither runs nor was terminated: see ferry sweep', { migrationId });
  return { schedulesDeleted, closing: terminated, unclear };
}

/** It may have to wait until nothing of a company is on its way; a sweep does not. */
async function close(migrationId: string): Promise<void> {
  log.warn('a migration was terminated in Temporal, and is closed as if cancelled', { migrationId });
  try {
    await startChild(closeTerminated, {
      workflowId: closeWorkflowIdOf(migrationId),
      args: [{ migrationId, recorded: closeDecision(BY, uuid4(), new Date().toISOString()) }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `What ${migrationId} has left behind`,
    });
  } catch (error) {
    // Somebody closes it already.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
