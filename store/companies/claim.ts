/**
 * The claim: the only way for a company into `importing`.
 *
 * One conditional statement holds off attempts that were replaced, cancellations, pauses, window edges, a second run
 * and other companies of the same token family. It locks the rows of the migration, the slice and the credential for
 * reading. A pause, a close, a newer attempt or a newer credential that commits first is therefore seen, and one that
 * commits later waits until the claim is written.
 */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import { violatesConstraint } from '../database/database';
import { isClaimable, WINDOW_IS_OPEN } from './claimable';
import type { ClaimedCompany, LeaseOwner } from './lease';
import { assignTo, CLAIMED_COLUMNS, leaseEnd } from './lease';

/**
 * Claims companies for an attempt of a slice.
 *
 * @param size at most so many companies
 * @param onlyRow the only row to claim; null: any
 * @returns the claimed companies; none: nothing can be claimed now
 */
export async function claimCompanies(
  db: Database,
  owner: LeaseOwner,
  size: number,
  onlyRow: number | null,
): Promise<readonly ClaimedCompany[]> {
  try {
    const { rows } = await sql<ClaimedCompany>`
      with claimable as (
        select c.migration_id, c.row, v.sealed, v.supersedes, v.crossed_at is not null as crossed,
          false as on_its_way
        from companies c
        join migrations m on m.id = c.migration_id
        -- No row without a slice that has begun in the current run.
        join slices s on s.migration_id = m.id and s.run = m.current_run
        -- No row without a credential.
        join credentials v on v.migration_id = c.migration_id and v.row = c.row
        where c.migration_id = ${owner.migrationId}
          -- The first company is claimed by its row, because no other company moves before it is approved.
          and (${onlyRow}::integer is null or c.row = ${onlyRow})
          -- Waiting, confirmed, not held back, with a credential that counts, due, and in the ramp while only that
          -- moves.
          and ${isClaimable('c', 'v')}
          -- The tokens of one family end one another, so its companies move one at a time, in the order of
          -- confirmation: none of the family is importing, and none that comes earlier could be claimed instead.
          and (c.family is null or not exists (
            select from companies relative
            join credentials its on its.migration_id = relative.migration_id and its.row = relative.row
            where relative.migration_id = c.migration_id and relative.family = c.family
              and (relative.state = 'importing' or (${isClaimable('relative', 'its')}
                and (relative.confirmed_at, relative.row) < (c.confirmed_at, c.row)
                and (${onlyRow}::integer is null or relative.row = ${onlyRow})))))
          -- The migration has begun, was neither cancelled nor closed, and is not paused.
          and m.state = 'open' and not m.paused
          -- The run is the current one: a run that was replaced claims nothing.
          and m.current_run = ${owner.run}
          -- The attempt is the newest of its slice: one that Temporal has given up, but that still runs, claims
          -- nothing.
          and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
          -- The window is open by the database's clock, because workers' clocks differ.
          and ${WINDOW_IS_OPEN}
        -- The order of an index: a claim reads no more companies than it takes, however many there are.
        order by c.wave nulls last, c.confirmed_at, c.row
        limit ${size}
        -- Rows that another claim has locked are left to it.
        for update of c skip locked
        -- Postgres checks the conditions again on the locked versions of these rows.
        for share of m, s, v
      )
      update companies c
      set state = 'importing', ${assignTo(owner)}, held_until = ${leaseEnd(owner)}, authorization_sent_at = null
      from claimable picked
      where c.migration_id = picked.migration_id and c.row = picked.row
      returning ${CLAIMED_COLUMNS}`.execute(db);
    return rows;
  } catch (error) {
    // Two claims met in one token family: the other one has it, and the next claim will see that.
    if (violatesConstraint(error, 'one_importing_per_family')) return [];
    throw error;
  }
}
