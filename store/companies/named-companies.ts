/** Reads the companies that `ferry` names when it suggests commands. */
import { allRows, oneRow, type Database } from '../database/database';
import { LACKS_CREDENTIAL } from './claim';

/** The companies that are named in suggested commands. */
export interface SuggestedCompanies {
  /** The lowest wave with a company whose confirmation is missing; null if no such company has a wave. */
  readonly unconfirmedWave: number | null;
  /** References of the first ten companies that have no wave and no confirmation. */
  readonly unconfirmed: readonly string[];
  /** True if the confirmation of the company that goes first is missing; null if it was not read. */
  readonly firstUnconfirmed: boolean | null;
  /** True if the company that goes first was left out, so that it cannot be tried again; null if it was not read. */
  readonly firstLeftOut: boolean | null;
  /** The reference of a company that could go first instead of the current first company; null if there is none. */
  readonly firstCandidate: string | null;
}

/**
 * Reads the companies for suggested commands.
 *
 * @param first reference of the company that goes first at present; null if there is none
 */
export async function readSuggestedCompanies(
  db: Database,
  migrationId: string,
  first: string | null,
): Promise<SuggestedCompanies> {
  return oneRow<SuggestedCompanies>(db)`
    with waiting as (
      select row, reference, wave, confirmed_at from companies
      where migration_id = ${migrationId} and state = 'waiting' and held_back is null
    )
    select
      (select min(wave) from waiting where confirmed_at is null) as "unconfirmedWave",
      array(select reference from waiting where confirmed_at is null and wave is null order by row limit 10)
        as unconfirmed,
      exists(select from waiting where confirmed_at is null and reference = ${first}) as "firstUnconfirmed",
      exists(select from companies
        where migration_id = ${migrationId} and reference = ${first} and state in ('excluded', 'skipped'))
        as "firstLeftOut",
      (select c.reference
        from waiting c
        join migrations m on m.id = ${migrationId}
        left join credentials v on v.migration_id = m.id and v.row = c.row
        where c.confirmed_at is not null and c.reference is distinct from ${first} and not ${LACKS_CREDENTIAL}
        order by c.row
        limit 1) as "firstCandidate"`;
}

/** Counts the companies without a confirmation in each wave, lowest wave first. Companies without a wave come last. */
export async function countUnconfirmedByWave(
  db: Database,
  migrationId: string,
): Promise<{ wave: number | null; unconfirmed: number }[]> {
  return allRows<{ wave: number | null; unconfirmed: number }>(db)`
    select wave, count(*)::integer as unconfirmed from companies
    where migration_id = ${migrationId} and state = 'waiting' and held_back is null and confirmed_at is null
    group by wave order by wave nulls last`;
}
