/** SQL conditions: which companies can be claimed. `m` is the migration of the company. */
import { sql } from 'kysely';

/**
 * A company that can be moved, now or later:
 * - it is waiting;
 * - the client has confirmed that its own application no longer uses the token, because a platform that rotates tokens
 *   would invalidate the exported one;
 * - the preflight found no error in it;
 * - its credential counts: on a rotating platform one obtained before the confirmation may have been replaced since.
 */
export function isReadyToMove(company: 'c' | 'relative' = 'c', credential: 'v' | 'its' = 'v') {
  const c = sql.ref(company);
  return sql`
    ${c}.state = 'waiting' and ${c}.confirmed_at is not null and ${c}.held_back is null
    and (not m.rotating or ${sql.ref(credential)}.obtained_at >= ${c}.confirmed_at)`;
}

/** A company that can be moved now: its next try is due, and while only the ramp moves, it belongs to the ramp. */
export function isClaimable(company: 'c' | 'relative', credential: 'v' | 'its') {
  const c = sql.ref(company);
  return sql`
    ${isReadyToMove(company, credential)}
    and (${c}.not_before is null or ${c}.not_before <= clock_timestamp())
    and (not m.ramp_only or ${c}.in_ramp)`;
}

/** A confirmed company `c` without a credential that counts; `v` is its credential, if it has one. */
export const LACKS_CREDENTIAL = sql`(v.row is null or (m.rotating and v.obtained_at < c.confirmed_at))`;

/** The window is open by the database's clock. A migration without windows is always open. */
export const WINDOW_IS_OPEN = sql`(
  clock_timestamp() >= coalesce(m.window_opens_at, '-infinity')
  and clock_timestamp() < coalesce(m.window_closes_at, 'infinity'))`;
