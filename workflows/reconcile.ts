import { ActivityFailure, getExternalWorkflowHandle, log } from '@temporalio/workflow';
import type { ReconciliationResult } from '../domain/migration/reconciliation';
import { longActivities } from './activity-proxies';
import { batchProgressSignal } from './messages';
import { closeLedger } from './migration/closing';

/**
 * Repairs a ledger that was restored to an older state: its companies are compared with the service, and the decisions
 * that it has lost are verified, applied and recorded again. No company can be claimed in the meantime.
 *
 * The input contains only the migration's id. The activity reads everything else from Temporal and the service, because
 * anyone with access to Temporal can start a workflow.
 */
export async function reconcileLedger({
  migrationId,
}: {
  readonly migrationId: string;
}): Promise<ReconciliationResult> {
  const result = await longActivities.reconcileLedger({ migrationId });
  if (result.workflow === 'running') {
    // Makes the migration recount its companies, because its counts are from before the restore.
    await getExternalWorkflowHandle(migrationId)
      .signal(batchProgressSignal)
      .catch(() => undefined);
  } else if (result.workflow !== 'gone') await closeAgain(migrationId);
  return result;
}

/** Closes the migration in the restored ledger again, if it is open there although it has ended. */
async function closeAgain(migrationId: string): Promise<void> {
  try {
    await closeLedger(migrationId);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn(
      `the migration has ended in Temporal, but the ledger lacks the decision that ended it, or a company has no final outcome; to close the migration as if it had been cancelled, run: ferry sweep --close ${migrationId}`,
      { migrationId },
    );
  }
}
