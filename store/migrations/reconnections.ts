/** Companies that depend on a replaced application, until the service says that their end customers have reconnected. */
import { sql } from 'kysely';
import type { Database } from '../database/database';

/** A connection that depends on a replaced application. */
export interface DependentConnection {
  readonly migrationId: string;
  readonly row: number;
  readonly companyId: string;
  readonly connectionId: string;
  /** When the application was replaced. An authorization after this time used another application. */
  readonly replacedAt: Date;
}

export interface TakeDependentOptions {
  /** The Temporal namespace of the migrations. Migrations without a recorded namespace belong to every namespace. */
  readonly namespace: string;
  readonly limit: number;
}

/**
 * Takes connections that depend on a replaced application and have not been checked for a while, of open and ended
 * migrations. A connection is checked twice a minute at first, and every hour at last, because an end customer can take
 * weeks. Several workers take different connections.
 */
export async function takeDependentConnections(
  db: Database,
  { namespace, limit }: TakeDependentOptions,
): Promise<readonly DependentConnection[]> {
  const { rows } = await sql<DependentConnection>`
    with known as (
      select platform_key, namespace, application from supplied_applications
      union all
      select platform_key, namespace, application from migrations where application is not null
    ), replacing as (
      -- Almost no account has had more than one application on a platform.
      select platform_key, namespace from known group by platform_key, namespace
      having count(distinct application) > 1
    ), dependent as (
      select m.id as migration_id, r.row, m.platform_key, m.namespace
      from replacing g
      join migrations m on m.platform_key = g.platform_key and m.namespace is not distinct from g.namespace
      cross join lateral rows_of_replaced_applications(m.id) r (row)
      where m.namespace = ${namespace} or m.namespace is null
    ), due as (
      select c.migration_id, c.row, replaced.at
      from dependent d
      join companies c on c.migration_id = d.migration_id and c.row = d.row
      cross join lateral (
        select min(a.at) as at from supplied_applications a
        where a.at > greatest(c.crossed_at, c.authorized_at) and a.platform_key = d.platform_key
          and a.namespace is not distinct from d.namespace) replaced
      where c.company_id is not null and c.connection_id is not null and replaced.at is not null
        and (c.authorization_checked_at is null or c.authorization_checked_at < clock_timestamp()
          - least(interval '1 hour', greatest(interval '30 seconds', (clock_timestamp() - replaced.at) / 20)))
      order by c.authorization_checked_at nulls first
      limit ${limit} for update of c skip locked
    )
    update companies c set authorization_checked_at = clock_timestamp()
    from due where c.migration_id = due.migration_id and c.row = due.row
    returning c.migration_id as "migrationId", c.row, c.company_id as "companyId", c.connection_id as "connectionId",
      due.at as "replacedAt"`.execute(db);
  return rows;
}

/**
 * Records what the service says about a connection that depends on a replaced application.
 *
 * @param isLinked false if the end customer has to authorize the connection
 * @param authorizedAt when the connection was last authorized; null if the service does not say it. The end customer
 * has then reconnected if an earlier check found that the connection was not linked
 * @returns true if the end customer has reconnected since the application was replaced
 */
export async function recordAuthorization(
  db: Database,
  { migrationId, row, replacedAt }: DependentConnection,
  { isLinked, authorizedAt }: { readonly isLinked: boolean; readonly authorizedAt: Date | null },
): Promise<boolean> {
  const at =
    authorizedAt === null
      ? sql<Date | null>`case when unlinked_at is not null then clock_timestamp() end`
      : sql<Date | null>`case when ${authorizedAt}::timestamptz > ${replacedAt} then least(${authorizedAt}::timestamptz, clock_timestamp()) end`;
  const { rows } = await sql<{ hasReconnected: boolean }>`
    update companies
    set authorized_at = coalesce(case when ${isLinked} then ${at} end, authorized_at),
        unlinked_at = case when ${isLinked} then null else coalesce(unlinked_at, clock_timestamp()) end
    where migration_id = ${migrationId} and row = ${row}
    returning coalesce(authorized_at > ${replacedAt}, false) as "hasReconnected"`.execute(db);
  return rows[0]?.hasReconnected ?? false;
}
