/**
 * The activity of the sweep. It finds migrations that were terminated or timed out in Temporal, which the `sweep`
 * workflow then closes.
 */
import { activityInfo, heartbeat } from '@temporalio/activity';
import { listUnfinishedMigrations } from '../../store';
import type { ActivityDeps } from '../deps';

export interface TerminatedMigrations {
  /** Migrations that are no longer running, and whose Schedule the activity has deleted. */
  readonly schedulesDeleted: readonly string[];
  /**
   * Terminated or timed out in Temporal, but not fully closed in the ledger: credentials are not destroyed yet, and
   * organizations might still be reserved.
   */
  readonly terminated: readonly string[];
  /** Not fully closed in the ledger, and unknown to Temporal or ended in another way. */
  readonly unknown: readonly string[];
}

export function sweepActivities({ db, schedules, workflowStatus }: ActivityDeps) {
  return {
    /**
     * Deletes the Schedules of migrations that are no longer running. Finds migrations that are neither running nor
     * fully closed in the ledger.
     */
    async findTerminated(): Promise<TerminatedMigrations> {
      const schedulesDeleted: string[] = [];
      for (const migrationId of await workflowStatus.scheduled()) {
        heartbeat();
        if ((await workflowStatus.statusOf(migrationId)) === 'running') continue;
        await schedules.update(migrationId, []);
        schedulesDeleted.push(migrationId);
      }
      const terminated: string[] = [];
      const unknown: string[] = [];
      for (const migrationId of await listUnfinishedMigrations(db, activityInfo().namespace)) {
        heartbeat();
        const status = await workflowStatus.statusOf(migrationId);
        if (status !== 'running') (status === 'terminated' ? terminated : unknown).push(migrationId);
      }
      return { schedulesDeleted, terminated, unknown };
    },
  };
}
