/** Companies whose end customers were asked to connect again: whether they have. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { readRelinking, recordRelinked } from '../store';
import type { ActivityDeps } from './deps';

export interface RelinkReport {
  /** Connected again, and syncing now. */
  readonly relinked: number;
  /** Not yet. */
  readonly waiting: number;
}

export function relinkActivities({ db, service }: ActivityDeps) {
  return {
    /** Looks at every company that waits for its end customer; one that is linked again syncs and is verified. */
    async lookForRelinked({ migrationId }: { readonly migrationId: string }): Promise<RelinkReport> {
      const signal = cancellationSignal();
      let relinked = 0;
      let waiting = 0;
      for (const { row, companyId, connectionId } of await readRelinking(db, migrationId)) {
        heartbeat({ relinked, waiting });
        const { value: connection } = await service.getConnection(companyId, connectionId, { signal });
        if (connection.status !== 'Linked') {
          waiting += 1;
          continue;
        }
        await service.startSync(companyId, { signal });
        await recordRelinked(db, migrationId, row);
        relinked += 1;
      }
      return { relinked, waiting };
    },
  };
}
