/** Finds out whether a ledger was restored to an older state, and repairs it. */
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import type { ReconciliationResult } from '../domain/migration/reconciliation';
import { reconcileWorkflowIdOf } from '../domain/migration/temporal-names';
import { readLedgerStatus, readMigration } from '../store';
import { ledgerMarkQuery, RECONCILE, TASK_QUEUE } from '../workflows/messages';
import type { LedgerClient } from './connect';
import { NoSuchMigration, NoWorker, PayloadKeyMissing, WorkflowTaskFailing } from './errors';
import { queryMigration } from './query';

/** Deadline of the query for the ledger's mark. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * Returns whether the ledger is known to be older than the migration or the service. Without a worker, only what a
 * worker has noticed before is known.
 *
 * @throws NoSuchMigration
 */
export async function isLedgerBehind(ferry: LedgerClient, migrationId: string): Promise<boolean> {
  // The workflow is queried first. The ledger's mark can only rise meanwhile, so a current ledger never looks behind.
  const known = await knownMark(ferry, migrationId);
  const { mark, behindSince } = await readLedgerStatus(ferry.db, migrationId);
  return behindSince !== null || mark < known;
}

async function knownMark(ferry: LedgerClient, migrationId: string): Promise<number> {
  try {
    return await queryMigration(ferry, migrationId, ledgerMarkQuery, ANSWER_WITHIN_MS);
  } catch (error) {
    // Without an answer, only the flag in the ledger counts. Each claim checks the mark anyway.
    if (error instanceof NoWorker || error instanceof WorkflowTaskFailing || error instanceof PayloadKeyMissing)
      return 0;
    throw error;
  }
}

/** Maximum wait for the result. Each company that must be repaired costs a request. */
const DONE_WITHIN_MS = 30 * 60_000;

/**
 * Repairs the ledger of a migration that was restored to an older state, and then allows claims again. Can be repeated.
 * Waits until a worker has done it, at most 30 minutes.
 *
 * @throws NoSuchMigration if the ledger does not contain the migration
 */
export async function reconcile({ temporal, db }: LedgerClient, migrationId: string): Promise<ReconciliationResult> {
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  const handle = await temporal.workflow.start(RECONCILE, {
    workflowId: reconcileWorkflowIdOf(migrationId),
    taskQueue: TASK_QUEUE,
    args: [{ migrationId }],
    staticSummary: `Repair the ledger of ${migrationId}`,
    // A second call waits for the workflow that the first call started.
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
  return temporal.withDeadline(Date.now() + DONE_WITHIN_MS, () => handle.result() as Promise<ReconciliationResult>);
}
