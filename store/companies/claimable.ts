/** SQL conditions that decide which companies can be claimed. In all of them, `m` is the migration of the company. */
import { sql } from 'kysely';

/**
 * Builds the condition that a company can be moved, now or later:
 * - The company is waiting.
 * - The client has confirmed that its own application no longer uses the token.
 * - The preflight found no error in the company.
 * - The credential counts. On a platform that rotates tokens, a credential obtained before the confirmation does not
 *   count, because the client's application might have used the token since, which invalidates it.
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
export function isClaimable(company: 'c' | 'relative', credential: 'v' | 'its') {
  const c = sql.ref(company);
  return sql`
    ${isReadyToMove(company, credential)}
    and (${c}.not_before is null or ${c}.not_before <= clock_timestamp())
    and (not m.ramp_only or ${c}.in_ramp)`;
}

/** The condition that the confirmed company `c` has no credential that counts. `v` is its credential; null if none. */
export const LACKS_CREDENTIAL = sql`(v.row is null or (m.rotating and v.obtained_at < c.confirmed_at))`;

/** The condition that the window is open by the database's clock. It always holds for a migration without windows. */
export const WINDOW_IS_OPEN = sql`(
  clock_timestamp() >= coalesce(m.window_opens_at, '-infinity')
  and clock_timestamp() < coalesce(m.window_closes_at, 'infinity'))`;
