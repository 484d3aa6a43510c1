/** Resolves interrupted companies and finds unused companies at the service when a migration ends. */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { ServiceRefs } from '../companies/outcomes';

/** A company whose attempt died while it was importing. */
export interface InterruptedCompany {
  readonly row: number;
  readonly companyId: string | null;
  /** The connection id that the client supplied; null if none. Then any connection to the platform counts. */
  readonly suppliedConnectionId: string | null;
  /** Time of the send intent; null if the credential was not sent. */
  readonly sentAt: Date | null;
  /** Milliseconds until the lease ends. If this is 0 or less, the credential is certainly not in flight. */
  readonly leaseEndsInMs: number;
}

/** Lists companies that are still `importing` after all slices have ended, in the order in which their leases end. */
export async function readInterrupted(db: Database, migrationId: string): Promise<readonly InterruptedCompany[]> {
  const { rows } = await sql<InterruptedCompany>`
    select row, company_id as "companyId", case when named = 'connection' then connection_id end as "suppliedConnectionId",
      authorization_sent_at as "sentAt",
      case when authorization_sent_at is null then 0
        else extract(epoch from lease_ends_at - clock_timestamp())::float8 * 1000 end as "leaseEndsInMs"
    from companies where migration_id = ${migrationId} and state = 'importing'
    order by lease_ends_at`.execute(db);
  return rows;
}

/**
 * Records the outcome of an interrupted company: `waiting` if the credential was certainly not used, `syncing` if the
 * service accepted it, otherwise `outcome-unknown`.
 */
export async function resolveInterrupted(
  db: Database,
  migrationId: string,
  row: number,
  outcome: {
    readonly to: 'waiting' | 'syncing' | 'outcome-unknown';
    readonly text?: string;
    readonly refs: ServiceRefs;
  },
): Promise<void> {
  await sql`
    update companies
    set state = ${outcome.to}, attempt = null,
        crossed_at = case when ${outcome.to}::text = 'syncing' then coalesce(crossed_at, clock_timestamp()) else crossed_at end,
        sync_started_at = case when ${outcome.to}::text = 'syncing' then clock_timestamp() else sync_started_at end,
        next_check_at = case when ${outcome.to}::text = 'syncing' then clock_timestamp() else next_check_at end,
        failure_text = ${outcome.text ?? null},
        company_id = coalesce(${outcome.refs.companyId ?? null}::uuid, company_id),
        connection_id = coalesce(${outcome.refs.connectionId ?? null}::uuid, connection_id)
    where migration_id = ${migrationId} and row = ${row} and state = 'importing'`.execute(db);
}

/** Lists companies that were created at the service and never used. Omits companies whose id the client supplied. */
export async function readUnusedCompanies(
  db: Database,
  migrationId: string,
): Promise<readonly { readonly row: number; readonly companyId: string }[]> {
  const { rows } = await sql<{ row: number; companyId: string }>`
    select row, company_id as "companyId" from companies
    where migration_id = ${migrationId} and state in ('waiting', 'excluded') and company_id is not null
      and named is null
    order by row`.execute(db);
  return rows;
}

/** Clears the service's ids of a company that has been deleted there. */
export async function clearServiceRefs(db: Database, migrationId: string, row: number): Promise<void> {
  await db
    .updateTable('companies')
    .set({ company_id: null, connection_id: null, stored_name: null, link_url: null })
    .where('migration_id', '=', migrationId)
    .where('row', '=', row)
    .execute();
}

/**
 * Lists the migrations that have been opened and whose vaults have not been destroyed, whether or not their workflows
 * are running: those of a Temporal namespace, and those without a recorded namespace. Includes migrations whose closing
 * was interrupted, because their organizations are still taken and their credentials still stored.
 */
export async function listOpenMigrations(db: Database, namespace: string): Promise<readonly string[]> {
  const open = await db
    .selectFrom('migrations')
    .select('id')
    .where('state', '!=', 'supplied')
    .where('vault_destroyed_at', 'is', null)
    .where((is) => is.or([is('namespace', '=', namespace), is('namespace', 'is', null)]))
    .orderBy('id')
    .execute();
  return open.map(({ id }) => id);
}
