import { shortActivities } from './activity-proxies';
import { closeLedger, deleteUnused, verifySyncing, type MigrationResult } from './migration/closing';

/**
 * Closes a migration that was terminated with Temporal's own tools, as if it had been cancelled. A terminated workflow
 * runs no more code. Without `closeTerminated`, the migration's organizations would stay reserved and its credentials
 * would never be destroyed.
 *
 * Fails if the migration is still running.
 *
 * @param requestedBy the person who requested the closing, not verified; absent if the sweep requested it
 */
export async function closeTerminated({
  migrationId,
  requestedBy,
}: {
  readonly migrationId: string;
  readonly requestedBy?: string;
}): Promise<MigrationResult> {
  await shortActivities.recordTermination({ migrationId, ...(requestedBy === undefined ? {} : { requestedBy }) });
  await shortActivities.deleteSchedule({ migrationId });
  const { ending, counts } = await closeLedger(migrationId);
  await deleteUnused(migrationId);
  return { ending, counts: await verifySyncing(migrationId, counts) };
}
