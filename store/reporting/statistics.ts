/** Statistics for the charts of a report. Their size does not depend on the number of companies. */
import { sql } from 'kysely';
import type { FailureKind } from '../../domain/companies/failures';
import { allRows, oneRow, type Database } from '../database/database';

/** Upper bounds of the buckets of the duration histogram, in milliseconds. A bound belongs to its bucket. */
export const DURATION_BOUNDS_MS = [
  1_000, 3_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 36_000_000, 86_400_000,
] as const;

export interface SlowCompany {
  readonly reference: string;
  readonly name: string;
  readonly tookMs: number;
}

export interface MigrationStatistics {
  /** Cumulative number of moved companies, in chronological order. `at` is ISO 8601, UTC. */
  readonly moved: readonly { readonly at: string; readonly companies: number }[];
  /** Upper bounds of the histogram's buckets, in milliseconds. A bound belongs to its bucket. */
  readonly durationBoundsMs: readonly number[];
  /** Companies in each bucket. There is one more bucket than there are bounds. */
  readonly durations: readonly number[];
  /** Median duration in milliseconds; null if no company was measured. */
  readonly medianMs: number | null;
  /** 95th percentile in milliseconds; null if no company was measured. */
  readonly p95Ms: number | null;
  /** Longest duration in milliseconds; null if no company was measured. */
  readonly longestMs: number | null;
  readonly slowest: readonly SlowCompany[];
  readonly failures: readonly { readonly kind: FailureKind; readonly companies: number }[];
}

/** Number of intervals of the curve, which can have one more point. More would not be visible. */
const CURVE_INTERVALS = 160;
const SLOWEST_COMPANIES = 8;

export async function readStatistics(db: Database, migrationId: string): Promise<MigrationStatistics> {
  const [moved, durations, slowest, failures] = await Promise.all([
    readMovedOverTime(db, migrationId),
    readDurations(db, migrationId),
    readSlowest(db, migrationId),
    countFailureKinds(db, migrationId),
  ]);
  return { moved, ...durations, slowest, failures };
}

async function readMovedOverTime(db: Database, migrationId: string): Promise<MigrationStatistics['moved']> {
  const { rows } = await sql<{ at: Date; companies: number }>`
    with moved as (
      select extract(epoch from moved_at)::float8 as seconds, moved_at from companies
      where migration_id = ${migrationId} and moved_at is not null and state = 'moved'
    ), bounds as (select min(seconds) as first, max(seconds) as last from moved)
    select max(moved_at) as at, sum(count(*)) over (order by max(moved_at))::bigint as companies
    from moved, bounds
    group by case when last > first then width_bucket(seconds, first, last, ${CURVE_INTERVALS}) else 1 end
    order by at`.execute(db);
  return rows.map(({ at, companies }) => ({ at: at.toISOString(), companies }));
}

/** Duration of a move in milliseconds: import plus sync, without waiting times. */
const DURATION_MS = sql<number>`(import_ms + coalesce(sync_ms, 0))`;
const MEASURED = sql<boolean>`state = 'moved' and import_ms is not null`;

async function readDurations(
  db: Database,
  migrationId: string,
): Promise<Pick<MigrationStatistics, 'durations' | 'durationBoundsMs' | 'medianMs' | 'p95Ms' | 'longestMs'>> {
  const { rows: buckets } = await sql<{ bucket: number; companies: number }>`
    select width_bucket((${DURATION_MS} - 1)::float8, ${[...DURATION_BOUNDS_MS]}::float8[]) as bucket, count(*) as companies
    from companies where migration_id = ${migrationId} and ${MEASURED} group by bucket`.execute(db);
  const quantiles = await oneRow<Pick<MigrationStatistics, 'medianMs' | 'p95Ms' | 'longestMs'>>(db)`
    select percentile_disc(0.5) within group (order by ${DURATION_MS}) as "medianMs",
      percentile_disc(0.95) within group (order by ${DURATION_MS}) as "p95Ms", max(${DURATION_MS}) as "longestMs"
    from companies where migration_id = ${migrationId} and ${MEASURED}`;
  const counts = new Map(buckets.map(({ bucket, companies }) => [bucket, companies]));
  return {
    durationBoundsMs: DURATION_BOUNDS_MS,
    durations: Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, (_, bucket) => counts.get(bucket) ?? 0),
    ...quantiles,
  };
}

async function readSlowest(db: Database, migrationId: string): Promise<readonly SlowCompany[]> {
  return allRows<SlowCompany>(db)`
    select reference, name, ${DURATION_MS} as "tookMs" from companies
    where migration_id = ${migrationId} and ${MEASURED}
    order by ${DURATION_MS} desc, row limit ${SLOWEST_COMPANIES}`;
}

/** Counts failures by kind. Includes skipped companies, because they keep their failure. */
async function countFailureKinds(db: Database, migrationId: string): Promise<MigrationStatistics['failures']> {
  return allRows<{ kind: FailureKind; companies: number }>(db)`
    select failure as kind, count(*) as companies from companies
    where migration_id = ${migrationId} and state in ('failed', 'skipped') and failure is not null
    group by failure order by companies desc, failure`;
}
