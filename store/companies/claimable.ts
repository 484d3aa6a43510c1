/** The gate: what a company must have before it can be moved, whoever asks. `m` is its migration. */
import { sql } from 'kysely';

/** Confirmed, not held back, and with a credential that counts. */
export function isClaimable(company: 'c' | 'relative' = 'c', credential: 'v' | 'its' = 'v') {
  const c = sql.ref(company);
  return sql`
    ${c}.state = 'waiting' and ${c}.confirmed_at is not null and ${c}.held_back is null
    and (not m.rotating or ${sql.ref(credential)}.obtained_at >= ${c}.confirmed_at)`;
}

/** Of a confirmed company `c` whose credential, where there is one, is `v`: there is none that counts. */
export const LACKS_CREDENTIAL = sql`(v.row is null or (m.rotating and v.obtained_at < c.confirmed_at))`;

/** By the ledger's clock. Without a window it is always open. */
export const WINDOW_IS_OPEN = sql`(
  clock_timestamp() >= coalesce(m.window_opens_at, '-infinity')
  and clock_timestamp() < coalesce(m.window_closes_at, 'infinity'))`;
