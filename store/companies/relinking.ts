/** Reconnections: the companies whose connections are checked, and the results of the checks. */
import { sql } from 'kysely';
import { allRows, oneRow, type Database } from '../database/database';

/** The condition that the end customer can reconnect: it was relinked, or must reconnect and has a link. */
const CAN_BE_RECONNECTED = sql<boolean>`(
  (state in ('failed', 'outcome-unknown') and relinking_since is not null)
  or (state = 'failed' and failure = 'reauthorization-required' and link_url is not null))`;

export interface RelinkingCompany {
  readonly row: number;
  readonly companyId: string;
  readonly connectionId: string;
  /**
   * Null if the company counts as relinked as soon as its connection is linked: a person has decided to relink the
   * company, or an earlier check found that the connection was not linked. Otherwise the connection must also have been
   * authorized after this time, because the service can report a connection as linked although the platform refuses its
   * grant.
   */
  readonly refusedAfter: Date | null;
}

/**
 * Reads the companies that must reconnect or whose end customers were asked to reconnect, if they have a connection.
 * Includes companies that no person has decided to relink, because end customers get their links elsewhere, too.
 */
export async function readRelinking(db: Database, migrationId: string): Promise<readonly RelinkingCompany[]> {
  return allRows<RelinkingCompany>(db)`
    select row, company_id as "companyId", connection_id as "connectionId",
      case when relinking_since is null and unlinked_at is null
        then coalesce(greatest(claimed_at, sync_started_at), to_timestamp(0)) end as "refusedAfter"
    from companies
    where migration_id = ${migrationId} and ${CAN_BE_RECONNECTED} and connection_id is not null
    order by row`;
}

/**
 * Records when the companies that {@link readRelinking} returns were last checked, even if the service refused the
 * requests for some of them.
 *
 * @returns the time by the database's clock, ISO 8601, UTC
 */
export async function recordReconnectionCheck(db: Database, migrationId: string): Promise<string> {
  const { at } = await oneRow<{ at: Date }>(db)`
    update migrations set reconnections_checked_at = clock_timestamp() where id = ${migrationId}
    returning reconnections_checked_at as at`;
  return at.toISOString();
}

/** Records that a connection is not linked. Once it is linked again, its end customer has reconnected. */
export async function recordUnlinked(db: Database, migrationId: string, row: number): Promise<void> {
  await sql`
    update companies set unlinked_at = clock_timestamp()
    where migration_id = ${migrationId} and row = ${row} and unlinked_at is null and ${CAN_BE_RECONNECTED}`.execute(db);
}

export interface Relinked {
  readonly migrationId: string;
  readonly row: number;
  /** When the connection was last authorized; null if the service does not report it. */
  readonly authorizedAt: Date | null;
}

/**
 * Records that the connection of a company is linked. The company is now syncing, and is then verified as after an
 * import. Its stored credential counts as handed over, because a retry must not replace the new connection with an
 * older credential.
 *
 * A linked connection does not prove that the end customer has reconnected: if the company failed for another reason,
 * such as incomplete data, the connection was linked all along. Without `authorizedAt`, the end customer counts as
 * reconnected only if the company had to reconnect, or if an earlier check found that the connection was not linked.
 */
export async function recordRelinked(db: Database, { migrationId, row, authorizedAt }: Relinked): Promise<void> {
  await sql`
    with relinked as (
      update companies
      set state = 'syncing', failure = null, failure_text = null, failure_accepted = false, accepted = null,
          relinking_since = null, checks = 0,
          crossed_at = coalesce(crossed_at, least(${authorizedAt}::timestamptz, clock_timestamp())),
          authorized_at = case
            when ${authorizedAt}::timestamptz is not null then least(${authorizedAt}::timestamptz, clock_timestamp())
            when failure = 'reauthorization-required' or unlinked_at is not null then clock_timestamp()
            else authorized_at end,
          unlinked_at = null,
          sync_started_at = clock_timestamp(), next_check_at = clock_timestamp()
      where migration_id = ${migrationId} and row = ${row} and ${CAN_BE_RECONNECTED}
      returning migration_id, row
    )
    update credentials v set crossed_at = coalesce(v.crossed_at, clock_timestamp())
    from relinked
    where v.migration_id = relinked.migration_id and v.row = relinked.row`.execute(db);
}

/** Stops waiting for a reconnection: the link is broken, because the service deleted the company or connection. */
export async function giveUpRelinking(db: Database, migrationId: string, row: number, why: string): Promise<void> {
  await db
    .updateTable('companies')
    .set({ relinking_since: null, link_url: null, failure_text: why })
    .where('migration_id', '=', migrationId)
    .where('row', '=', row)
    .where(CAN_BE_RECONNECTED)
    .execute();
}
