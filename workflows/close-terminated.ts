import type { DecisionRecord } from '../domain/migration/migration-state';
import { shortActivities } from './activity-proxies';
import type { MigrationResult } from './migration/closing';
import { closeLedger, deleteUnused } from './migration/closing';

/**
 * Closes a migration that was terminated with Temporal's own tools, as if it had been cancelled. A terminated workflow
 * runs no more code. Without `closeTerminated`, the migration's organizations would stay reserved and its credentials
 * would never be destroyed.
 *
 * @param recorded the decision to close the migration, for the audit trail
 */
export async function closeTerminated({
  migrationId,
  recorded,
}: {
  readonly migrationId: string;
  readonly recorded: DecisionRecord;
}): Promise<MigrationResult> {
  await shortActivities.recordDecisions({ migrationId, recorded: [recorded] });
  await shortActivities.deleteSchedule({ migrationId });
  const counts = await closeLedger(migrationId, 'cancelled');
  await deleteUnused(migrationId);
  return { ending: 'cancelled', counts };
}
