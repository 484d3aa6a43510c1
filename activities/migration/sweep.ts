/** What migrations leave behind that were ended in Temporal: found without anybody asking, so with more care than by command. */
import { activityInfo, heartbeat } from '@temporalio/activity';
import { listOpenMigrations } from '../../store';
import type { ActivityDeps } from '../deps';

export interface TerminatedMigrations {
  /** Whose Schedules were deleted. */
  readonly schedulesDeleted: readonly string[];
  /** Terminated, and open in the ledger: their organizations are taken, and their credentials not destroyed. */
  readonly terminated: readonly string[];
  /** Open in the ledger, and unknown to Temporal or ended in another way. */
  readonly unclear: readonly string[];
}

export function sweepActivities({ db, schedules, workflowStatus: whereabouts }: ActivityDeps) {
  return {
    /** Deletes the Schedules of migrations that run no more, and finds those that are still open in the ledger. */
    async lookForLeftBehind(): Promise<TerminatedMigrations> {
      const schedulesDeleted: string[] = [];
      for (const migrationId of await whereabouts.scheduled()) {
        heartbeat();
        if ((await whereabouts.of(migrationId)) === 'running') continue;
        await schedules.keep(migrationId, []);
        schedulesDeleted.push(migrationId);
      }
      const terminated: string[] = [];
      const unclear: string[] = [];
      for (const migrationId of await listOpenMigrations(db, activityInfo().namespace)) {
        heartbeat();
        const found = await whereabouts.of(migrationId);
        if (found !== 'running') (found === 'terminated' ? terminated : unclear).push(migrationId);
      }
      return { schedulesDeleted, terminated, unclear };
    },
  };
}
