/** Reads and repairs the companies of a ledger that was restored to an older state. */
import { sql } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import type { FailureKind } from '../../domain/companies/failures';
import { WAS_SENT } from '../companies/claim';
import { HAS_UNCROSSED_REPLACEMENT } from '../companies/outcomes';
import { allRows, type Database } from '../database/database';
import { inPages } from '../database/pages';

/** A company as the ledger knows it, to be compared with the service. */
export interface RecordedCompany {
  readonly row: number;
  readonly reference: string;
  readonly organization: string;
  readonly state: CompanyState;
  readonly tries: number;
  readonly companyId: string | null;
  /** True if the client supplied the ids. The company at the service then has no tag that names its row. */
  readonly existedBefore: boolean;
  /** True if the company's credential replaces an older credential, which might have linked the connection. */
  readonly supersedes: boolean;
  /** When the company's credential was stored; null if there is none. */
  readonly suppliedAt: Date | null;
  /** True if the company's credential might have been sent, or was handed over. */
  readonly isSent: boolean;
  /** True if an attempt is importing the company, and the lease has not ended. */
  readonly isLeased: boolean;
  readonly failure: FailureKind | null;
  readonly failureText: string | null;
}

const PAGE_SIZE = 5_000;

/** Yields the companies of a migration in pages, in the order of the manifest. */
export function readRecordedCompanies(db: Database, migrationId: string): AsyncGenerator<readonly RecordedCompany[]> {
  return inPages('row', PAGE_SIZE, async (after) => {
    return allRows<RecordedCompany>(db)`
      select c.row, c.reference, c.organization, c.state, c.tries, c.company_id as "companyId",
        c.named is not null as "existedBefore", coalesce(v.supersedes, false) as supersedes,
        v.supplied_at as "suppliedAt", c.failure, c.failure_text as "failureText",
        case when v.row is null then c.crossed_at is not null else v.crossed_at is not null or ${WAS_SENT} end as "isSent",
        c.state = 'importing' and coalesce(c.lease_ends_at >= clock_timestamp(), false) as "isLeased"
      from companies c
      left join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and c.row > ${after}
      order by c.row
      limit ${PAGE_SIZE}`;
  });
}

/** A change to a company's row. Absent ids stay unchanged. */
export interface Repair {
  readonly row: number;
  /** The state in which the row was read. If the state has changed since, the repair is ignored. */
  readonly from: CompanyState;
  readonly to: CompanyState;
  readonly companyId?: string;
  readonly connectionId?: string;
  readonly storedName?: string;
  readonly linkUrl?: string;
  /** When the connection was last authorized; absent if it is not linked, or if the service gives no time. */
  readonly authorizedAt?: Date;
  readonly failure?: FailureKind;
  readonly text?: string;
  /** True if the service no longer has the company, so that its ids are cleared. */
  readonly isGone?: true;
  /** True if the company's credential counts as handed over, so that it is never sent again. */
  readonly crossed?: true;
}

/**
 * Treats companies with an unknown outcome as if their attempt had just died after its send intent. A slice then reads
 * their connections. If a connection does not show the outcome, the slice sends the credential to it again, once the
 * lease has ended.
 *
 * Changes nothing unless all companies are released. Omits companies that are not confirmed, are held back, or are
 * waiting for their end customers to reconnect. Omits companies whose credential does not count, or is treated as
 * handed over. Also omits companies with a token family, because only one company of a family can be importing.
 *
 * @returns the references of the changed companies
 */
export async function resendUnknownOutcomes(
  db: Database,
  migrationId: string,
  references: readonly string[],
  leaseMs: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly reference: string }>`
    update companies c
    set state = 'importing', attempt = 'reconciliation', failure_text = null, claimed_at = clock_timestamp(),
        first_claimed_at = coalesce(c.first_claimed_at, c.claimed_at, clock_timestamp()),
        authorization_sent_at = clock_timestamp(), authorization_sent_again = false,
        authorizations_sent = 1,
        lease_ends_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1_000})
    from migrations m, credentials v
    where c.migration_id = ${migrationId} and m.id = c.migration_id
      and v.migration_id = c.migration_id and v.row = c.row and v.crossed_at is null
      and c.reference = any(${references}::text[]) and c.state = 'outcome-unknown' and c.family is null
      and c.confirmed_at is not null and c.held_back is null and c.relinking_since is null and m.released = 'all'
      and (not m.rotating or v.obtained_at >= c.confirmed_at)
    returning c.reference`.execute(db);
  return rows.map(({ reference }) => reference);
}

/** Writes repairs. Companies that become `syncing` are checked at once, and their credentials count as handed over. */
export async function writeRepairs(db: Database, migrationId: string, repairs: readonly Repair[]): Promise<void> {
  if (repairs.length === 0) return;
  await sql`
    with repaired as (
      update companies c
      set state = r.to,
          attempt = case when r.to = 'importing' then c.attempt end,
          tries = greatest(c.tries, 1),
          company_id = case when r."isGone" then null else coalesce(r."companyId", c.company_id) end,
          connection_id = case when r."isGone" then null else coalesce(r."connectionId", c.connection_id) end,
          stored_name = case when r."isGone" then null else coalesce(r."storedName", c.stored_name) end,
          link_url = case when r."isGone" then null else coalesce(r."linkUrl", c.link_url) end,
          crossed_at = coalesce(c.crossed_at, case when r.to = 'syncing' or r.crossed
            then least(r."authorizedAt", clock_timestamp()) end),
          authorized_at = case when r.to <> 'syncing' then c.authorized_at
            when r."authorizedAt" is not null then least(r."authorizedAt", clock_timestamp())
            when c.crossed_at is not null and ${HAS_UNCROSSED_REPLACEMENT} then clock_timestamp()
            else c.authorized_at end,
          accepted = case when r."isGone" then null else c.accepted end,
          relinking_since = case when r."isGone" then null else c.relinking_since end,
          failure = r.failure, failure_text = r.text,
          moved_at = case when r.to = 'moved' then c.moved_at end,
          sync_ms = case when r.to = 'moved' then c.sync_ms end,
          sync_started_at = case when r.to = 'syncing' then clock_timestamp() else c.sync_started_at end,
          outcome_at = case when r.to in ('failed', 'outcome-unknown') then clock_timestamp() else c.outcome_at end,
          next_check_at = case when r.to = 'syncing' then clock_timestamp() end,
          not_before = null
      from jsonb_to_recordset(${JSON.stringify(repairs)}::jsonb) as r (
        row integer, "from" text, "to" text, "companyId" uuid, "connectionId" uuid, "storedName" text, "linkUrl" text,
        "authorizedAt" timestamptz, failure text, text text, "isGone" boolean, crossed boolean)
      where c.migration_id = ${migrationId} and c.row = any(${repairs.map(({ row }) => row)}::integer[])
        and c.row = r.row and c.state = r."from"
      returning c.migration_id, c.row, r.to = 'syncing' or r.crossed as crossed
    )
    update credentials v set crossed_at = coalesce(v.crossed_at, clock_timestamp())
    from repaired
    where v.migration_id = repaired.migration_id and v.row = repaired.row and repaired.crossed`.execute(db);
}
