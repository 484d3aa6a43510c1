/** The activity that checks whether end customers have reconnected their companies. */
import { cancellationSignal, heartbeat, log } from '@temporalio/activity';
import type { CompanyDataError } from '../../company-data-client';
import { giveUpRelinking, readRelinking, recordReconnectionCheck, recordRelinked, recordUnlinked } from '../../store';
import { authorizedAtOf, isGone, refusalStatusOf } from './service-refs';
import type { ActivityDeps, MigrationRef } from '../deps';

export interface RelinkReport {
  /** The number of companies whose end customer has reconnected. They are syncing now. */
  readonly reconnected: number;
  /**
   * The number of companies that are not known to have reconnected, even if nobody has asked their end customers to
   * reconnect. Includes companies for which the service refused a request.
   */
  readonly waiting: number;
  /** When the check ended, ISO 8601, UTC. Absent in results of earlier versions. */
  readonly checkedAt?: string;
}

/**
 * The statuses that concern every company, because of the API key, the account, a rate limit or a time-out; and 404,
 * see {@link isGone}.
 */
const HANDLED_OTHERWISE: readonly number[] = [401, 402, 403, 404, 408, 429];

/** Returns whether the service refused a request because of its company. Requests for others can still succeed. */
function isAboutOneCompany(error: unknown): error is CompanyDataError {
  const status = refusalStatusOf(error);
  return status !== undefined && status >= 400 && status < 500 && !HANDLED_OTHERWISE.includes(status);
}

export function relinkActivities({ db, service }: ActivityDeps) {
  return {
    /**
     * Checks every company that must reconnect or whose end customer was asked to, and starts the syncs of companies
     * that are linked again. If the service has deleted a company or its connection, gives up on that company and
     * continues with the others. If the service refuses a request for a company, that company keeps waiting.
     */
    async checkReconnected({ migrationId }: MigrationRef): Promise<RelinkReport> {
      const signal = cancellationSignal();
      let reconnected = 0;
      let waiting = 0;
      let answered = 0;
      let refused: CompanyDataError | null = null;
      let authorizedAt: Date | null;
      for (const { row, companyId, connectionId, refusedAfter } of await readRelinking(db, migrationId)) {
        heartbeat({ reconnected, waiting });
        try {
          const { value: connection } = await service.getConnection(companyId, connectionId, { signal });
          answered += 1;
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
          if (isAboutOneCompany(error)) {
            // The next check tries this company again. It must not keep the other companies from being checked.
            waiting += 1;
            refused = error;
            log.warn(`the company in row ${row} could not be checked for a reconnection: ${error.message}`, {
              migrationId,
              row,
            });
            continue;
          }
          if (!isGone(error)) throw error;
          await giveUpRelinking(db, migrationId, row, `the link of this company no longer works: ${error.message}`);
          continue;
        }
        await recordRelinked(db, { migrationId, row, authorizedAt });
        reconnected += 1;
      }
      // If no connection could be read, nothing was checked.
      if (refused !== null && answered === 0) throw refused;
      return { reconnected, waiting, checkedAt: await recordReconnectionCheck(db, migrationId) };
    },
  };
}
