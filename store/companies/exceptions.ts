/** Exceptions: counts them, and applies the decisions about them (exclude, skip, retry, reconnect). */
import { sql } from 'kysely';
import type { IsolatedStop } from '../../domain/companies/failures';
import { RELINKABLE } from '../../domain/companies/remedies';
import type { Companies } from '../../domain/migration/decision';
import { oneRow, type Database } from '../database/database';
import { companiesWithCredentialState } from './claim';

/**
 * The condition for a deferred company. The company was tried at least twice, is still waiting because the service or
 * the platform deferred it, and is retried automatically.
 *
 * One try is enough if the next try is more than five minutes away. One try is also enough if the platform refused the
 * application, because then a retry does not help until the application is corrected.
 */
export const IS_DEFERRED = sql<boolean>`(
  state = 'waiting' and held_back is null and failure_text is not null
  and (tries >= 2 or failure is not null or not_before > clock_timestamp() + interval '5 minutes'))`;

/**
 * The condition for a waiting company that was tried before, and whose last try left no failure: a person has retried
 * the company, or its attempt was interrupted. The company is not an exception. It is tried again when a window is
 * open.
 */
export const IS_RETRIED = sql<boolean>`
  (state = 'waiting' and held_back is null and failure_text is null and tries > 0)`;

/**
 * The condition that a company needs attention: not moved, outcome unknown, deferred, or held back. Includes companies
 * that were deferred when the migration ended.
 */
export const IS_EXCEPTION = sql<boolean>`
  (state in ('failed', 'outcome-unknown') or (state = 'waiting' and held_back is not null) or ${IS_DEFERRED})`;

/**
 * The condition that a retry cannot help a company: it must reconnect, its credential counts as handed over, and it has
 * a link. `remediesFor` states the same rule for one company.
 */
const IS_RETRY_USELESS = sql<boolean>`
  (failure is not distinct from 'reauthorization-required' and crossed_at is not null and link_url is not null)`;

/** The condition for a waiting company that was tried before: deferred, retried or interrupted. */
export const WAS_TRIED = sql<boolean>`(state = 'waiting' and held_back is null and tries > 0)`;

/**
 * Returns the earliest time at which a deferred company is tried again; null if no company is deferred, or if each
 * deferred company lacks a confirmation or a credential that counts.
 */
export async function readNextTry(db: Database, migrationId: string): Promise<Date | null> {
  const { nextTryAt } = await oneRow<{ nextTryAt: Date | null }>(db)`
    select min(not_before) as "nextTryAt"
    from ${companiesWithCredentialState(sql`c.migration_id = ${migrationId} and c.confirmed_at is not null`)} companies
    where not lacks_credential and ${IS_DEFERRED}`;
  return nextTryAt;
}

export interface LeaveOutOptions {
  readonly migrationId: string;
  readonly companies: readonly string[];
  /**
   * `exclude` applies to waiting companies, `skip` to companies that were not moved, whose outcome is unknown, or that
   * wait for another try.
   */
  readonly as: 'exclude' | 'skip';
  readonly by: string;
  readonly reason: string;
}

/**
 * Leaves companies out of the migration. A company that is moving or has moved does not change.
 *
 * @returns the number of companies that were left out
 */
export async function leaveOutCompanies(
  db: Database,
  { migrationId, companies, as, by, reason }: LeaveOutOptions,
): Promise<number> {
  const isLeftOut =
    as === 'exclude' ? sql`state = 'waiting'` : sql`(state in ('failed', 'outcome-unknown') or ${WAS_TRIED})`;
  const { numAffectedRows } = await sql`
    update companies
    set state = ${as === 'exclude' ? 'excluded' : 'skipped'}, left_out_by = ${by}, left_out_reason = ${reason},
        relinking_since = null
    where migration_id = ${migrationId} and reference = any(${companies}) and ${isLeftOut}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Retries companies that were not moved, are deferred, or whose outcome is unknown: sets them to `waiting` and makes
 * their next try due now. Keeps their ids, so that the next attempt uses the company and the connection that already
 * exist at the service. Does not retry companies that must reconnect if a retry cannot help them.
 *
 * @param first the first company if the decision has requested it again (`requestFirstAgain`): it is retried even if it
 *   must reconnect; otherwise null
 * @returns the number of companies that are now waiting
 */
export async function retryCompanies(
  db: Database,
  migrationId: string,
  companies: Companies,
  first: string | null = null,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update companies
    set state = 'waiting', failure = null, failure_text = null, failure_accepted = false, not_before = null,
        relinking_since = null
    where migration_id = ${migrationId} and (state in ('failed', 'outcome-unknown') or ${IS_DEFERRED})
      and (not ${IS_RETRY_USELESS} or reference is not distinct from ${first}::text)
      and ${inCompanies(companies)}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Counts the companies that {@link retryCompanies} does not retry, because a retry cannot help them. */
export async function countRetryUseless(db: Database, migrationId: string): Promise<number> {
  const { companies } = await oneRow<{ companies: number }>(db)`
    select count(*) as companies from companies
    where migration_id = ${migrationId} and (state in ('failed', 'outcome-unknown') or ${IS_DEFERRED})
      and ${IS_RETRY_USELESS}`;
  return companies;
}

/**
 * Retries companies that were not moved, whose outcome is unknown, or that wait for another try, if their credential
 * has been replaced: sets them to `waiting` and makes their next try due now. Other companies do not change.
 *
 * @returns the number of companies that are now waiting
 */
export async function retryWithNewCredential(
  db: Database,
  migrationId: string,
  companies: readonly string[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    update companies c
    set state = 'waiting', failure = null, failure_text = null, failure_accepted = false, evidence = null,
        accepted = null, not_before = null, relinking_since = null
    from credentials v
    where c.migration_id = ${migrationId} and (c.state in ('failed', 'outcome-unknown') or ${WAS_TRIED})
      and c.reference = any(${companies})
      and v.migration_id = c.migration_id and v.row = c.row and v.supersedes and v.crossed_at is null`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Marks companies whose end customers were sent the link to reconnect. From now on, the activity `checkReconnected`
 * checks their connections, even if they do not have to reconnect. For `all`, marks only the companies for which this
 * is a remedy (`remediesFor`).
 *
 * @returns the number of marked companies
 */
export async function awaitRelink(
  db: Database,
  { migrationId, companies, at }: { readonly migrationId: string; readonly companies: Companies; readonly at: string },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update companies set relinking_since = ${at}::timestamptz
    where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown') and link_url is not null
      and case when ${companies === 'all'} then state = 'outcome-unknown' or failure = any(${RELINKABLE}) else true end
      and ${inCompanies(companies)}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export interface Failures {
  /** Companies in the states `failed` and `outcome-unknown` whose failure was not accepted by a resume. */
  readonly failed: number;
  /**
   * Companies whose move was attempted: those in the states `importing`, `moved`, `failed`, `syncing` and
   * `outcome-unknown`. Includes companies that are being imported, because refusals arrive sooner than successes.
   * Without them, the share of failures would be too high at first.
   */
  readonly tried: number;
  /** The companies that are not in `failed` because their failure was accepted when the migration was resumed. */
  readonly accepted: number;
}

/**
 * Counts failed companies, tried companies and accepted failures. A migration pauses if too many of the tried companies
 * have failed.
 *
 * @param limit maximum value of `tried`, at which counting stops; null for no maximum
 */
export async function countFailures(db: Database, migrationId: string, limit: number | null = null): Promise<Failures> {
  return oneRow<Failures>(db)`
    select
      failures.failed, failures.accepted,
      (select count(*) from (
        select from companies
        where migration_id = ${migrationId} and state in ('importing', 'moved', 'failed', 'syncing', 'outcome-unknown')
        limit ${limit}) counted) as tried
    from (
      select count(*) filter (where not failure_accepted) as failed, count(*) filter (where failure_accepted) as accepted
      from companies where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown')) failures`;
}

/** The number of equal failures in a row that shows that other companies would probably fail, too. */
const SERIES_LENGTH = 3;

/**
 * Returns whether several companies that were claimed one after another failed in the same way. Two are enough if no
 * other company can be moved.
 *
 * A company that is still being imported breaks the series, because it can still succeed, and refusals arrive sooner
 * than successes. Ignores failures that were accepted when the migration was resumed. Also ignores companies that
 * failed in this way after more than one try. Retries are claimed one after another, so they would look like a series
 * even if other companies were moved between the first attempts.
 */
export async function isFailureSeries(db: Database, migrationId: string, failure: IsolatedStop): Promise<boolean> {
  const { series, others } = await oneRow<{ series: number; others: number }>(db)`
    with tried as (
      select state, claimed_at,
        state in ('failed', 'waiting') and failure = ${failure} and not failure_accepted as failing
      from companies where migration_id = ${migrationId} and claimed_at is not null
        and not (tries > 1 and failure = ${failure})
    ), compared as (
      select failing, lag(failing, 1, false) over claims as second, lag(failing, 2, false) over claims as third
      from tried where failing or state in ('importing', 'syncing', 'moved')
      window claims as (order by claimed_at)
    )
    select
      coalesce((select max(case when not failing then 0 when not second then 1 when not third then 2 else 3 end)
        from compared), 0) as series,
      (select count(*) from companies where migration_id = ${migrationId} and (state = 'importing'
        or (state = 'waiting' and failure is null and confirmed_at is not null and held_back is null))) as others`;
  return series >= (others === 0 ? 2 : SERIES_LENGTH);
}

/** Companies that have failed for the same reason. */
interface Affected {
  readonly companies: number;
  /** References of the first three companies, in the manifest's order. */
  readonly references: readonly string[];
}

/** Returns the companies that have failed for this reason, except for failures that were accepted. */
export async function readAffected(db: Database, migrationId: string, failure: IsolatedStop): Promise<Affected> {
  return oneRow<Affected>(db)`
    with affected as (
      select row, reference from companies
      where migration_id = ${migrationId} and state in ('failed', 'waiting') and failure = ${failure}
        and not failure_accepted
    )
    select (select count(*) from affected) as companies,
      array(select reference from affected order by row limit 3) as "references"`;
}

/** Returns whether a company that must reconnect has a link, so that its end customer can reconnect it. */
export async function hasReconnectLink(db: Database, migrationId: string): Promise<boolean> {
  const { isFound } = await oneRow<{ isFound: boolean }>(db)`
    select exists (
      select from companies
      where migration_id = ${migrationId} and state = 'failed' and failure = 'reauthorization-required'
        and link_url is not null) as "isFound"`;
  return isFound;
}

/** Accepts all failures so far, so that they no longer count towards the limits on failures. */
export async function acceptFailures(db: Database, migrationId: string): Promise<void> {
  await sql`
    update companies set failure_accepted = true
    where migration_id = ${migrationId}
      and (state in ('failed', 'outcome-unknown') or (state = 'waiting' and failure is not null))`.execute(db);
}

function inCompanies(companies: Companies) {
  return companies === 'all' ? sql`true` : sql`reference = any(${companies})`;
}
