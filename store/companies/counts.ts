/** Counts companies: by state, remaining in a run, interrupted, and next to move. */
import { sql } from 'kysely';
import type { Counts } from '../../domain/companies/counts';
import type { NextCompanies } from '../../domain/progress/go-nogo-facts';
import { throughputOf } from '../reporting/overview';
import { oneRow, type Database } from '../database/database';
import { IS_DEFERRED, IS_RETRIED } from './exceptions';
import { isDue, isReadyToMove, LACKS_CREDENTIAL, WINDOW_IS_OPEN } from './claim';
import { IS_INTERRUPTED, SUPERSEDED } from './lease';
import { dependsOnReplaced } from '../migrations/applications';
import { markOf } from '../migrations/ledger-mark';

/**
 * The remaining work of a migration, and when the next work of each kind is due. Times are milliseconds from now, or
 * null if there is no work of that kind. Omits claims that the window or the ramp does not allow yet.
 */
export interface RemainingWork {
  /** True if the migration is paused, so that no company can be claimed. */
  readonly paused: boolean;
  /** True if claims are restricted to the companies of the ramp. */
  readonly rampOnly: boolean;
  /** True if the window is closed, the migration is not paused, and companies are ready to move. */
  readonly outsideWindow: boolean;
  readonly importing: number;
  readonly syncing: number;
  readonly nextClaimInMs: number | null;
  readonly nextReclaimInMs: number | null;
  readonly nextCheckInMs: number | null;
}

export async function readRemainingWork(db: Database, migrationId: string): Promise<RemainingWork> {
  const remaining = await oneRow<RemainingWork>(db)`
    with waiting as not materialized (
      select c.not_before from companies c
      join migrations m on m.id = c.migration_id
      join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and ${isReadyToMove()}
        and (not m.ramp_only or c.in_ramp)
        and ${WINDOW_IS_OPEN}
    ), held as (
      select c.state, c.next_check_at, case when ${SUPERSEDED} then clock_timestamp() else c.lease_ends_at end as lease_ends_at
      from companies c
      join migrations m on m.id = c.migration_id
      where c.migration_id = ${migrationId} and c.state in ('importing', 'syncing')
    )
    select
      (select paused from migrations where id = ${migrationId}) as paused,
      (select ramp_only from migrations where id = ${migrationId}) as "rampOnly",
      (select not m.paused and not ${WINDOW_IS_OPEN} and exists (
          select from companies c
          join credentials v on v.migration_id = c.migration_id and v.row = c.row
          where c.migration_id = m.id and ${isReadyToMove()})
        from migrations m where m.id = ${migrationId}) as "outsideWindow",
      (select count(*) from held where state = 'importing') as importing,
      (select count(*) from held where state = 'syncing') as syncing,
      -- Postgres stops at the first company that can be claimed now. It reads all companies only if there is none.
      case when exists (select from waiting where ${isDue('not_before')}) then 0
        else ${msUntil(sql`(select min(not_before) from waiting)`)} end as "nextClaimInMs",
      ${msUntil(sql`(select min(lease_ends_at) from held where state = 'importing')`)} as "nextReclaimInMs",
      ${msUntil(sql`(select min(case when ${isDue('next_check_at')} then clock_timestamp() else next_check_at end)
        from held where state = 'syncing')`)} as "nextCheckInMs"`;
  const { nextClaimInMs, nextReclaimInMs, nextCheckInMs } = remaining;
  return {
    ...remaining,
    nextClaimInMs: notNegative(nextClaimInMs),
    nextReclaimInMs: notNegative(nextReclaimInMs),
    nextCheckInMs: notNegative(nextCheckInMs),
  };
}

/** Builds the SQL for the milliseconds until a moment. Rounds up, so that work is due after such a sleep. */
const msUntil = (moment: ReturnType<typeof sql>): ReturnType<typeof sql> =>
  sql`ceil(extract(epoch from ${moment} - clock_timestamp()) * 1000)::float8`;

/** Returns 0 for overdue work and keeps null. Postgres's `greatest` would turn null into 0. */
const notNegative = (ms: number | null): number | null => (ms === null ? null : Math.max(0, ms));

/** Replaces the wave of companies without a wave when waves are compared, because these companies move last. */
const NO_WAVE = 2_147_483_647;

/** Importing companies whose attempt has died, was superseded, or did not receive the service's response. */
export interface Interrupted {
  readonly companies: number;
  /** The time after which no request for these companies can be in flight; null if none can be in flight now. */
  readonly inFlightUntil: Date | null;
}

/** Counts companies whose attempt was superseded or does not know the outcome, or whose lease has expired. */
export async function countInterrupted(db: Database, migrationId: string): Promise<Interrupted> {
  return oneRow<Interrupted>(db)`
    select count(*) as companies,
      max(c.lease_ends_at) filter (where c.authorization_sent_at is not null and c.lease_ends_at > clock_timestamp())
        as "inFlightUntil"
    from companies c
    join migrations m on m.id = c.migration_id
    where c.migration_id = ${migrationId} and c.state = 'importing'
      and ${IS_INTERRUPTED}`;
}

/** Counts companies by state, in one statement. */
export async function countCompanies(db: Database, migrationId: string): Promise<Counts> {
  return oneRow<Counts>(db)`${countsOf(migrationId)}`;
}

/** Counts companies by state. Reads the ledger's mark in the same statement, so that the counts match the mark. */
export async function countWithMark(db: Database, migrationId: string): Promise<Counts> {
  return oneRow<Counts>(db)`
    select counts.*, ${markOf(migrationId)} as "ledgerMark" from (${countsOf(migrationId)}) counts`;
}

/**
 * Counts companies and reads the mark as `countWithMark` does. Also measures the recent throughput, and counts the
 * companies that depend on a replaced application.
 */
export async function countWithThroughput(db: Database, migrationId: string): Promise<Counts> {
  return oneRow<Counts>(db)`
    select counts.*, ${markOf(migrationId)} as "ledgerMark",
      ${throughputOf(migrationId)} as throughput,
      (select count(*) from companies
        where migration_id = ${migrationId} and ${dependsOnReplaced(migrationId)})
        as "replacedApplication"
    from (${countsOf(migrationId)}) counts`;
}

/** The condition `IS_RETRIED` for company `c`, if it needs nothing else. `v` is its credential. */
const RETRIED = sql`(c.confirmed_at is not null and not ${LACKS_CREDENTIAL} and (
  select ${IS_RETRIED} from (values (c.state, c.held_back, c.failure_text, c.tries))
    as retry (state, held_back, failure_text, tries)))`;

/** The condition that company `c` is waiting, and needs a confirmation. */
const UNCONFIRMED = sql`(c.state = 'waiting' and c.held_back is null and c.confirmed_at is null)`;

/** The condition that company `c` is waiting and confirmed, and needs the credential `v`. */
const WITHOUT_CREDENTIAL = sql`(
  c.state = 'waiting' and c.held_back is null and c.confirmed_at is not null and ${LACKS_CREDENTIAL})`;

function countsOf(migrationId: string) {
  const isUnconfirmedInNextWave = sql`${UNCONFIRMED} and coalesce(c.wave, ${NO_WAVE}) = (
      select min(coalesce(wave, ${NO_WAVE})) from companies
      where migration_id = ${migrationId} and state = 'waiting' and held_back is null and confirmed_at is null)`;
  return sql<Counts>`
    select
      count(*) as total,
      count(*) filter (where ${UNCONFIRMED}) as unconfirmed,
      count(*) filter (where ${UNCONFIRMED} and coalesce(c.wave, ${NO_WAVE}) = (
          select min(coalesce(wave, ${NO_WAVE})) from companies
          where migration_id = ${migrationId} and state <> 'excluded' and held_back is null))
        as "unconfirmedInFirstWave",
      count(*) filter (where ${isUnconfirmedInNextWave}) as "unconfirmedInNextWave",
      count(*) filter (where ${isUnconfirmedInNextWave} and (m.rotating or v.row is null))
        as "lackingCredentialInNextWave",
      count(*) filter (where c.state = 'waiting' and c.held_back is not null) as "heldBack",
      count(*) filter (where ${WITHOUT_CREDENTIAL}) as "withoutCredential",
      (array_agg(c.reference order by c.row) filter (where ${WITHOUT_CREDENTIAL}))[1:5] as "firstWithoutCredential",
      count(*) filter (where c.state = 'waiting') as waiting,
      count(*) filter (where c.state = 'waiting' and (c.crossed_at is not null or c.authorization_sent_at is not null
        or c.earlier_sent_at is not null)) as "waitingAgain",
      count(*) filter (where c.state = 'waiting' and c.confirmed_at is not null and not ${LACKS_CREDENTIAL} and (
        select ${IS_DEFERRED}
        from (values (c.state, c.held_back, c.failure_text, c.tries, c.failure, c.not_before))
          as deferral (state, held_back, failure_text, tries, failure, not_before))) as deferred,
      count(*) filter (where ${RETRIED}) as retried,
      (array_agg(c.reference order by c.row) filter (where ${RETRIED}))[1:5] as "firstRetried",
      count(*) filter (where c.state = 'importing') as importing,
      count(*) filter (where c.state = 'syncing') as syncing,
      count(*) filter (where c.state = 'moved') as moved,
      count(*) filter (where c.state = 'failed') as failed,
      count(*) filter (where c.state = 'failed' and c.failure = 'reauthorization-required') as "mustReconnect",
      count(*) filter (where c.state = 'failed' and c.relinking_since is not null) as relinked,
      count(*) filter (where c.state = 'skipped') as skipped,
      count(*) filter (where c.state = 'excluded') as excluded,
      count(*) filter (where c.state = 'outcome-unknown') as "outcomeUnknown",
      (array_agg(c.reference order by c.row) filter (where c.state in ('failed', 'skipped', 'excluded')))[1:5]
        as "firstNotMoved",
      encode(sha256(convert_to(string_agg(
        concat_ws(' ', c.row, c.state, c.failure), E'\\n' order by c.row)
        filter (where c.state in ('failed', 'skipped', 'excluded', 'outcome-unknown')), 'UTF8')), 'hex')
        as "exceptionsDigest"
    from companies c
    join migrations m on m.id = c.migration_id
    left join credentials v on v.migration_id = c.migration_id and v.row = c.row
    where c.migration_id = ${migrationId}`;
}

export interface NextCompaniesReadiness {
  readonly next: NextCompanies;
  /** Waiting companies that are not held back and do not exist at the service yet. */
  readonly toCreate: number;
}

/**
 * Counts the confirmations and credentials that the companies of the next wave still lack, for the go/no-go check
 * before a window opens. Omits companies that are held back.
 */
export async function readNextCompanies(db: Database, migrationId: string): Promise<NextCompaniesReadiness> {
  const ready = await oneRow<Omit<NextCompanies, 'oldestCredentialAt'> & { oldestAt: Date | null; toCreate: number }>(
    db,
  )`
    with waiting as (
      select c.row, c.reference, coalesce(c.wave, ${NO_WAVE}) as wave, c.company_id, c.confirmed_at, v.obtained_at,
        ${LACKS_CREDENTIAL} as lacks_credential
      from companies c
      join migrations m on m.id = c.migration_id
      left join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and c.state = 'waiting' and c.held_back is null
    ), next as (
      select coalesce(min(wave) filter (where confirmed_at is not null and not lacks_credential), min(wave)) as wave
      from waiting
    ), ready as (
      select waiting.*, waiting.wave = next.wave as goes_next,
        waiting.wave = next.wave and confirmed_at is not null and lacks_credential as lacks_it,
        waiting.wave < next.wave as is_left_behind
      from waiting, next
    )
    select
      nullif(min(wave) filter (where goes_next), ${NO_WAVE}) as wave,
      count(*) filter (where goes_next) as companies,
      count(*) filter (where goes_next and confirmed_at is null) as unconfirmed,
      count(*) filter (where lacks_it) as "withoutCredential",
      coalesce((array_agg(reference order by row) filter (where lacks_it))[1:5], '{}') as "firstWithoutCredential",
      count(*) filter (where is_left_behind) as "leftBehind",
      coalesce((array_agg(reference order by row) filter (where is_left_behind))[1:5], '{}') as "firstLeftBehind",
      min(obtained_at) filter (where goes_next and not lacks_credential) as "oldestAt",
      count(*) filter (where company_id is null) as "toCreate"
    from ready`;
  const { oldestAt, toCreate, ...next } = ready;
  return { next: { ...next, oldestCredentialAt: oldestAt?.toISOString() ?? null }, toCreate };
}
