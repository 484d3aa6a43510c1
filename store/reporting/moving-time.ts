/**
 * How long companies were moving. Time in which none was moving does not count, for example while the window is closed.
 * A rate over this time is the rate while moving.
 */
import { sql, type RawBuilder } from 'kysely';

/**
 * Two companies that move within this time of each other count as one period, because the rate would otherwise be too
 * high while companies are tried one at a time, with waits between them.
 */
const GAP = sql`interval '1 minute'`;

/**
 * When the move of the company `m` began: its last claim or, if later, the start of its sync minus the duration of its
 * import. It is later if, for example, the end customer has reconnected the company since the claim.
 */
const BEGAN_AT = sql`greatest(m.claimed_at,
  m.sync_started_at - make_interval(secs => coalesce(m.import_ms, 0) / 1000.0))`;

/** When the move of the company `m` ended: now, if it is still moving; null if it is not moving and has not moved. */
const ENDED_AT = sql`case when m.state in ('importing', 'syncing') then clock_timestamp() else m.moved_at end`;

/**
 * Returns how long at least one company of a migration was moving between `since` and `until`, in milliseconds, as a
 * scalar subquery. Leaves out companies that failed, because the ledger does not know when. `until` is now by default;
 * the result is 0 if `until` is null.
 *
 * Rounds to seconds first, so that few distinct periods remain, because merging a period for each company would be
 * slow.
 */
export function movingMs(
  migrationId: RawBuilder<unknown>,
  since: RawBuilder<unknown>,
  until: RawBuilder<unknown> = sql`clock_timestamp()`,
): RawBuilder<number> {
  const endedAt = sql`least(${ENDED_AT}, coalesce(${until}, '-infinity'::timestamptz))`;
  return sql<number>`(
    select coalesce(sum(extract(epoch from upper(period) - ${GAP} - lower(period))) * 1000, 0)::float8
    from unnest((
      select range_agg(tstzrange(began_at, ended_at + ${GAP})) from (
        select distinct date_trunc('second', greatest(${BEGAN_AT}, ${since})) as began_at,
          date_trunc('second', ${endedAt}) + interval '1 second' as ended_at
        from companies m
        where m.migration_id = ${migrationId} and m.claimed_at is not null
          and ${ENDED_AT} is not null and ${endedAt} > greatest(${BEGAN_AT}, ${since})
      ) moves
    )) period)`;
}
