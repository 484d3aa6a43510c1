/** Finds out whether a ledger was restored to an older state, and repairs it. */
import { isEnding } from '../domain/migration/migration-state';
import type { ReconciliationResult } from '../domain/migration/reconciliation';
import { reconcileWorkflowIdOf } from '../domain/migration/temporal-names';
import type { Progress } from '../domain/progress/progress';
import { readLedgerStatus, readMigration } from '../store';
import { ledgerMarkQuery, RECONCILE } from '../workflows/messages';
import type { LedgerClient, MigrationClient } from './connect';
import { NoSuchMigration, NoWorker, PayloadKeyMissing, RepairUnfinished, WorkflowTaskFailing } from './errors';
import { queryMigration } from './query';
import { resultWithin, runUntilEffect, type WorkflowWithFixedId } from './workflow-ids';

/** Time-out of the query for the workflow's mark. */
const ANSWER_WITHIN_MS = 10_000;
/** Time-out of the same query before a decision. Short, so that a decision is not held up when no worker is running. */
const ANSWER_BEFORE_DECISION_WITHIN_MS = 2_000;

/**
 * Returns whether the ledger is known to be behind the workflow or the service. If the workflow's mark cannot be
 * queried, for example because no worker is running, only the flag that workers set in the ledger counts.
 *
 * @throws NoSuchMigration
 */
export async function isLedgerBehind(ferry: LedgerClient, migrationId: string): Promise<boolean> {
  // The workflow is queried first. The ledger's mark can only rise in the meantime, so a current ledger is never
  // mistaken for one that is behind.
  const known = await queryLedgerMark(ferry, migrationId, ANSWER_WITHIN_MS);
  const { mark, behindSince } = await readLedgerStatus(ferry.db, migrationId);
  return behindSince !== null || mark < known;
}

/**
 * Returns whether the ledger is known to be behind the given progress. Does not ask the workflow of a migration whose
 * end is in the ledger, because no worker has to be running after the end, nor a workflow that was terminated.
 *
 * @throws NoSuchMigration
 */
export async function isLedgerBehindProgress(
  ferry: LedgerClient,
  { migrationId, state }: Pick<Progress, 'migrationId' | 'state'>,
): Promise<boolean> {
  if (state === 'terminated') return false;
  if (isEnding(state) && (await readMigration(ferry.db, migrationId))?.ending !== null) return false;
  return isLedgerBehind(ferry, migrationId);
}

/**
 * Returns whether the mark or the service has shown that the ledger is behind. Differs from `isLedgerBehind` in three
 * ways: a ledger that is flagged only because it is being reconciled does not count, a migration that Temporal does not
 * know is not an error, and the query for the workflow's mark times out after two seconds.
 */
export async function isLedgerProvenBehind(ferry: LedgerClient, migrationId: string): Promise<boolean> {
  if ((await readLedgerStatus(ferry.db, migrationId)).isProvenBehind) return true;
  const known = await queryLedgerMark(ferry, migrationId, ANSWER_BEFORE_DECISION_WITHIN_MS).catch((error: unknown) => {
    if (error instanceof NoSuchMigration) return 0;
    throw error;
  });
  return (await readLedgerStatus(ferry.db, migrationId)).mark < known;
}

/**
 * Queries the workflow for its mark. Returns 0 if it cannot be queried, for example because no worker is running.
 *
 * @throws NoSuchMigration
 */
export async function queryLedgerMark(ferry: MigrationClient, migrationId: string, withinMs: number): Promise<number> {
  try {
    return await queryMigration(ferry, migrationId, ledgerMarkQuery, withinMs);
  } catch (error) {
    // Without an answer, only the flag in the ledger counts. This is safe, because each claim also compares the marks.
    if (error instanceof NoWorker || error instanceof WorkflowTaskFailing || error instanceof PayloadKeyMissing)
      return 0;
    throw error;
  }
}

/** Maximum wait for the result, as `RepairUnfinished` says. Long, because each repaired company costs a request. */
const DONE_WITHIN_MS = 30 * 60_000;

/**
 * Repairs a migration's ledger that was restored to an older state, and then allows claims again. Can be repeated.
 * Waits at most 30 minutes for the result.
 *
 * @throws NoSuchMigration if the ledger does not contain the migration
 * @throws WorkflowIdOccupied
 * @throws WorkflowHadNoEffect if claims are still refused afterwards
 * @throws RepairUnfinished if the repair takes longer, or no worker is running
 */
export async function reconcile(ferry: LedgerClient, migrationId: string): Promise<ReconciliationResult> {
  const { temporal, db } = ferry;
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  const repair: WorkflowWithFixedId = {
    type: RECONCILE,
    workflowId: reconcileWorkflowIdOf(migrationId),
    args: [{ migrationId }],
    staticSummary: `Repair the ledger of ${migrationId}`,
  };
  return runUntilEffect(ferry, repair, async (handle) => {
    const repaired = await resultWithin(DONE_WITHIN_MS, temporal, handle);
    if (repaired === null) throw new RepairUnfinished(migrationId);
    const { behindSince } = await readLedgerStatus(db, migrationId);
    return behindSince === null ? (repaired.result as ReconciliationResult) : null;
  });
}
