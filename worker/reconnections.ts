/**
 * Asks the service whether end customers have reconnected the companies that depend on a replaced application. Once a
 * company has been reconnected, the ledger counts it under the registered application. Not part of a workflow, because
 * the end customer can reconnect weeks after the migration has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { authorizedAtOf, isGone } from '../activities/companies/service-refs';
import {
  BadRequest,
  NotFound,
  NotReady,
  ServiceFailing,
  UnreadableResponse,
  type CompanyDataClient,
  type CompanyDataError,
} from '../company-data-client';
import {
  recordAuthorization,
  releaseReconnectionsLock,
  returnDependentConnections,
  takeDependentConnections,
  takeReconnectionsLock,
  type Database,
} from '../store';
import { nameOf } from './portal/context';

export interface ReconnectionContext {
  readonly db: Database;
  readonly service: CompanyDataClient;
  readonly namespace: string;
  readonly log: Logger;
}

/** Limits the calls to the service, because moves count towards the same rate limit. */
const CONNECTIONS_PER_CHECK = 20;
const CHECK_EVERY_MS = 10_000;

/**
 * Checks the connections that are due, at most 20. If the service cannot report on one connection, continues with the
 * others, and checks that connection again later.
 *
 * @returns the number of companies that have been reconnected
 * @throws {CompanyDataError} if a call fails for a reason that concerns every connection, for example an outage, the
 * rate limit or a refused API key. The connections that were not checked for this reason stay due
 */
export async function checkReconnections(
  { db, service, namespace, log }: Omit<ReconnectionContext, 'log'> & Partial<Pick<ReconnectionContext, 'log'>>,
  signal?: AbortSignal,
): Promise<number> {
  let reconnected = 0;
  const taken = await takeDependentConnections(db, { namespace, limit: CONNECTIONS_PER_CHECK });
  for (const [index, each] of taken.entries()) {
    try {
      const { value } = await service.getConnection(each.companyId, each.connectionId, signal ? { signal } : {});
      const isLinked = value.status === 'Linked';
      if (!(await recordAuthorization(db, each, { isLinked, authorizedAt: authorizedAtOf(value) }))) continue;
      reconnected += 1;
      log?.info({ migration: each.migrationId, row: each.row }, 'an end customer has reconnected a company');
    } catch (error) {
      if (isGone(error)) continue;
      if (isAboutOneConnection(error)) {
        log?.warn(
          { migration: each.migrationId, row: each.row, reason: error.name },
          'a connection cannot be checked now; it will be checked again',
        );
        continue;
      }
      await returnDependentConnections(db, taken.slice(index));
      throw error;
    }
  }
  return reconnected;
}

/**
 * Returns whether a failed call concerns only its own connection. After any other failure, for example if the service
 * cannot be reached, throttles calls or refuses the API key, the next calls would fail too.
 */
function isAboutOneConnection(error: unknown): error is CompanyDataError {
  return (
    error instanceof BadRequest ||
    error instanceof NotFound ||
    error instanceof NotReady ||
    error instanceof UnreadableResponse ||
    // The service answers 500 if it cannot read the data of a connection. If the service is down, a proxy answers.
    (error instanceof ServiceFailing && error.status === 500 && error.answer.isFromService)
  );
}

/**
 * Starts to check connections, every 10 seconds, until `stop` is called. Only one worker of a namespace checks them; if
 * that worker stops, another worker continues.
 */
export function startReconnectionChecks(context: ReconnectionContext): { stop(): Promise<void> } {
  const { db, namespace, log } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  let isFailing = false;
  const pause = () => delay(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  const checkWhileHoldingLock = (connection: Database): Promise<void> =>
    takeReconnectionsLock(connection, namespace).then(async (isHolder) => {
      if (!isHolder) return;
      try {
        while (!signal.aborted) {
          // Uses the connection that holds the lock, because the lock ends with the connection.
          await checkReconnections({ ...context, db: connection }, signal);
          isFailing = false;
          await pause();
        }
      } finally {
        await releaseReconnectionsLock(connection, namespace);
      }
    });
  const running = (async () => {
    while (!signal.aborted) {
      try {
        await db.connection().execute(checkWhileHoldingLock);
      } catch (error) {
        if (!isFailing && !signal.aborted)
          log.warn({ reason: nameOf(error) }, 'cannot check whether end customers have reconnected; trying again');
        isFailing = true;
      }
      await pause();
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
