/** What people settle about companies that are not moved: left out, given up, tried again. */
import { sql } from 'kysely';
import type { Companies } from '../../domain/migration/decision';
import type { Database } from '../database/database';
import { one } from '../database/database';

export interface LeaveOutOptions {
  readonly migrationId: string;
  readonly companies: readonly string[];
  /** `exclude` before the crossing, `skip` after a failure. */
  readonly as: 'exclude' | 'skip';
  readonly by: string;
  readonly reason: string;
}

/**
 * Companies that are not moved at all. One that is being moved, or was, stays as it is.
 *
 * @returns how many are left out by this, as each of these says of how many it was done
 */
export async function leaveOutCompanies(
  db: Database,
  { migrationId, companies, as, by, reason }: LeaveOutOptions,
): Promise<number> {
  const from = as === 'exclude' ? ['waiting'] : ['failed', 'outcome-unknown'];
  const { numAffectedRows } = await sql`
    update companies
    set state = ${as === 'exclude' ? 'excluded' : 'skipped'}, settled_by = ${by}, settled_reason = ${reason},
        relinking_since = null
    where migration_id = ${migrationId} and reference = any(${companies}) and state = any(${from})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Companies that have failed wait to be moved again. What is known of them at the service is kept, and looked at first. */
export async function retryCompanies(db: Database, migrationId: string, companies: Companies): Promise<number> {
  const { numAffectedRows } = await sql`
    update companies
    set state = 'waiting', failure = null, failure_text = null, failure_accepted = false, not_before = null,
        relinking_since = null
    where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown') and ${named(companies)}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Companies that were not moved wait to be moved with the credential that has replaced the old one; those without a new
 * one stay as they are.
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
    where c.migration_id = ${migrationId} and c.state in ('failed', 'outcome-unknown')
      and c.reference = any(${companies})
      and v.migration_id = c.migration_id and v.row = c.row and v.supersedes and v.crossed_at is null`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** The end customers of these companies have been given their link: whether they have used it is looked at from now on. */
export async function awaitRelink(
  db: Database,
  { migrationId, companies, at }: { readonly migrationId: string; readonly companies: Companies; readonly at: string },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update companies set relinking_since = ${at}::timestamptz
    where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown') and link_url is not null
      and ${named(companies)}`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export interface Failures {
  /** Companies that were not moved, or of which nobody knows, beyond those that support has accepted. */
  readonly failed: number;
  /** Companies about which something final is known, and those that sync. */
  readonly tried: number;
}

/** @param enough more than so many that were tried are not counted: the rest makes no difference to whoever asks */
export async function countFailures(
  db: Database,
  migrationId: string,
  enough: number | null = null,
): Promise<Failures> {
  return one(
    db,
    sql<Failures>`
    select
      (select count(*) from companies
        where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown') and not failure_accepted)
        as failed,
      (select count(*) from (
        select from companies
        where migration_id = ${migrationId} and state in ('migrated', 'failed', 'syncing', 'outcome-unknown')
        limit ${enough}) counted) as tried`,
  );
}

/** What has failed until now no longer counts against what is tolerated. */
export async function acceptFailures(db: Database, migrationId: string): Promise<void> {
  await sql`
    update companies set failure_accepted = true
    where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown')`.execute(db);
}

export interface RelinkingCompany {
  readonly row: number;
  readonly companyId: string;
  readonly connectionId: string;
}

/** Companies that wait for their end customer to connect again. */
export async function readRelinking(db: Database, migrationId: string): Promise<readonly RelinkingCompany[]> {
  const { rows } = await sql<RelinkingCompany>`
    select row, company_id as "companyId", connection_id as "connectionId" from companies
    where migration_id = ${migrationId} and state in ('failed', 'outcome-unknown') and relinking_since is not null
      and connection_id is not null
    order by row`.execute(db);
  return rows;
}

/** The end customer has connected again: the company syncs, and is verified like any other. */
export async function recordRelinked(db: Database, migrationId: string, row: number): Promise<void> {
  await sql`
    update companies
    set state = 'syncing', failure = null, failure_text = null, failure_accepted = false, accepted = null,
        relinking_since = null, checks = 0,
        crossed_at = coalesce(crossed_at, clock_timestamp()),
        sync_started_at = clock_timestamp(), next_check_at = clock_timestamp()
    where migration_id = ${migrationId} and row = ${row} and state in ('failed', 'outcome-unknown')`.execute(db);
}

/** The service no longer has the connection that the end customer was to use: its link leads nowhere. */
export async function giveUpRelinking(db: Database, migrationId: string, row: number, why: string): Promise<void> {
  await db
    .updateTable('companies')
    .set({ relinking_since: null, link_url: null, failure_text: why })
    .where('migration_id', '=', migrationId)
    .where('row', '=', row)
    .where('relinking_since', 'is not', null)
    .execute();
}

function named(companies: Companies) {
  return companies === 'all' ? sql`true` : sql`reference = any(${companies})`;
}
