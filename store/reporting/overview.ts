/** How far several migrations are, and how fast they were lately: what a screen of many of them shows of the ledger. */
import { sql } from 'kysely';
import type { Throughput } from '../../domain/planning/throughput';
import type { Database } from '../database/database';

/** So far back is lately: long enough for a rate, short enough to notice a change. */
const LATELY = sql`interval '10 minutes'`;

/** One migration's companies, counted. */
export interface Overview extends Throughput {
  readonly migrationId: string;
  readonly total: number;
  /** With a final outcome, good or bad. */
  readonly done: number;
  /** Companies that were not moved, or cannot be, as long as nobody does something about them. */
  readonly exceptions: number;
}

/** One scan of the rows of these migrations. One that has no rows is left out. */
export async function readOverviews(db: Database, migrationIds: readonly string[]): Promise<readonly Overview[]> {
  if (migrationIds.length === 0) return [];
  const { rows } = await sql<Overview>`
    select migration_id as "migrationId", count(*) as total,
      count(*) filter (where state in ('migrated', 'failed', 'skipped', 'excluded')) as done,
      count(*) filter (where state in ('failed', 'outcome-unknown')
        or (state = 'waiting' and held_back is not null)) as exceptions,
      count(*) filter (where moved_at > clock_timestamp() - ${LATELY}) as moved,
      -- From when the first of them was begun: a run that has just started is as fast as it is.
      coalesce(extract(epoch from least(${LATELY},
        clock_timestamp() - min(claimed_at) filter (where moved_at > clock_timestamp() - ${LATELY}))) * 1000, 0)::float8
        as "withinMs"
    from companies
    where migration_id = any(${migrationIds})
    group by migration_id`.execute(db);
  return rows;
}
