/**
 * Writes the outcomes of imports and checks to the ledger.
 *
 * An import outcome is written only if the attempt still owns the row (lease.ts). A check needs no lease, because
 * checking a company twice does no harm. The first check that ends a company's sync decides the company's outcome.
 */
import { sql } from 'kysely';
import type { Evidence, ServiceAnswer, SyncSchedule } from '../../domain/companies/evidence';
import { LONGEST_WAIT_MS } from '../../domain/companies/call-failure';
import type { FailureKind } from '../../domain/companies/failures';
import type { MigrationLimits } from '../../domain/planning/limits';
import { allRows, oneRow, type Database } from '../database/database';
import { isDue } from './claim';
import { inRows, inState } from './companies';
import { leaseOwnerName, type LeaseOwner } from './lease';

/** The company and the connection that the service has for a row. A field is absent if its value is not known yet. */
export interface ServiceRefs {
  readonly companyId?: string;
  readonly connectionId?: string;
  readonly storedName?: string;
  readonly linkUrl?: string;
  readonly correlationId?: string;
  /** True if the credential counts as handed over. From then on, only the service may refresh it. */
  readonly crossed?: boolean;
  /** The response with which the service accepted the credential. */
  readonly accepted?: ServiceAnswer;
  /** True if the service no longer has the company, so that its ids are cleared. */
  readonly isGone?: true;
}

/** The outcome of the import of one claimed company. */
export type ImportOutcome = { readonly row: number; readonly refs: ServiceRefs } & (
  | { readonly to: 'syncing'; readonly firstCheckInMs: number }
  /** `text`: why it was deferred; null if cancelled. `failure`: only if the platform refused the application. */
  | {
      readonly to: 'waiting';
      readonly retryInMs: number;
      readonly text: string | null;
      readonly failure?: FailureKind;
    }
  | { readonly to: 'failed'; readonly failure: FailureKind; readonly text: string }
  | { readonly to: 'outcome-unknown'; readonly text: string }
  /** It is unclear whether the credential was used. The row keeps its owner and its lease until it can be reclaimed. */
  | { readonly to: 'importing'; readonly text: string }
);

/**
 * Writes the import outcomes of companies that this attempt still owns. Ignores the outcomes of other companies.
 *
 * @returns the current limits, so that the next claim need not read them in a separate statement
 */
export async function recordImports(
  db: Database,
  owner: LeaseOwner,
  outcomes: readonly ImportOutcome[],
): Promise<MigrationLimits> {
  const rows = outcomes.map((outcome) => ({
    row: outcome.row,
    state: outcome.to,
    company_id: outcome.refs.companyId ?? null,
    connection_id: outcome.refs.connectionId ?? null,
    stored_name: outcome.refs.storedName ?? null,
    link_url: outcome.refs.linkUrl ?? null,
    correlation_id: outcome.refs.correlationId ?? null,
    accepted: outcome.refs.accepted ?? null,
    crossed: outcome.refs.crossed ?? false,
    gone: outcome.refs.isGone ?? false,
    failure: 'failure' in outcome ? outcome.failure : null,
    failure_text: 'text' in outcome ? outcome.text : null,
    check_ms: outcome.to === 'syncing' ? boundedMs(outcome.firstCheckInMs) : null,
    wait_ms: outcome.to === 'waiting' ? boundedMs(outcome.retryInMs) : null,
  }));
  const { limits } = await oneRow<{ limits: MigrationLimits }>(db)`
    with written as (
      update companies c
      set state = o.state,
          company_id = ${latest('company_id')}, connection_id = ${latest('connection_id')},
          stored_name = ${latest('stored_name')}, link_url = ${latest('link_url')}, accepted = ${latest('accepted')},
          correlation_id = coalesce(o.correlation_id, c.correlation_id),
          crossed_at = coalesce(c.crossed_at, case when o.crossed then clock_timestamp() end),
          -- Changes if the service has accepted a newer credential for a company that it had connected before.
          authorized_at = case when c.crossed_at is not null and (o.accepted is not null or (o.state = 'syncing'
            and ${HAS_UNCROSSED_REPLACEMENT})) then clock_timestamp() else c.authorized_at end,
          unlinked_at = case when o.accepted is null then c.unlinked_at end,
          failure = o.failure,
          failure_accepted = c.failure_accepted and c.failure is not distinct from o.failure,
          failure_text = o.failure_text,
          attempt = case when o.state = 'importing' then c.attempt end,
          authorization_sent_at = case when o.state <> 'waiting' then c.authorization_sent_at end,
          not_before = clock_timestamp() + make_interval(secs => o.wait_ms / 1000.0),
          import_ms = case when o.state = 'syncing' then extract(epoch from clock_timestamp() - c.claimed_at) * 1000 end,
          sync_started_at = case when o.state = 'syncing' then clock_timestamp() end,
          outcome_at = case when o.state in ('failed', 'outcome-unknown') then clock_timestamp() end,
          next_check_at = clock_timestamp() + make_interval(secs => o.check_ms / 1000.0),
          checks = 0
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as o (
        row integer, state text, company_id uuid, connection_id uuid, stored_name text, link_url text,
        correlation_id text, accepted jsonb, failure text, failure_text text, check_ms float8, wait_ms float8,
        crossed boolean, gone boolean)
      where c.migration_id = ${owner.migrationId} and ${inRows(outcomes.map(({ row }) => row))} and c.row = o.row
        and ${inState('importing')} and c.attempt = ${leaseOwnerName(owner)}
      returning c.migration_id, c.row, o.crossed
    ), crossed as (
      update credentials v set crossed_at = clock_timestamp()
      from written
      where v.migration_id = written.migration_id and v.row = written.row and written.crossed
        and v.crossed_at is null
    )
    select limits from migrations where id = ${owner.migrationId}`;
  return limits;
}

/**
 * The condition that the credential of a company replaces an older credential, and does not count as handed over yet.
 * An attempt can have sent it and lost the answer. In queries, `c` must be `companies`.
 */
export const HAS_UNCROSSED_REPLACEMENT = sql<boolean>`exists (
  select from credentials replacement
  where replacement.migration_id = c.migration_id and replacement.row = c.row
    and replacement.supersedes and replacement.crossed_at is null)`;

/**
 * Builds the SQL for the new value of a column. If the outcome has no value, keeps the stored value. Clears the stored
 * value instead if the service has lost the company, or now has another company for this row.
 */
function latest(column: string) {
  const [found, known] = [sql.ref(`o.${column}`), sql.ref(`c.${column}`)];
  return sql`case when o.gone or o.company_id <> c.company_id then ${found} else coalesce(${found}, ${known}) end`;
}

/** Limits a wait to `LONGEST_WAIT_MS`, because a response of the service can ask for a longer wait. */
function boundedMs(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}

/** A syncing company whose next check is due. */
export interface DueCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  /** The company's name at the service; null if no response that contains it was recorded. */
  readonly storedName: string | null;
  readonly organization: string;
  readonly expectedInvoices: number | null;
  readonly companyId: string;
  readonly connectionId: string;
  /** True if the client supplied the ids of the company. */
  readonly existedBefore: boolean;
  /**
   * The response that accepted the credential; null if the response was lost, the connection was already linked, or the
   * end customer has reconnected.
   */
  readonly accepted: ServiceAnswer | null;
  /** Milliseconds since the start of the sync, by the database's clock. */
  readonly syncingForMs: number;
}

/**
 * Reads companies whose next check is due, in the order in which the checks became due.
 *
 * @param selection `size`: maximum number of companies; `onlyRow`: the only row to read, null for any row; `without`:
 * rows to omit
 */
export async function readDueChecks(
  db: Database,
  migrationId: string,
  {
    size,
    onlyRow,
    without,
  }: { readonly size: number; readonly onlyRow: number | null; readonly without: readonly number[] },
): Promise<readonly DueCompany[]> {
  return allRows<DueCompany>(db)`
    select row, reference, name, stored_name as "storedName", organization, expected_invoices as "expectedInvoices",
      company_id as "companyId", connection_id as "connectionId", named is not null as "existedBefore", accepted,
      (extract(epoch from clock_timestamp() - sync_started_at) * 1000)::float8 as "syncingForMs"
    from companies
    where migration_id = ${migrationId} and state = 'syncing' and ${isDue('next_check_at')}
      and (${onlyRow}::integer is null or row = ${onlyRow}) and row <> all(${without}::integer[])
    order by next_check_at
    limit ${size}`;
}

/** The outcome of one check of a syncing company. */
export type CheckOutcome = { readonly row: number } & (
  | { readonly to: 'syncing'; readonly nextCheckInMs: number }
  | { readonly to: 'moved'; readonly evidence: readonly Evidence[]; readonly schedule: SyncSchedule }
  | {
      readonly to: 'failed';
      readonly failure: FailureKind;
      readonly text: string;
      readonly evidence: readonly Evidence[];
      readonly linkUrl?: string;
      readonly correlationId?: string;
      /** True if the service no longer has the company, so that its ids are cleared. */
      readonly isGone?: true;
    }
);

/**
 * Writes check outcomes. When a company has moved, the same statement deletes its credential from the vault.
 *
 * @returns the current limits, so that the next checks need not read them in a separate statement
 */
export async function recordChecks(
  db: Database,
  migrationId: string,
  outcomes: readonly CheckOutcome[],
): Promise<MigrationLimits> {
  const rows = outcomes.map((outcome) => ({
    row: outcome.row,
    state: outcome.to,
    check_ms: outcome.to === 'syncing' ? boundedMs(outcome.nextCheckInMs) : null,
    evidence: outcome.to === 'syncing' ? null : outcome.evidence,
    schedule: outcome.to === 'moved' ? outcome.schedule : null,
    failure: outcome.to === 'failed' ? outcome.failure : null,
    failure_text: outcome.to === 'failed' ? outcome.text : null,
    link_url: outcome.to === 'failed' ? (outcome.linkUrl ?? null) : null,
    correlation_id: outcome.to === 'failed' ? (outcome.correlationId ?? null) : null,
    gone: outcome.to === 'failed' && outcome.isGone === true,
  }));
  const { limits } = await oneRow<{ limits: MigrationLimits }>(db)`
    with finished as (
      update companies c
      set state = o.state,
          checks = c.checks + 1,
          next_check_at = clock_timestamp() + make_interval(secs => o.check_ms / 1000.0),
          evidence = coalesce(o.evidence, c.evidence),
          failure = o.failure,
          failure_text = o.failure_text,
          company_id = case when not o.gone then c.company_id end,
          connection_id = case when not o.gone then c.connection_id end,
          stored_name = case when not o.gone then c.stored_name end,
          accepted = case when not o.gone then c.accepted end,
          link_url = case when not o.gone then coalesce(o.link_url, c.link_url) end,
          correlation_id = coalesce(o.correlation_id, c.correlation_id),
          sync_schedule = o.schedule,
          outcome_at = case when o.state <> 'syncing' then clock_timestamp() end,
          -- A moved company that is checked again keeps the time of its move.
          sync_ms = case o.state when 'syncing' then c.sync_ms
            when 'moved' then coalesce(c.sync_ms, extract(epoch from clock_timestamp() - c.sync_started_at) * 1000) end,
          moved_at = case o.state when 'syncing' then c.moved_at
            when 'moved' then coalesce(c.moved_at, clock_timestamp()) end
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as o (
        row integer, state text, check_ms float8, evidence jsonb, schedule jsonb, failure text, failure_text text,
        link_url text, correlation_id text, gone boolean)
      where c.migration_id = ${migrationId} and ${inRows(outcomes.map(({ row }) => row))} and c.row = o.row and ${inState('syncing')}
      returning c.migration_id, c.row, c.state
    ), erased as (
      delete from credentials v using finished
      where v.migration_id = finished.migration_id and v.row = finished.row and finished.state = 'moved'
    )
    select limits from migrations where id = ${migrationId}`;
  return limits;
}
