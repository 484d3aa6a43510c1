import type { Recorded } from '../domain/migration/migration-state';
import { shortActivities } from './activity-proxies';
import type { Handover } from './migration/hand-over';
import { ledgerClosed, unusedRemoved } from './migration/hand-over';

/**
 * Ends in order what was terminated in Temporal's own tools: nothing runs any more that would let go of its organizations
 * and destroy its credentials.
 *
 * @param recorded who decided that, for the audit trail
 */
export async function closeTerminated({
  migrationId,
  recorded,
}: {
  readonly migrationId: string;
  readonly recorded: Recorded;
}): Promise<Handover> {
  await shortActivities.recordDecisions({ migrationId, recorded: [recorded] });
  await shortActivities.deleteSchedule({ migrationId });
  const counts = await ledgerClosed(migrationId, 'cancelled');
  await unusedRemoved(migrationId);
  return { ending: 'cancelled', counts };
}
