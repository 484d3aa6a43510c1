/** Totals of a migration for its report. */
import { sql } from 'kysely';
import { oneRow, type Database } from '../database/database';
import { movingMs } from './moving-time';

/**
 * Totals of a migration. Times are ISO 8601, UTC. Times and numbers of hours are null until there is a company from
 * which they can be computed.
 */
export interface ReportFigures {
  /** Companies whose credential the service has accepted, or whose end customer reconnected instead. */
  readonly crossed: number;
  /** Companies whose credential might have been sent, if it is not known whether it was used. */
  readonly crossingUnknown: number;
  /**
   * Companies that can still be moved while the migration is open: their credential was not handed over, and they were
   * not left out. If their credential was sent, the outcome is known.
   */
  readonly movable: number;
  readonly mustReconnect: number;
  /** The part of `mustReconnect` whose credential the service has not accepted. */
  readonly mustReconnectNotCrossed: number;
  /**
   * Companies that had to reconnect but were left out, and whose credential the service has not accepted.
   */
  readonly leftOutUnauthorized: number;
  /** When the service was last asked whether end customers had reconnected; null if never. */
  readonly reconnectionsCheckedAt: string | null;
  /** Companies that were left out after the service had accepted their credential. */
  readonly leftOutAtService: number;
  /** When a company was claimed for the first time. A later claim of that company does not change it. */
  readonly firstStartedAt: string | null;
  readonly lastMovedAt: string | null;
  /**
   * How long at least one company was moving, from `firstStartedAt` to `lastMovedAt`. Milliseconds. Leaves out gaps of
   * more than a minute, for example while the window is closed, and moves that failed.
   */
  readonly movingMs: number;
  /** Hours from a company's confirmation to its move, during which its data was out of date. */
  readonly longestStaleHours: number | null;
  readonly medianStaleHours: number | null;
  /** Credentials that have not been deleted yet, in the vault or staged. */
  readonly credentialsLeft: number;
}

interface Row extends Omit<ReportFigures, 'firstStartedAt' | 'lastMovedAt' | 'reconnectionsCheckedAt'> {
  readonly reconnectionsCheckedAt: Date | null;
  readonly firstStartedAt: Date | null;
  readonly lastMovedAt: Date | null;
}

/** Computes the totals of a migration in one statement. */
export async function readFigures(db: Database, migrationId: string): Promise<ReportFigures> {
  const figures = await oneRow<Row>(db)`
    select
      count(*) filter (where crossed_at is not null) as crossed,
      count(*) filter (where crossed_at is null and (state in ('importing', 'outcome-unknown')
        -- Companies that were left out or are waiting again, if it is not known whether their token
        -- was used.
        or (sent_at is not null and failure is null))) as "crossingUnknown",
      count(*) filter (where crossed_at is null and state in ('waiting', 'failed')
        and (sent_at is null or failure is not null)) as movable,
      count(*) filter (where state = 'failed' and failure = 'reauthorization-required') as "mustReconnect",
      count(*) filter (where state = 'failed' and failure = 'reauthorization-required' and crossed_at is null)
        as "mustReconnectNotCrossed",
      count(*) filter (where state in ('skipped', 'excluded') and failure = 'reauthorization-required'
        and crossed_at is null) as "leftOutUnauthorized",
      (select reconnections_checked_at from migrations where id = ${migrationId}) as "reconnectionsCheckedAt",
      count(*) filter (where crossed_at is not null and state in ('skipped', 'excluded')) as "leftOutAtService",
      min(coalesce(first_claimed_at, claimed_at)) as "firstStartedAt",
      max(moved_at) as "lastMovedAt",
      -- The periods are rounded up to seconds, so the part could be longer than the whole.
      least(
        ${movingMs(sql`${migrationId}::text`, sql`'-infinity'::timestamptz`, sql`(select max(moved_at) from companies where migration_id = ${migrationId})`)},
        coalesce(extract(epoch from max(moved_at) - min(coalesce(first_claimed_at, claimed_at))) * 1000, 0)::float8) as "movingMs",
      max(stale_hours) as "longestStaleHours",
      percentile_cont(0.5) within group (order by stale_hours) as "medianStaleHours",
      (select count(*) from credentials where migration_id = ${migrationId})
        + (select count(*) from staged_credentials where migration_id = ${migrationId}) as "credentialsLeft"
    from (
      select *, greatest(authorization_sent_at, earlier_sent_at) as sent_at,
        (extract(epoch from moved_at - confirmed_at) / 3600)::float8 as stale_hours
      from companies where migration_id = ${migrationId}
    ) companies`;
  return {
    ...figures,
    firstStartedAt: figures.firstStartedAt?.toISOString() ?? null,
    lastMovedAt: figures.lastMovedAt?.toISOString() ?? null,
    reconnectionsCheckedAt: figures.reconnectionsCheckedAt?.toISOString() ?? null,
  };
}
