/** Batch runs in the ledger: only the current run can claim companies. */
import type { MigrationLimits } from '../../domain/planning/limits';
import {
  beginRun,
  hasRamp,
  isRampInProgress,
  NotReleased,
  readLimits,
  type Database,
  type LeaseOwner,
} from '../../store';

/**
 * Makes this run the current run. Begins the ramp if no run has chosen one yet. Continues a ramp that an earlier run
 * did not finish, because the other companies wait until the ramp has ended.
 *
 * @returns the limits of the migration
 * @throws {NotReleased} if no recorded decision has released all companies
 */
export async function startRun(db: Database, migrationId: string, run: string): Promise<MigrationLimits> {
  const { limits } = await readLimits(db, migrationId);
  const inRamp = !(await hasRamp(db, migrationId)) || (await isRampInProgress(db, migrationId));
  await beginRun(db, migrationId, run, inRamp ? limits.rampCompanies : 0);
  return limits;
}

/**
 * Begins the run in the ledger again if the ledger was restored to a time before the run began. Without this, the run
 * could claim no company, and would never end.
 */
export async function beginAgainIfLost(
  db: Database,
  { migrationId, run }: LeaseOwner,
  currentRun: string | null,
): Promise<void> {
  if (!isLaterRun(run, currentRun)) return;
  try {
    await startRun(db, migrationId, run);
  } catch (error) {
    // The ledger has also lost the decision that released the companies. A reconciliation restores it.
    if (!(error instanceof NotReleased)) throw error;
  }
}

/** Returns whether a batch run began after another run. */
function isLaterRun(run: string, other: string | null): boolean {
  const number = batchNumber(run);
  return number !== null && number > (batchNumber(other ?? '') ?? 0);
}

/** Returns the number of a batch run (`batch-3`); null for the move of the first company. */
function batchNumber(run: string): number | null {
  const [, number] = /^batch-(\d+)$/.exec(run) ?? [];
  return number === undefined ? null : Number(number);
}
