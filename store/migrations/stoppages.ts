/**
 * Stoppages: the times in which a migration moved no companies, although no person had decided that. The workflow
 * forgets them when they are over, so the ledger keeps them for the audit trail and the handover report.
 *
 * - A pause. A slice reports why the migration must pause. The stoppage begins when the migration pauses, and ends when
 *   support resumes it (in the self-service route, support or the client).
 * - An outage. A slice or a probe reports that no call gets through. The outage is dated from the moment at which the
 *   work on the first deferred company began, so it can begin a few seconds too early. It ends when the service
 *   responds again, or a company gets through. It also ends when no moves are due any more: a batch run finishes, a
 *   person pauses the migration, the migration pauses itself, or a person rejects a step or chooses another first
 *   company. If the service or the platform fails again within a minute, that counts as the same outage, because a
 *   server that recovers often fails again.
 *
 * Both end at the latest when the migration is closed.
 */
import { sql } from 'kysely';
import { stopNumbersIn, stopReasonText, type OutageSource, type StopReason } from '../../domain/companies/failures';
import type { RecordedStoppage } from '../../domain/migration/stoppage';
import type { Database, Queryable } from '../database/database';

/** Selects the migration if it has not ended. The lock waits for a transaction that is closing or pausing it. */
const OPEN_MIGRATION = (migrationId: string) =>
  sql`select paused from migrations where id = ${migrationId} and ending is null for share`;

/** Why a migration must pause. */
export interface ReportedStop {
  readonly stop: StopReason;
  /** The failure rate or the companies that led to the stop, as text for people; null if neither did. */
  readonly numbers: string | null;
}

/**
 * Records why the migration must pause. If several slices report a reason, keeps the last one. Records nothing while
 * the migration is paused for the same reason, even if the numbers differ.
 */
export async function reportStop(db: Queryable, migrationId: string, { stop, numbers }: ReportedStop): Promise<void> {
  const why = stopReasonText(stop, numbers);
  await sql`
    insert into stoppages (migration_id, kind, stop, why)
    select ${migrationId}, 'pause', ${stop}, ${why}
    where not exists (
      -- A slice that finds too many failures pauses the migration itself. Other slices report it with other numbers.
      select from stoppages
      where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null
        and stop = ${stop})
    on conflict (migration_id) where kind = 'pause' and began_at is null
      do update set stop = excluded.stop, why = excluded.why`.execute(db);
}

/**
 * Records that the migration has paused itself, for the reported reason. If none was reported and no pause is recorded,
 * the reason is unknown: a worker of an earlier version found it. Changes nothing if the migration has ended.
 */
export async function beginPause(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    with open as (${OPEN_MIGRATION(migrationId)}),
    begun as (
      update stoppages reported set began_at = clock_timestamp()
      where migration_id = ${migrationId} and kind = 'pause' and began_at is null and exists (select from open)
        -- A slice can report a stop at the moment at which the migration pauses for the same reason.
        and not exists (
          select from stoppages
          where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null
            and stop = reported.stop)
      returning position)
    insert into stoppages (migration_id, kind, why, began_at)
    select ${migrationId}, 'pause', 'the reason was not recorded', clock_timestamp()
    where not exists (select from begun)
      and exists (select from open)
      and not exists (
        select from stoppages
        where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null)`.execute(
    db,
  );
}

/** Returns the recorded reason of the oldest automatic pause that has not ended; null if there is none. */
export async function readOpenPause(db: Queryable, migrationId: string): Promise<ReportedStop | null> {
  const { rows } = await sql<{ stop: StopReason; why: string }>`
    select stop, why from stoppages
    where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null
      and stop is not null
    order by position limit 1`.execute(db);
  return rows[0] ? { stop: rows[0].stop, numbers: stopNumbersIn(rows[0].why, rows[0].stop) } : null;
}

/** Builds the condition that the migration has paused itself for this reason, and that the pause has not ended. */
export function isPausedFor(migrationId: string, stop: StopReason) {
  return sql<boolean>`exists (
    select from stoppages
    where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null
      and stop = ${stop})`;
}

/** An outage that a slice or a probe reports. */
export interface ReportedOutage {
  readonly why: string;
  readonly source: OutageSource;
  /** How long no call has got through, in milliseconds. Default: 0. */
  readonly sinceMs?: number;
}

/**
 * Records that no call gets through. While an outage is already recorded, adds no other, but updates the time of the
 * latest report if the source is the same.
 *
 * Changes nothing once the migration has ended, or while it is paused: slices then still verify syncing companies and
 * can report an outage, but the pause stops the moves.
 */
export async function beginOutage(
  db: Queryable,
  migrationId: string,
  { why, source, sinceMs = 0 }: ReportedOutage,
): Promise<void> {
  await sql`
    with open as (${OPEN_MIGRATION(migrationId)}),
    again as (
      update stoppages set ended_at = null, reported_at = clock_timestamp()
      where position = (
        select max(position) from stoppages where migration_id = ${migrationId} and kind = 'outage')
        and ended_at > clock_timestamp() - ${sinceMs} * interval '1 millisecond' - interval '1 minute'
        and source = ${source} and exists (select from open where not paused)
      returning position)
    insert into stoppages (migration_id, kind, source, why, began_at)
    -- An outage does not begin before the end of the previous one.
    select ${migrationId}, 'outage', ${source}, ${why}, greatest(
      clock_timestamp() - ${sinceMs} * interval '1 millisecond',
      (select max(ended_at) from stoppages where migration_id = ${migrationId} and kind = 'outage'))
    where exists (select from open where not paused) and not exists (select from again)
    on conflict (migration_id) where kind = 'outage' and ended_at is null
      do update set reported_at = clock_timestamp() where stoppages.source = excluded.source`.execute(db);
}

/** Which outage is over. */
export interface EndedOutage {
  /** Ends only an outage of this source; default: of either. */
  readonly source?: OutageSource;
  /** Ends only an outage that was reported at least so many milliseconds ago; default: 0. */
  readonly reportedBeforeMs?: number;
}

/** Records that the outage is over. */
export async function endOutage(
  db: Queryable,
  migrationId: string,
  { source, reportedBeforeMs = 0 }: EndedOutage = {},
): Promise<void> {
  await sql`
    update stoppages set ended_at = clock_timestamp()
    where migration_id = ${migrationId} and kind = 'outage' and ended_at is null
      and (${source ?? null}::text is null or source = ${source ?? null})
      and reported_at <= clock_timestamp() - ${reportedBeforeMs} * interval '1 millisecond'`.execute(db);
}

/** Records that the automatic pauses have been lifted. */
export async function endPause(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    update stoppages set ended_at = clock_timestamp()
    where migration_id = ${migrationId} and kind = 'pause' and began_at is not null and ended_at is null`.execute(db);
}

/** Lists the stoppages of a migration, oldest first. */
export async function readStoppages(db: Database, migrationId: string): Promise<readonly RecordedStoppage[]> {
  const rows = await db
    .selectFrom('stoppages')
    .select(['kind', 'stop', 'source', 'why', 'began_at', 'ended_at'])
    .where('migration_id', '=', migrationId)
    .orderBy('began_at')
    .orderBy('position')
    .execute();
  return rows.flatMap(({ began_at: beganAt, ended_at: endedAt, ...row }) =>
    beganAt === null ? [] : [{ ...row, beganAt: beganAt.toISOString(), endedAt: endedAt?.toISOString() ?? null }],
  );
}
