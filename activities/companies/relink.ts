/** Companies whose end customers were asked to connect again: whether they have. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { giveUpRelinking, readRelinking, recordRelinked } from '../../store';
import { isGone } from './service-refs';
import type { ActivityDeps } from '../deps';

export interface RelinkReport {
  /** Connected again, and syncing now. */
  readonly relinked: number;
  /** Not yet. */
  readonly waiting: number;
}

export function relinkActivities({ db, service }: ActivityDeps) {
  return {
    /**
     * Looks at every company that waits for its end customer; one that is linked again syncs and is verified. One that
     * somebody has deleted at the service is waited for no longer, and keeps nobody else.
     */
    async lookForRelinked({ migrationId }: { readonly migrationId: string }): Promise<RelinkReport> {
      const signal = cancellationSignal();
      let relinked = 0;
      let waiting = 0;
      for (const { row, companyId, connectionId } of await readRelinking(db, migrationId)) {
        heartbeat({ relinked, waiting });
        try {
          const { value: connection } = await service.getConnection(companyId, connectionId, { signal });
          if (connection.status !== 'Linked') {
            waiting += 1;
            continue;
          }
          await service.startSync(companyId, { signal });
        } catch (error) {
          if (!isGone(error)) throw error;
          await giveUpRelinking(db, migrationId, row, `its link no longer works: ${error.message}`);
          continue;
        }
        await recordRelinked(db, migrationId, row);
        relinked += 1;
      }
      return { relinked, waiting };
    },
  };
}
