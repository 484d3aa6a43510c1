/**
 * Asks the service whether end customers have reconnected the companies that depend on a replaced application. The
 * ledger then counts these companies under the application that is registered. Not part of a workflow, because the end
 * customer can reconnect weeks after the migration has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isGone } from '../activities/companies/service-refs';
import type { CompanyDataClient } from '../company-data-client';
import type { Database } from '../store';
import { recordAuthorization, takeDependentConnections } from '../store';

export interface ReconnectionContext {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly namespace: string;
  readonly log: Logger;
}

/** Limits the calls to the service, because moves share its limit of requests. */
const CONNECTIONS_PER_CHECK = 20;
const CHECK_EVERY_MS = 10_000;

/**
 * Checks the connections that are due, at most 20.
 *
 * @returns the number of companies that have been reconnected
 * @throws {CompanyDataError} if the service does not answer
 */
export async function checkReconnections(
  { db, service, namespace, log }: Omit<ReconnectionContext, 'log'> & Partial<Pick<ReconnectionContext, 'log'>>,
  signal?: AbortSignal,
): Promise<number> {
  let reconnected = 0;
  for (const each of await takeDependentConnections(db, { namespace, limit: CONNECTIONS_PER_CHECK })) {
    const connection = await service
      .getConnection(each.companyId, each.connectionId, signal ? { signal } : {})
      .catch((error: unknown) => {
        if (isGone(error)) return null;
        throw error;
      });
    if (connection === null) continue;
    const { status, connectionInfo } = connection.value;
    const authorizedAt = dateOf(connectionInfo?.['lastAuthorized']);
    if (!(await recordAuthorization(db, each, { isLinked: status === 'Linked', authorizedAt }))) continue;
    reconnected += 1;
    log?.info({ migration: each.migrationId, row: each.row }, 'an end customer has reconnected a company');
  }
  return reconnected;
}

/** Returns the time of a text in ISO 8601; null if there is none, or if it is not a time. */
function dateOf(text: string | undefined): Date | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

/** Starts to check connections, every 10 seconds, until it is stopped. */
export function startReconnectionChecks(context: ReconnectionContext): { stop(): Promise<void> } {
  const { log } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await checkReconnections(context, signal);
        isFailing = false;
      } catch (error) {
        const reason = error instanceof Error ? error.name : typeof error;
        if (!isFailing && !signal.aborted)
          log.warn({ reason }, 'reconnected companies cannot be checked; trying again');
        isFailing = true;
      }
      await delay(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
