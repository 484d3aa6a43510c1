/** The client's application of each migration: supplied for it, or found at the service by its preflight. */
import { sql } from 'kysely';
import type { ApplicationFacts, MigrationApplications } from '../../domain/preflight/applications';
import type { ApplicationSupplied } from '../../domain/migration/decision';
import type { Database } from '../database/database';

/**
 * Stores the application that a preflight found at the service, if it found no problem with it. Keeps the earlier one if
 * companies were moved with it.
 */
export async function recordApplication(
  db: Database,
  migrationId: string,
  { clientId, environment }: ApplicationFacts,
): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ application: JSON.stringify({ clientId, environment }) })
    .where('id', '=', migrationId)
    .where(
      sql<boolean>`application is null or not exists (
        select from companies c where c.migration_id = migrations.id and c.crossed_at is not null)`,
    )
    .execute();
}

/** An application with which companies were moved. */
export interface ApplicationInUse {
  readonly application: ApplicationFacts;
  /** The number of companies whose credentials the service has accepted. */
  readonly companies: number;
}

/**
 * Lists the applications with which companies were moved on a migration's platform and in its namespace, by this
 * migration and by all others, open or ended. The service refreshes their tokens with the application that is
 * registered, and with no other.
 */
export async function readApplicationsInUse(db: Database, migrationId: string): Promise<readonly ApplicationInUse[]> {
  const { rows } = await sql<ApplicationInUse>`
    select application, sum(companies)::integer as companies
    from (
      select coalesce(
          (select jsonb_build_object('clientId', content ->> 'clientId', 'environment', content ->> 'environment')
            from decisions
            where migration_id = m.id and applied and content ->> 'kind' = 'application-supplied'
              and at <= max(c.crossed_at)
            order by position desc limit 1),
          m.application) as application,
        count(*) as companies
      from migrations own
      join migrations m on m.platform_key = own.platform_key and m.namespace is not distinct from own.namespace
      join companies c on c.migration_id = m.id and c.crossed_at is not null
      where own.id = ${migrationId}
      group by m.id) used
    where application is not null
    group by application
    order by 2 desc`.execute(db);
  return rows;
}

/**
 * Reads the applications of a migration and of the other open migrations on its platform and in its namespace, because
 * the workers of a namespace share one account.
 *
 * An application that was not supplied counts for another migration only once its details have been accepted. Before
 * that, nobody has said that it is the right one.
 */
export async function readApplications(
  db: Database,
  { id, client }: { readonly id: string; readonly client: string },
): Promise<MigrationApplications> {
  const { rows } = await sql<{
    id: string;
    client: string;
    supplied: ApplicationSupplied | null;
    found: ApplicationFacts | null;
  }>`
    select m.id, m.client, d.content as supplied, case when m.route = 'self-service' or accepted then m.application end as found
    from migrations own
    join migrations m on m.platform_key = own.platform_key and m.namespace is not distinct from own.namespace
    left join lateral (
      select content from decisions
      where migration_id = m.id and applied and content ->> 'kind' = 'application-supplied'
      order by position desc limit 1) d on true
    cross join lateral (
      select exists (
        select from decisions
        where migration_id = m.id and applied and content ->> 'kind' = 'step'
          and content ->> 'step' = 'supply-details' and content ->> 'verdict' = 'approve') as accepted) a
    where own.id = ${id} and (m.id = own.id or m.state = 'open')
    order by m.id`.execute(db);
  const own = rows.find((row) => row.id === id)?.supplied;
  return {
    migrationId: id,
    client,
    supplied: own ? { clientId: own.clientId, environment: own.environment, suppliedBy: own.by } : null,
    others: rows.flatMap(({ id: migrationId, client: owner, supplied, found }) => {
      const application = supplied ?? found;
      if (migrationId === id || !application) return [];
      const { clientId, environment } = application;
      const isSupplied = supplied !== null;
      return [{ migrationId, client: owner, application: { clientId, environment }, isSupplied }];
    }),
  };
}
