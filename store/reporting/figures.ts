/** What the ledger knows of a migration as a whole: for its report. */
import { sql } from 'kysely';
import type { Database } from '../database/database';

/** What the ledger says of the migration as a whole. Times are ISO 8601, UTC. */
export interface Figures {
  /** Companies of which the service holds a grant. */
  readonly crossed: number;
  /** Companies of which nobody knows yet whether it does. */
  readonly crossingUnknown: number;
  readonly mustReconnect: number;
  readonly firstStartedAt: string | null;
  readonly lastMovedAt: string | null;
  /** From a company's freeze to its move, for those that were moved; null: none was. */
  readonly longestDarkHours: number | null;
  readonly medianDarkHours: number | null;
  /** Credentials that are still in the vault. */
  readonly credentialsLeft: number;
}

interface Row extends Omit<Figures, 'firstStartedAt' | 'lastMovedAt'> {
  readonly firstStartedAt: Date | null;
  readonly lastMovedAt: Date | null;
}

/** One scan of the migration's rows. */
export async function readFigures(db: Database, migrationId: string): Promise<Figures> {
  const { rows } = await sql<Row>`
    select
      count(*) filter (where crossed_at is not null) as crossed,
      count(*) filter (where crossed_at is null and (state in ('importing', 'outcome-unknown')
        -- Given up, left out, or waiting again, before it was known whether its token had been used.
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
    ) companies`.execute(db);
  const [figures] = rows;
  if (!figures) throw new Error('an aggregate always gives one row');
  return {
    ...figures,
    firstStartedAt: figures.firstStartedAt?.toISOString() ?? null,
    lastMovedAt: figures.lastMovedAt?.toISOString() ?? null,
  };
}
