/** Companies whose attempt died while they were importing: each goes on as soon as that does no harm. */
import { sql } from 'kysely';
import type { LeaseOwner, ClaimedCompany } from './claim';
import { CLAIMED, leaseEnd, taken } from './claim';
import type { Database } from '../database/database';

/**
 * Of a company `c` of the migration `m`: a newer attempt has begun than the one that holds it, which may live on without
 * knowing it. The ledger takes nothing from it any more, and lets it send nothing.
 */
export const SUPERSEDED = sql`not exists (
  select from slices current
  where current.migration_id = m.id and current.run = m.current_run
    and concat_ws('/', current.run, current.slice, current.attempt) = c.attempt)`;

const LET_GO = sql`(c.held_until < clock_timestamp() or ${SUPERSEDED})`;

/**
 * Puts companies back whose attempt died before their credential left: they are claimed like any other.
 *
 * @returns how many
 */
export async function releaseUnsent(db: Database, { migrationId, run }: LeaseOwner): Promise<number> {
  const { rows } = await sql`
    with picked as (
      select c.migration_id, c.row
      from companies c
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and m.current_run = ${run}
        and c.state = 'importing' and c.authorization_sent_at is null and ${LET_GO}
      for update of c skip locked
    )
    update companies c
    set state = 'waiting', attempt = null, failure_text = null
    from picked
    where c.migration_id = picked.migration_id and c.row = picked.row
    returning c.row`.execute(db);
  return rows.length;
}

/**
 * Takes over companies whose attempt died when their credential may have left. Whoever takes one over reads the connection
 * before doing anything else; and while the credential may still be on its way, does nothing else.
 */
export async function reclaimSent(db: Database, owner: LeaseOwner, size: number): Promise<readonly ClaimedCompany[]> {
  const { rows } = await sql<ClaimedCompany>`
    with picked as (
      select c.migration_id, c.row, v.sealed, v.supersedes, v.crossed_at is not null as crossed,
        c.held_until >= clock_timestamp() as on_its_way
      from companies c
      join migrations m on m.id = c.migration_id
      join slices s on s.migration_id = m.id and s.run = m.current_run
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${owner.migrationId}
        and c.state = 'importing' and c.authorization_sent_at is not null and ${LET_GO}
        and m.state = 'open' and m.current_run = ${owner.run}
        and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
      order by c.claimed_at
      limit ${size}
      for update of c skip locked
      for share of m, s
    )
    update companies c
    set ${taken(owner)}, held_until = case when on_its_way then c.held_until else ${leaseEnd(owner)} end
    from picked
    where c.migration_id = picked.migration_id and c.row = picked.row
    returning ${CLAIMED}`.execute(db);
  return rows;
}
