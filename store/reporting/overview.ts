/** Progress and recent throughput of several migrations, for the dashboard. */
import { sql, type RawBuilder } from 'kysely';
import type { Throughput } from '../../domain/planning/throughput';
import type { LiveFigures } from '../../domain/progress/forecast';
import { companiesWithCredentialState } from '../companies/claim';
import { IS_DEFERRED, IS_EXCEPTION } from '../companies/exceptions';
import { allRows, oneRow, type Database } from '../database/database';
import { movingMs } from './moving-time';

/** The period in which throughput is measured. Long enough for a stable rate and short enough to show a change. */
const RECENT = sql`interval '10 minutes'`;

/** The number of companies that were moved in the period, as an aggregate over `companies`. */
const RECENTLY_MOVED = sql<number>`count(*) filter (where moved_at > clock_timestamp() - ${RECENT})`;

/** Returns how long companies of a migration were moving in the period, in milliseconds, as a scalar subquery. */
const recentPeriodMs = (migrationId: RawBuilder<unknown>): RawBuilder<number> =>
  movingMs(migrationId, sql`clock_timestamp() - ${RECENT}`);

/** Returns the recent throughput of a migration as a scalar subquery. */
export const throughputOf = (migrationId: string): RawBuilder<Throughput> => sql`(
  select json_build_object('moved', ${RECENTLY_MOVED}, 'withinMs', ${recentPeriodMs(sql`${migrationId}::text`)})
  from companies where migration_id = ${migrationId})`;

/** Reads the recent throughput of a migration. */
export async function readThroughput(db: Database, migrationId: string): Promise<Throughput> {
  const row = await oneRow<{ throughput: Throughput }>(db)`select ${throughputOf(migrationId)} as throughput`;
  return row.throughput;
}

/** Counts of one migration's companies. */
export interface Overview extends LiveFigures {
  readonly migrationId: string;
  readonly total: number;
  /** All companies that have moved. In contrast, `moved` counts only recent moves. */
  readonly movedInAll: number;
  /** Companies that were not moved, whose outcome is unknown, or that are deferred or held back. */
  readonly exceptions: number;
}

/** Counts the companies of several migrations in one statement. Omits migrations without companies. */
export async function readOverviews(db: Database, migrationIds: readonly string[]): Promise<readonly Overview[]> {
  if (migrationIds.length === 0) return [];
  return allRows<Overview>(db)`
    select migration_id as "migrationId", count(*) as total,
      count(*) filter (where state = 'moved') as "movedInAll",
      count(*) filter (where ${IS_EXCEPTION}) as exceptions,
      json_build_object(
        'waiting', count(*) filter (where state = 'waiting'),
        'importing', count(*) filter (where state = 'importing'),
        'syncing', count(*) filter (where state = 'syncing'),
        'outcomeUnknown', count(*) filter (where state = 'outcome-unknown'),
        'unconfirmed', count(*) filter (where state = 'waiting' and held_back is null and confirmed_at is null),
        'withoutCredential', count(*) filter (where state = 'waiting' and held_back is null
          and confirmed_at is not null and lacks_credential),
        'heldBack', count(*) filter (where state = 'waiting' and held_back is not null),
        'deferred', count(*) filter (where confirmed_at is not null and not lacks_credential and ${IS_DEFERRED}))
        as counts,
      ${RECENTLY_MOVED} as moved,
      ${recentPeriodMs(sql`companies.migration_id`)} as "withinMs"
    from ${companiesWithCredentialState(sql`c.migration_id = any(${migrationIds})`)} companies
    group by migration_id`;
}
