/**
 * Companies that depend on a replaced application, until the service says that their end customers have reconnected.
 */
import { sql } from 'kysely';
import { allRows, oneRow, type Database } from '../database/database';

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
  /**
   * The Temporal namespace. Other namespaces are left out, because the workers of a namespace share one account.
   * Migrations without a recorded namespace are included only if the ledger has no migrations of other namespaces.
   */
  readonly namespace: string;
  readonly limit: number;
}

/** The first key of the advisory lock that lets only one worker of a namespace at a time check connections. */
const RECONNECTIONS_LOCK = 4_071_302;

/**
 * Takes the lock for checking connections, and returns whether this connection to the database holds it.
 *
 * @param db a single connection; the lock is released when it ends, or with {@link releaseReconnectionsLock}
 */
export async function takeReconnectionsLock(db: Database, namespace: string): Promise<boolean> {
  const { isHolder } = await oneRow<{ readonly isHolder: boolean }>(db)`
    select pg_try_advisory_lock(${RECONNECTIONS_LOCK}, hashtext(${namespace})) as "isHolder"`;
  return isHolder;
}

export async function releaseReconnectionsLock(db: Database, namespace: string): Promise<void> {
  await sql`select pg_advisory_unlock(${RECONNECTIONS_LOCK}, hashtext(${namespace}))`.execute(db);
}

/**
 * Takes connections that depend on a replaced application and have not been checked for a while, of open and ended
 * migrations. Prefers the connections that have waited longest.
 *
 * A connection becomes due again after a twentieth of the time since an application was last supplied for its platform
 * and namespace, but at least 30 seconds and at most an hour. The checks become rarer, because an end customer can take
 * weeks to reconnect.
 */
export async function takeDependentConnections(
  db: Database,
  { namespace, limit }: TakeDependentOptions,
): Promise<readonly DependentConnection[]> {
  return allRows<DependentConnection>(db)`
    with known as (
      select platform_key, namespace, application, at from supplied_applications
      union all
      select platform_key, namespace, application, null from migrations where application is not null
    ), replacing as (
      -- Almost no account has had more than one application on a platform.
      select platform_key, namespace, statement_timestamp() - least(interval '1 hour', greatest(interval '30 seconds',
          (statement_timestamp() - coalesce(max(at), 'epoch')) / 20)) as due_at
      from known group by platform_key, namespace
      having count(distinct application) > 1
    ), due as (
      select d.*, m.platform_key, m.namespace
      from replacing g
      join migrations m on m.platform_key = g.platform_key and m.namespace is not distinct from g.namespace
      cross join lateral times_of_replaced_applications(m.id) t
      cross join lateral (
        select c.migration_id, c.row, c.authorization_checked_at,
          greatest(c.crossed_at, c.authorized_at) as connected_at
        from companies c
        where c.migration_id = m.id and c.company_id is not null and c.connection_id is not null
          and c.crossed_at is not null and depends_on_replaced(c.crossed_at, c.authorized_at, t.crossed, t.authorized)
          and (c.authorization_checked_at is null or c.authorization_checked_at < g.due_at)
        order by c.authorization_checked_at nulls first, c.row limit ${limit}) d
      where not isempty(t.crossed + t.authorized)
        and (m.namespace = ${namespace} or (m.namespace is null and not exists (
          select from migrations other where other.namespace <> ${namespace})))
      order by d.authorization_checked_at nulls first, d.migration_id, d.row limit ${limit}
    )
    update companies c set authorization_checked_at = clock_timestamp()
    from due where c.migration_id = due.migration_id and c.row = due.row
    returning c.migration_id as "migrationId", c.row, c.company_id as "companyId", c.connection_id as "connectionId",
      coalesce((
        select min(a.at) from supplied_applications a
        where a.at > due.connected_at and a.platform_key = due.platform_key
          and a.namespace is not distinct from due.namespace), due.connected_at) as "replacedAt"`;
}

/** Makes taken connections due again at once, if they were not checked because a call to the service failed. */
export async function returnDependentConnections(
  db: Database,
  connections: readonly DependentConnection[],
): Promise<void> {
  const rows = connections.map(({ migrationId, row }) => ({ migration_id: migrationId, row }));
  await sql`
    update companies c set authorization_checked_at = null
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (migration_id text, row integer)
    where c.migration_id = r.migration_id and c.row = r.row`.execute(db);
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
