/**
 * The activities that end a migration: record its termination, resolve interrupted companies, close it in the ledger,
 * and remove unused companies from the service.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CompanyDataClient } from '../../company-data-client';
import { findPlatform, type Platform } from '../../platforms/platforms';
import {
  clearServiceRefs,
  closeMigration,
  countCompanies,
  destroyVault,
  lockDecisions,
  readCompanyPage,
  readInterrupted,
  readMigration,
  readRecordedDecisions,
  readUnusedCompanies,
  recordDecisions,
  resolveInterrupted,
  stopClaims,
  type Database,
  type InterruptedCompany,
  type StoredMigration,
} from '../../store';
import { countOpen, type Counts } from '../../domain/companies/counts';
import { consequenceOfLinkError, failureText } from '../../domain/companies/failures';
import { terminationRecord } from '../../domain/decisions/audit-trail';
import { endingByDecisions, possibleEnding } from '../../domain/decisions/release';
import type { Ending, ReconnectLink } from '../../domain/migration/migration-state';
import { errorSince, findCompanyByTag, findConnection, isGone, rowTag } from '../companies/service-refs';
import type { ActivityDeps, MigrationRef } from '../deps';

interface ClosedLedger {
  readonly ending: Ending;
  readonly counts: Counts;
  /** The first companies whose end customers must reconnect. Absent in results of earlier versions. */
  readonly reconnect?: readonly ReconnectLink[];
}

export function closingActivities({ db, keys, service, workflowStatus }: ActivityDeps) {
  return {
    /**
     * Records that the migration was terminated, and stops its claims. Records nothing if decisions had already ended
     * the migration, unless it was signed off and still has open companies. Fails without a retry if the migration is
     * still running, because a running migration must not be ended in this way.
     */
    async recordTermination({ migrationId, requestedBy }: MigrationRef & { requestedBy?: string }): Promise<void> {
      if ((await workflowStatus.statusOf(migrationId)) === 'running')
        throw ApplicationFailure.nonRetryable(
          `${migrationId} is still running; to end it, run: ferry cancel ${migrationId} --reason "why"`,
          'StillRunning',
        );
      const name = typeof requestedBy === 'string' ? requestedBy.slice(0, MAX_NAME_LENGTH) : null;
      await db.transaction().execute(async (tx) => {
        await lockDecisions(tx, migrationId);
        const { state, ending, route } = await readMigrationOrRefuse(tx, migrationId);
        if (state === 'supplied')
          refuse(`the ledger shows that ${migrationId} has not started, so it cannot be closed`);
        if (ending !== null) return;
        const ended = endingByDecisions(route, await readRecordedDecisions(tx, migrationId));
        await stopClaims(tx, migrationId);
        // After a restore, companies can be open although both sides have signed off. The termination is then recorded
        // as a cancellation, so that the migration can be closed.
        if (ended !== null && (ended !== 'completed' || countOpen(await countCompanies(tx, migrationId)) === 0)) return;
        const record = terminationRecord(randomUUID(), name, new Date().toISOString());
        await recordDecisions(tx, migrationId, [{ ...record, verified: true }]);
      });
    },

    /**
     * Closes the migration in the ledger and destroys its credentials. Fails without a retry if the recorded decisions
     * or the states of the companies do not allow this. A migration that has already been closed keeps its ending.
     *
     * @returns how the migration ended, according to the recorded decisions; its counts; and the first links for the
     *   client's page
     */
    async closeMigration({ migrationId }: MigrationRef): Promise<ClosedLedger> {
      const ending = await db.transaction().execute((tx) => closeInLedger(tx, migrationId));
      await destroyVault(db, keys, migrationId);
      const reconnect = await reconnectLinks(db, migrationId);
      return { ending, counts: await countCompanies(db, migrationId), reconnect };
    },

    /**
     * Resolves companies whose attempt died, based on their connections at the service. After the end of a migration,
     * no slice reclaims such companies. Fails without a retry if companies are being imported while the migration
     * continues, because their attempts might still be alive.
     *
     * @returns milliseconds until another call is needed, because a lease has not ended or a row has just changed; null
     *   if every company is resolved
     */
    async resolveInterrupted({ migrationId }: MigrationRef): Promise<{ readonly retryInMs: number | null }> {
      const stopped = await db.transaction().execute((tx) => stopEnded(tx, migrationId));
      const interrupted = await readInterrupted(db, migrationId);
      if (interrupted.length > 0 && !stopped)
        refuse(`${migrationId} has not ended, so its companies can still be moving`);
      const platform = findPlatform((await readMigration(db, migrationId))?.platformKey ?? '');
      let retryInMs: number | null = null;
      for (const company of interrupted) {
        const wait = (ms: number) => (retryInMs = Math.max(retryInMs ?? 0, Math.ceil(ms)));
        if (company.leaseEndsInMs > 0) {
          wait(company.leaseEndsInMs);
          continue;
        }
        const resolution = await resolutionOf(service, migrationId, platform, company);
        if (!(await resolveInterrupted(db, migrationId, company, resolution))) wait(CHANGED_RETRY_MS);
      }
      return { retryInMs };
    },

    /** Removes companies that were created at the service for rows whose credential was never used. */
    async deleteUnused({ migrationId }: MigrationRef): Promise<{ readonly removed: number }> {
      const signal = cancellationSignal();
      let removed = 0;
      for (const unused of await readUnusedCompanies(db, migrationId)) {
        heartbeat({ removed });
        if (await isUnused(service, unused.companyId, signal)) {
          await removeCompany(service, unused.companyId, signal);
          await clearServiceRefs(db, migrationId, unused);
          removed += 1;
        }
      }
      return { removed };
    },
  };
}

/** The maximum number of links on the client's page. The handover report contains all of them. */
const MAX_LINKS = 20;

async function reconnectLinks(db: Database, migrationId: string): Promise<readonly ReconnectLink[]> {
  const filter = { states: ['failed'], mustReconnect: true } as const;
  const { companies } = await readCompanyPage(db, migrationId, filter, { offset: 0, limit: MAX_LINKS });
  return companies.flatMap(({ reference, name, linkUrl }) =>
    linkUrl === null ? [] : [{ reference, name, url: linkUrl }],
  );
}

/** The maximum length of a name in a record, in characters. */
const MAX_NAME_LENGTH = 200;

/** The delay before reading a company again after its attempt has just written to its row, in milliseconds. */
const CHANGED_RETRY_MS = 1_000;

function refuse(why: string): never {
  throw ApplicationFailure.nonRetryable(why, 'NotEnded');
}

async function readMigrationOrRefuse(tx: Database, migrationId: string): Promise<StoredMigration> {
  return (await readMigration(tx, migrationId)) ?? refuse(`migration ${migrationId} is not in the ledger`);
}

/**
 * Closes the migration as the recorded decisions say. Holds the lock on decisions, so that no decision is recorded in
 * the meantime.
 */
async function closeInLedger(tx: Database, migrationId: string): Promise<Ending> {
  await lockDecisions(tx, migrationId);
  const { route, ending: before } = await readMigrationOrRefuse(tx, migrationId);
  if (before !== null) return before;
  const ending = possibleEnding(route, await readRecordedDecisions(tx, migrationId));
  if (ending === null) return refuse(`the ledger contains no decision that ends ${migrationId}`);
  if (!(await closeMigration(tx, migrationId, ending)))
    refuse(`at least one company has no final outcome yet, so the migration cannot be closed as ${ending}`);
  return ending;
}

/**
 * Stops the claims of a migration that recorded decisions have ended.
 *
 * @returns whether claims are stopped; false if no decision has ended the migration, for example a self-service
 *   migration that is complete but not closed yet. Such a migration has no companies left to import
 */
async function stopEnded(tx: Database, migrationId: string): Promise<boolean> {
  await lockDecisions(tx, migrationId);
  const { state, route } = await readMigrationOrRefuse(tx, migrationId);
  if (state === 'closed') return true;
  if (endingByDecisions(route, await readRecordedDecisions(tx, migrationId)) === null) return false;
  await stopClaims(tx, migrationId);
  return true;
}

type Resolution = Parameters<typeof resolveInterrupted>[3];

async function resolutionOf(
  service: CompanyDataClient,
  migrationId: string,
  platform: Platform | undefined,
  { row, companyId, knownConnectionId, sentAt }: InterruptedCompany,
): Promise<Resolution> {
  const signal = cancellationSignal();
  const id = companyId ?? (await findCompanyByTag(service, rowTag(migrationId, row), { signal }))?.id;
  const query = platform && { platformKey: platform.key, connectionId: knownConnectionId };
  const connection = id && query ? await findConnection(service, id, query, { signal }).catch(ifGone) : undefined;
  const refs = {
    ...(id === undefined ? {} : { companyId: id }),
    ...(connection === undefined ? {} : { connectionId: connection.id }),
  };
  if (id !== undefined && connection?.status === 'Linked') {
    // The attempt may have died before it started the syncs. Syncs that are already running are not affected.
    await service.startSync(id, { signal });
    return { to: 'syncing', refs };
  }
  if (connection === undefined || sentAt === null) return { to: 'waiting', refs };
  const error = errorSince(connection, new Date(sentAt));
  if (error) {
    const consequence = consequenceOfLinkError(error.statusText);
    const { linkUrl } = connection;
    if (consequence.action !== 'fail' && consequence.action !== 'fail-and-stop')
      return { to: 'waiting', isUnused: true, text: error.errorMessage, refs };
    const text = `${failureText(consequence.kind)} (${error.errorMessage})`;
    return {
      to: 'failed',
      failure: consequence.kind,
      text,
      refs: { ...refs, ...(linkUrl !== undefined && { linkUrl }) },
    };
  }
  return {
    to: 'outcome-unknown',
    text: 'the migration ended before it was clear whether the credential had been used',
    refs,
  };
}

/** Handles a failed call: returns undefined if a restored service no longer has the company. */
function ifGone(error: unknown): undefined {
  if (!isGone(error)) throw error;
}

/**
 * Returns whether a company is unused: the service has deleted it, or none of its connections, to any platform, has
 * ever been authorized.
 */
async function isUnused(service: CompanyDataClient, companyId: string, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const { status } of service.connections(companyId, { signal }))
      if (status !== 'PendingAuth') return false;
    return true;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

async function removeCompany(service: CompanyDataClient, companyId: string, signal: AbortSignal): Promise<void> {
  try {
    await service.deleteCompany(companyId, { signal });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
