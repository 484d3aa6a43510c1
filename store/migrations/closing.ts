/** What is left of companies when a migration ends, and what the service has of them. */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { ServiceRefs } from '../companies/outcomes';

export interface InterruptedCompany {
  readonly row: number;
  readonly companyId: string | null;
  /** The connection that the client has named; null: any of the company to the platform. */
  readonly namedConnectionId: string | null;
  /** When its credential was about to leave, where that is written down. */
  readonly sentAt: Date | null;
  /** Milliseconds until its credential, if it was sent, can no longer be on its way; 0 or less: it is not. */
  readonly overInMs: number;
}

/** Companies that are still claimed although no slice runs any more: their attempts died. */
export async function readInterrupted(db: Database, migrationId: string): Promise<readonly InterruptedCompany[]> {
  const { rows } = await sql<InterruptedCompany>`
    select row, company_id as "companyId", case when named = 'connection' then connection_id end as "namedConnectionId",
      authorization_sent_at as "sentAt",
      case when authorization_sent_at is null then 0
        else extract(epoch from held_until - clock_timestamp())::float8 * 1000 end as "overInMs"
    from companies where migration_id = ${migrationId} and state = 'importing'
    order by held_until`.execute(db);
  return rows;
}

/** What became of an interrupted company: not moved at all, handed over, or nobody can say. */
export async function settleInterrupted(
  db: Database,
  migrationId: string,
  row: number,
  settled: {
    readonly to: 'waiting' | 'syncing' | 'outcome-unknown';
    readonly text?: string;
    readonly at: ServiceRefs;
  },
): Promise<void> {
  await sql`
    update companies
    set state = ${settled.to}, attempt = null,
        crossed_at = case when ${settled.to}::text = 'syncing' then coalesce(crossed_at, clock_timestamp()) else crossed_at end,
        failure_text = ${settled.text ?? null},
        company_id = coalesce(${settled.at.companyId ?? null}::uuid, company_id),
        connection_id = coalesce(${settled.at.connectionId ?? null}::uuid, connection_id)
    where migration_id = ${migrationId} and row = ${row} and state = 'importing'`.execute(db);
}

/** Companies that were created at the service for rows whose credential never left: those that the client has named stay. */
export async function readUnused(
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

/** The service no longer has the company of this row. */
export async function clearServiceRefs(db: Database, migrationId: string, row: number): Promise<void> {
  await db
    .updateTable('companies')
    .set({ company_id: null, connection_id: null, stored_name: null, link_url: null })
    .where('migration_id', '=', migrationId)
    .where('row', '=', row)
    .execute();
}

/**
 * The migrations of this namespace that are open in the ledger, whether their workflows still run or not. One whose
 * cancellation was interrupted still is: its organizations are taken, and its credentials not destroyed.
 */
export async function listOpen(db: Database, namespace: string): Promise<readonly string[]> {
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
