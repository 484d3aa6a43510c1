/**
 * The claim: the statement that sets companies to `importing` for an attempt. Apart from the claim, only reconciling a
 * ledger sets this state, for companies whose outcome is unknown (store/migrations/reconciliation.ts).
 *
 * The conditions of the statement prevent claims by superseded attempts and runs, and claims of companies that no
 * recorded decision has released. They also prevent claims during a pause, after the end of the migration, outside the
 * window, while the company's token family is busy, and in a ledger that is behind (store/migrations/ledger-mark.ts).
 *
 * The statement locks the rows of the migration, the slice and the credential with `for share`. If a change to these
 * rows commits first (a pause, a close, a newer attempt, a newer credential), the claim therefore sees the change. A
 * later change waits until the claim has committed.
 *
 * The conditions that concern one company or the window are defined below the claim. The counts, the ramp and the
 * choice of the first company also use these conditions, so that they agree with the claim. In each condition, `m` is
 * the migration of the company.
 */
import { type RawBuilder, sql } from 'kysely';
import { LONGEST_WAIT_MS } from '../../domain/companies/call-failure';
import { allRows, violatesConstraint, type Database } from '../database/database';
import { markOf } from '../migrations/ledger-mark';
import { assignTo, CLAIMED_COLUMNS, leaseEnd, type ClaimedCompany, type LeaseOwner } from './lease';

/**
 * Claims companies for an attempt of a slice.
 *
 * @param size maximum number of companies
 * @param onlyRow the only row that can be claimed; null for any row
 * @param knownMark the highest mark that the caller has seen; if the ledger's mark is lower, nothing is claimed
 * @returns the claimed companies; empty if no company can be claimed now
 */
export async function claimCompanies(
  db: Database,
  owner: LeaseOwner,
  size: number,
  onlyRow: number | null,
  knownMark = 0,
): Promise<readonly ClaimedCompany[]> {
  try {
    return await allRows<ClaimedCompany>(db)`
      with claimable as (
        select c.migration_id, c.row, v.sealed, v.obtained_at, v.supersedes, v.crossed_at is not null as crossed,
          ${WAS_SENT} as was_sent, false as in_flight, ${markOf(owner.migrationId)} + 1 as ledger_mark
        from companies c
        join migrations m on m.id = c.migration_id
        -- The slice must have begun in the current run.
        join slices s on s.migration_id = m.id and s.run = m.current_run
        -- The company must have a credential.
        join credentials v on v.migration_id = c.migration_id and v.row = c.row
        where c.migration_id = ${owner.migrationId}
          -- The first company is claimed by its row, because no other company can move before the first is approved.
          and (${onlyRow}::integer is null or c.row = ${onlyRow})
          and ${isClaimable('c', 'v')}
          -- The tokens of one family invalidate one another, so its companies move one at a time, in the order of their
          -- confirmations. No company of the family may be importing, and no earlier company of the family may be
          -- claimable.
          and (c.family is null or not exists (
            select from companies relative
            join credentials its on its.migration_id = relative.migration_id and its.row = relative.row
            where relative.migration_id = c.migration_id and relative.family = c.family
              and (relative.state = 'importing' or (${isClaimable('relative', 'its')}
                and (relative.confirmed_at, relative.row) < (c.confirmed_at, c.row)
                and (${onlyRow}::integer is null or relative.row = ${onlyRow})))))
          -- Recorded decisions must have released the company.
          and (m.released = 'all' or (m.released = 'first-company' and c.row = m.first_row))
          -- The migration must be open and not paused.
          and m.state = 'open' and not m.paused
          -- The ledger must not be behind its workflow or the service.
          and m.behind_since is null and ${markOf(owner.migrationId)} >= ${knownMark}
          -- The run must be the current run.
          and m.current_run = ${owner.run}
          -- The attempt must be the newest attempt of its slice. An earlier attempt might still be running after
          -- Temporal has timed it out.
          and s.slice = ${owner.slice} and s.attempt = ${owner.attempt}
          -- The window must be open by the database's clock, because workers' clocks differ.
          and ${WINDOW_IS_OPEN}
        -- Use the order of the index companies_to_claim, so that a claim reads only the companies that it takes.
        order by c.wave nulls last, c.confirmed_at, c.row
        limit ${size}
        -- Skip rows that another claim has locked.
        for update of c skip locked
        -- Postgres checks the conditions again on the locked versions of these rows, so that no change is missed.
        for share of m, s, v
      ), marked as (
        insert into ledger_marks (migration_id, source, mark)
        select ${owner.migrationId}, ${`slice ${owner.slice}`}, 1 where exists (select from claimable)
        on conflict (migration_id, source) do update set mark = ledger_marks.mark + 1
      )
      update companies c
      set state = 'importing', ${assignTo(owner)}, lease_ends_at = ${leaseEnd(owner)},
        earlier_sent_at = greatest(c.earlier_sent_at, c.authorization_sent_at), authorization_sent_at = null,
        authorization_sent_again = false, authorizations_sent = 0
      from claimable picked
      where c.migration_id = picked.migration_id and c.row = picked.row
      returning ${CLAIMED_COLUMNS}`;
  } catch (error) {
    // Another claim has just claimed a company of the same token family. The next claim sees that company.
    if (violatesConstraint(error, 'one_importing_per_family')) return [];
    throw error;
  }
}

/**
 * Builds the condition that a company with a credential can be moved, now or later:
 * - The company is waiting.
 * - The client has confirmed that its own application no longer uses the token.
 * - The company is not held back.
 * - The credential counts. In the managed route, on a platform that rotates tokens, a credential obtained before the
 *   confirmation does not count: the client's application might have refreshed the token in the meantime, which makes
 *   the credential unusable.
 */
export function isReadyToMove(company: 'c' | 'relative' = 'c', credential: 'v' | 'its' = 'v') {
  const c = sql.ref(company);
  return sql`
    ${c}.state = 'waiting' and ${c}.confirmed_at is not null and ${c}.held_back is null
    and (not m.rotating or ${sql.ref(credential)}.obtained_at >= ${c}.confirmed_at)`;
}

/**
 * Builds the condition that the company itself can be claimed now: it is ready, its next try is due, and it belongs to
 * the ramp if only the ramp is moving. The claim also checks the migration, the window and the token family.
 */
function isClaimable(company: 'c' | 'relative', credential: 'v' | 'its') {
  const c = sql.ref(company);
  return sql`
    ${isReadyToMove(company, credential)}
    and ${isDue(`${company}.not_before`)}
    and (not m.ramp_only or ${c}.in_ramp)`;
}

/**
 * Builds the condition that the time in a column is null or in the past. A time beyond the longest wait also counts as
 * past, because no response may delay a company for that long.
 */
export function isDue(column: string) {
  const at = sql.ref(column);
  return sql`(${at} is null or ${at} <= clock_timestamp()
    or ${at} > clock_timestamp() + make_interval(secs => ${LONGEST_WAIT_MS / 1000}))`;
}

/**
 * The condition that the credential `v` of company `c` might have been sent. If a send intent is older than the stored
 * credential, it concerns an earlier credential.
 */
export const WAS_SENT = sql`coalesce(greatest(c.authorization_sent_at, c.earlier_sent_at) >= v.supplied_at, false)`;

/** The condition that the confirmed company `c` has no credential that counts. `v` is its credential; null if none. */
export const LACKS_CREDENTIAL = sql`(v.row is null or (m.rotating and v.obtained_at < c.confirmed_at))`;

/**
 * The companies of some migrations, as a table with the additional column `lacks_credential`.
 *
 * @param which the condition on the company `c`
 */
export const companiesWithCredentialState = (which: RawBuilder<unknown>) => sql`(
  select c.*, ${LACKS_CREDENTIAL} as lacks_credential
  from companies c
  join migrations m on m.id = c.migration_id
  left join credentials v on v.migration_id = c.migration_id and v.row = c.row
  where ${which})`;

/** The condition that the window is open by the database's clock. It always holds for a migration without windows. */
export const WINDOW_IS_OPEN = sql`(
  clock_timestamp() >= coalesce(m.window_opens_at, '-infinity')
  and clock_timestamp() < coalesce(m.window_closes_at, 'infinity'))`;
