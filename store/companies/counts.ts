/** How many companies are where, and what is ahead of a run. */
import { sql } from 'kysely';
import type { Counts } from '../../domain/companies/company-state';
import type { Database } from '../database/database';
import { one } from '../database/database';
import { isClaimable, LACKS_CREDENTIAL, WINDOW_IS_OPEN } from './claimable';
import { SUPERSEDED } from './reclaim';

/** What a run has still before it, and when the next thing is due. Milliseconds from now; null: there is none. */
export interface RemainingWork {
  /** Somebody paused the migration: nothing can be claimed. */
  readonly paused: boolean;
  /** Companies could be claimed, were it not for the window, which is not open. */
  readonly heldByWindow: boolean;
  readonly importing: number;
  readonly syncing: number;
  readonly nextClaimInMs: number | null;
  readonly nextReclaimInMs: number | null;
  readonly nextCheckInMs: number | null;
}

export async function readRemainingWork(db: Database, migrationId: string): Promise<RemainingWork> {
  const ahead = await one(
    db,
    sql<RemainingWork>`
    with waiting as not materialized (
      select c.not_before from companies c
      join migrations m on m.id = c.migration_id
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and ${isClaimable()}
        and (not m.ramp_only or c.in_ramp)
        and ${WINDOW_IS_OPEN}
    ), held as (
      select c.state, c.next_check_at, case when ${SUPERSEDED} then clock_timestamp() else c.held_until end as held_until
      from companies c
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and c.state in ('importing', 'syncing')
    )
    select
      (select paused from migrations where id = ${migrationId}) as paused,
      (select not m.paused and not ${WINDOW_IS_OPEN} and exists (
          select from companies c
          join credentials v on v.migration_id = c.migration_id and v.row = c.row
          where c.migration_id = m.id and ${isClaimable()})
        from migrations m where m.id = ${migrationId}) as "heldByWindow",
      (select count(*) from held where state = 'importing') as importing,
      (select count(*) from held where state = 'syncing') as syncing,
      -- One that can be claimed now is soon found; all have to be looked at only where there is none.
      case when exists (select from waiting where not_before is null or not_before <= clock_timestamp()) then 0
        else ${msUntil(sql`(select min(not_before) from waiting)`)} end as "nextClaimInMs",
      ${msUntil(sql`(select min(held_until) from held where state = 'importing')`)} as "nextTakeOverInMs",
      ${msUntil(sql`(select min(next_check_at) from held where state = 'syncing')`)} as "nextCheckInMs"`,
  );
  const { nextClaimInMs, nextReclaimInMs: nextTakeOverInMs, nextCheckInMs } = ahead;
  return {
    ...ahead,
    nextClaimInMs: notNegative(nextClaimInMs),
    nextReclaimInMs: notNegative(nextTakeOverInMs),
    nextCheckInMs: notNegative(nextCheckInMs),
  };
}

/** Rounded up, so that whoever sleeps this long finds the thing due. */
const msUntil = (moment: ReturnType<typeof sql>): ReturnType<typeof sql> =>
  sql`ceil(extract(epoch from ${moment} - clock_timestamp()) * 1000)::float8`;

/** What is overdue is due now. Postgres's `greatest` would take null, which means never, for now as well. */
const notNegative = (ms: number | null): number | null => (ms === null ? null : Math.max(0, ms));

/** Companies without a wave go last. */
const NO_WAVE = 2_147_483_647;

/** Companies whose attempt died, or whose answer was lost, while they were importing. */
export interface Interrupted {
  readonly companies: number;
  /** Until then the credential of one of them may still be on its way; null: of none. */
  readonly onItsWayUntil: Date | null;
}

/**
 * Counts the interrupted companies: a newer attempt has begun than the one that holds them, the attempt said that it
 * does not know what became of them, or it holds them for too long.
 */
export async function countInterrupted(db: Database, migrationId: string): Promise<Interrupted> {
  return one(
    db,
    sql<Interrupted>`
    select count(*) as companies,
      max(c.held_until) filter (where c.authorization_sent_at is not null and c.held_until > clock_timestamp())
        as "onItsWayUntil"
    from companies c
    join migrations m on m.id = c.migration_id
    where c.migration_id = ${migrationId} and c.state = 'importing'
      and (c.failure_text is not null or c.held_until < clock_timestamp() or ${SUPERSEDED})`,
  );
}

/** How many companies are in which state. One scan of the migration's rows. */
export async function countCompanies(db: Database, migrationId: string): Promise<Counts> {
  return one(
    db,
    sql<Counts>`
    select
      count(*) as total,
      count(*) filter (where c.state = 'waiting' and c.held_back is null and c.confirmed_at is null) as unconfirmed,
      count(*) filter (where c.state = 'waiting' and c.held_back is null and c.confirmed_at is null
        and coalesce(c.wave, ${NO_WAVE}) = (
          select min(coalesce(wave, ${NO_WAVE})) from companies
          where migration_id = ${migrationId} and state <> 'excluded' and held_back is null))
        as "unconfirmedInFirstWave",
      count(*) filter (where c.state = 'waiting' and c.held_back is not null) as "heldBack",
      count(*) filter (where c.state = 'waiting' and c.held_back is null and c.confirmed_at is not null
        and ${LACKS_CREDENTIAL}) as "withoutCredential",
      count(*) filter (where c.state = 'waiting') as waiting,
      count(*) filter (where c.state = 'importing') as importing,
      count(*) filter (where c.state = 'syncing') as syncing,
      count(*) filter (where c.state = 'migrated') as migrated,
      count(*) filter (where c.state = 'failed') as failed,
      count(*) filter (where c.state = 'failed' and c.failure = 'reauthorization-required') as "mustReconnect",
      count(*) filter (where c.state = 'skipped') as skipped,
      count(*) filter (where c.state = 'excluded') as excluded,
      count(*) filter (where c.state = 'outcome-unknown') as "outcomeUnknown",
      encode(sha256(convert_to(string_agg(
        concat_ws(' ', c.row, c.state, c.failure), E'\\n' order by c.row)
        filter (where c.state in ('failed', 'skipped', 'excluded', 'outcome-unknown')), 'UTF8')), 'hex')
        as "exceptionsDigest"
    from companies c
    join migrations m on m.id = c.migration_id
    left join credentials v on v.migration_id = c.migration_id and v.row = c.row
    where c.migration_id = ${migrationId}`,
  );
}
