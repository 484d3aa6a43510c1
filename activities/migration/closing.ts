/** The activities that end a migration: resolve interrupted companies, and remove unused ones from the service. */
import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CompanyDataClient } from '../../company-data-client';
import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type { InterruptedCompany } from '../../store';
import {
  clearServiceRefs,
  closeMigration,
  countCompanies,
  destroyVault,
  lockDecisions,
  readInterrupted,
  readMigration,
  readRecordedDecisions,
  readUnusedCompanies,
  recordDecisions,
  resolveInterrupted,
  stopClaims,
} from '../../store';
import type { Counts } from '../../domain/companies/company-state';
import { terminationRecord } from '../../domain/decisions/audit-trail';
import { endingOf } from '../../domain/decisions/release';
import type { Ending } from '../../domain/migration/migration-state';
import { findCompanyByTag, findConnection, isGone, rowTag } from '../companies/service-refs';
import type { ActivityDeps } from '../deps';

interface MigrationRef {
  readonly migrationId: string;
}

export function closingActivities({ db, keys, service, workflowStatus }: ActivityDeps) {
  return {
    /**
     * Records that the migration was terminated, and stops its claims. Not retried if it is still running, so that
     * nobody can end a running migration in this way.
     */
    async recordTermination({ migrationId, requestedBy }: MigrationRef & { requestedBy?: string }): Promise<void> {
      if ((await workflowStatus.of(migrationId)) === 'running')
        throw ApplicationFailure.nonRetryable(`${migrationId} is still running; to end it, cancel it`, 'StillRunning');
      const name = typeof requestedBy === 'string' ? requestedBy.slice(0, MAX_NAME_LENGTH) : null;
      await db.transaction().execute(async (tx) => {
        await lockDecisions(tx, migrationId);
        await stopClaims(tx, migrationId);
        const record = terminationRecord(name, new Date().toISOString());
        await recordDecisions(tx, migrationId, [{ ...record, verified: true }]);
      });
    },

    /**
     * Closes the ledger and destroys the credentials. Fails without a retry if the recorded decisions do not allow it.
     *
     * @returns how the migration ended, according to the recorded decisions
     */
    async closeMigration({ migrationId }: MigrationRef): Promise<{ readonly ending: Ending; readonly counts: Counts }> {
      const migration = await readMigration(db, migrationId);
      const ending = migration && endingOf(migration.route, await readRecordedDecisions(db, migrationId));
      if (!ending) throw ApplicationFailure.nonRetryable(`no decision in the ledger ends ${migrationId}`, 'NotEnded');
      await closeMigration(db, migrationId, ending);
      await destroyVault(db, keys, migrationId);
      return { ending, counts: await countCompanies(db, migrationId) };
    },

    /**
     * Resolves companies whose attempt died, based on their connections at the service. No slice will reclaim them.
     *
     * @returns milliseconds until the last lease ends; null if no lease is left
     */
    async resolveInterrupted({ migrationId }: MigrationRef): Promise<{ readonly retryInMs: number | null }> {
      const migration = await readMigration(db, migrationId);
      const platform = migration && findPlatform(migration.platformKey);
      let retryInMs: number | null = null;
      for (const company of platform ? await readInterrupted(db, migrationId) : []) {
        if (company.leaseEndsInMs > 0) retryInMs = Math.max(retryInMs ?? 0, Math.ceil(company.leaseEndsInMs));
        else {
          const resolution = await resolutionOf(service, migrationId, platform, company);
          await resolveInterrupted(db, migrationId, company.row, resolution);
        }
      }
      return { retryInMs };
    },

    /** Removes companies that were created at the service for rows whose credential was never used. */
    async deleteUnused({ migrationId }: MigrationRef): Promise<{ readonly removed: number }> {
      const signal = cancellationSignal();
      const platform = findPlatform((await readMigration(db, migrationId))?.platformKey ?? '');
      let removed = 0;
      for (const { row, companyId } of await readUnusedCompanies(db, migrationId)) {
        heartbeat({ removed });
        if (platform && (await isUnused(service, companyId, platform.key, signal))) {
          await removeCompany(service, companyId, signal);
          await clearServiceRefs(db, migrationId, row);
          removed += 1;
        }
      }
      return { removed };
    },
  };
}

/** The longest name that a record keeps, in characters. */
const MAX_NAME_LENGTH = 200;

type Resolution = Parameters<typeof resolveInterrupted>[3];

async function resolutionOf(
  service: CompanyDataClient,
  migrationId: string,
  platform: Platform | undefined,
  { row, companyId, suppliedConnectionId, sentAt }: InterruptedCompany,
): Promise<Resolution> {
  const signal = cancellationSignal();
  const id = companyId ?? (await findCompanyByTag(service, rowTag(migrationId, row), { signal }))?.id;
  const query = platform && { platformKey: platform.key, connectionId: suppliedConnectionId };
  const connection = id && query ? await findConnection(service, id, query, { signal }) : undefined;
  const refs = {
    ...(id === undefined ? {} : { companyId: id }),
    ...(connection === undefined ? {} : { connectionId: connection.id }),
  };
  if (id !== undefined && connection?.status === 'Linked') {
    // The attempt may have died before it started the syncs. If they are running, this call changes nothing.
    await service.startSync(id, { signal });
    return { to: 'syncing', refs };
  }
  if (connection === undefined || sentAt === null) return { to: 'waiting', refs };
  return {
    to: 'outcome-unknown',
    text: 'the migration ended before it was clear whether the credential had been used',
    refs,
  };
}

/**
 * Returns whether a company is unused: the service has deleted it, it has no connection, or its connection has never
 * been authorized.
 */
async function isUnused(
  service: CompanyDataClient,
  companyId: string,
  platformKey: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const connection = await findConnection(service, companyId, { platformKey, connectionId: null }, { signal });
    return connection === undefined || connection.status === 'PendingAuth';
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
