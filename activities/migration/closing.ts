/** The end of a migration, whichever way it came: nothing is left in the air, and nothing useless at the service. */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CompanyDataClient } from '../../company-data-client';
import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type { InterruptedCompany } from '../../store';
import { clearServiceRefs, readInterrupted, readMigration, readUnusedCompanies, resolveInterrupted } from '../../store';
import { findCompanyByTag, findConnection, isGone, rowTag } from '../companies/service-refs';
import type { ActivityDeps } from '../deps';

interface OfMigration {
  readonly migrationId: string;
}

export function closingActivities({ db, service }: ActivityDeps) {
  return {
    /** Companies whose attempt died are not taken over any more: what the service has says what became of them. */
    async settleInterrupted({ migrationId }: OfMigration): Promise<{ readonly againInMs: number | null }> {
      const migration = await readMigration(db, migrationId);
      const platform = migration && findPlatform(migration.platformKey);
      let againInMs: number | null = null;
      for (const company of platform ? await readInterrupted(db, migrationId) : []) {
        if (company.leaseEndsInMs > 0) againInMs = Math.max(againInMs ?? 0, Math.ceil(company.leaseEndsInMs));
        else
          await resolveInterrupted(db, migrationId, company.row, await look(service, migrationId, platform, company));
      }
      return { againInMs };
    },

    /** Removes companies that were created for rows whose credential never left. */
    async removeUnused({ migrationId }: OfMigration): Promise<{ readonly removed: number }> {
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

type Settled = Parameters<typeof resolveInterrupted>[3];

async function look(
  service: CompanyDataClient,
  migrationId: string,
  platform: Platform | undefined,
  { row, companyId, namedConnectionId, sentAt }: InterruptedCompany,
): Promise<Settled> {
  const signal = cancellationSignal();
  const id = companyId ?? (await findCompanyByTag(service, rowTag(migrationId, row), { signal }))?.id;
  const wanted = platform && { platformKey: platform.key, connectionId: namedConnectionId };
  const connection = id && wanted ? await findConnection(service, id, wanted, { signal }) : undefined;
  const at = {
    ...(id === undefined ? {} : { companyId: id }),
    ...(connection === undefined ? {} : { connectionId: connection.id }),
  };
  if (id !== undefined && connection?.status === 'Linked') {
    // Its attempt may have died before that; what is under way already is left as it is.
    await service.startSync(id, { signal });
    return { to: 'syncing', at };
  }
  if (connection === undefined || sentAt === null) return { to: 'waiting', at };
  return {
    to: 'outcome-unknown',
    text: 'the migration ended before it was clear whether its credential had been used',
    at,
  };
}

/** A connection that has been authorized belongs to somebody, whoever did it. */
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
