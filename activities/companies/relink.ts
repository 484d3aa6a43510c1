/** The activity that checks whether end customers have reconnected their companies. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { giveUpRelinking, readRelinking, recordReconnectionCheck, recordRelinked, recordUnlinked } from '../../store';
import { authorizedAtOf, isGone } from './service-refs';
import type { ActivityDeps } from '../deps';

export interface RelinkReport {
  /** The number of companies whose end customer has reconnected. They are syncing now. */
  readonly reconnected: number;
  /** The number of companies whose end customer has not reconnected yet, asked or not. */
  readonly waiting: number;
  /** When the check ended, ISO 8601, UTC. Absent in results of earlier versions. */
  readonly checkedAt?: string;
}

export function relinkActivities({ db, service }: ActivityDeps) {
  return {
    /**
     * Checks every company that must reconnect or whose end customer was asked to, and starts the syncs of companies
     * that are linked again. If the service has deleted a company or its connection, gives up on that company and
     * continues with the others.
     */
    async checkReconnected({ migrationId }: { readonly migrationId: string }): Promise<RelinkReport> {
      const signal = cancellationSignal();
      let reconnected = 0;
      let waiting = 0;
      let authorizedAt: Date | null;
      for (const { row, companyId, connectionId, refusedAfter } of await readRelinking(db, migrationId)) {
        heartbeat({ reconnected, waiting });
        try {
          const { value: connection } = await service.getConnection(companyId, connectionId, { signal });
          if (connection.status !== 'Linked') {
            waiting += 1;
            await recordUnlinked(db, migrationId, row);
            continue;
          }
          authorizedAt = authorizedAtOf(connection);
          if (refusedAfter !== null && !(authorizedAt !== null && authorizedAt > refusedAfter)) {
            waiting += 1;
            continue;
          }
          await service.startSync(companyId, { signal });
        } catch (error) {
          if (!isGone(error)) throw error;
          await giveUpRelinking(db, migrationId, row, `the link of this company no longer works: ${error.message}`);
          continue;
        }
        await recordRelinked(db, { migrationId, row, authorizedAt });
        reconnected += 1;
      }
      return { reconnected, waiting, checkedAt: await recordReconnectionCheck(db, migrationId) };
    },
  };
}
