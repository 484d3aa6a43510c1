/** Totals of a migration for its report. */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import { queryOne } from '../database/database';

/** Times are ISO 8601, UTC. Null: no company has got that far. */
export interface ReportFigures {
  /** Companies whose credential the service has accepted. */
  readonly crossed: number;
  /** Companies whose credential was sent without a known outcome. */
  readonly crossingUnknown: number;
  readonly mustReconnect: number;
  readonly firstStartedAt: string | null;
  readonly lastMovedAt: string | null;
  /** Hours during which a company's data was out of date: from its confirmation to its move. */
  readonly longestDarkHours: number | null;
  readonly medianDarkHours: number | null;
  /** Credentials in the vault that are not erased yet. */
  readonly credentialsLeft: number;
}

interface Row extends Omit<ReportFigures, 'firstStartedAt' | 'lastMovedAt'> {
  readonly firstStartedAt: Date | null;
  readonly lastMovedAt: Date | null;
}

/** Computes the totals in one scan of the migration's companies. */
export async function readFigures(db: Database, migrationId: string): Promise<ReportFigures> {
  const figures = await queryOne(
    db,
    sql<Row>`
    select
      count(*) filter (where crossed_at is not null) as crossed,
      count(*) filter (where crossed_at is null and (state in ('importing', 'outcome-unknown')
        -- Given up, left out or waiting again before it was known whether the token had been used.
        or (authorization_sent_at is not null and failure is null))) as "crossingUnknown",
      count(*) filter (where state = 'failed' and failure = 'reauthorization-required') as "mustReconnect",
      min(claimed_at) as "firstStartedAt",
      max(moved_at) as "lastMovedAt",
      max(dark_hours) as "longestDarkHours",
      percentile_cont(0.5) within group (order by dark_hours) as "medianDarkHours",
      (select count(*) from credentials where migration_id = ${migrationId}) as "credentialsLeft"
    from (
      select *, (extract(epoch from moved_at - confirmed_at) / 3600)::float8 as dark_hours
      from companies where migration_id = ${migrationId}
    ) companies`,
  );
  return {
    ...figures,
    firstStartedAt: figures.firstStartedAt?.toISOString() ?? null,
    lastMovedAt: figures.lastMovedAt?.toISOString() ?? null,
  };
}
