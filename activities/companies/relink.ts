/** Checks whether end customers who were asked to reconnect have done so. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { giveUpRelinking, readRelinking, recordRelinked } from '../../store';
import { isGone } from './service-refs';
import type { ActivityDeps } from '../deps';

export interface RelinkReport {
  /** Companies whose end customer has reconnected; they are syncing now. */
  readonly relinked: number;
  /** Companies whose end customer has not reconnected yet. */
  readonly waiting: number;
}

export function relinkActivities({ db, service }: ActivityDeps) {
  return {
    /**
     * Checks every company that waits for its end customer, and starts the syncs of those that are linked again. If the
     * service has deleted a connection, it stops waiting for that company and goes on with the others.
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
