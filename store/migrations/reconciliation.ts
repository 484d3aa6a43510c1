/** Reads and repairs the companies of a ledger that was restored to an older state. */
import { sql } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import type { FailureKind } from '../../domain/companies/failures';
import type { Database } from '../database/database';

/** A company as the ledger knows it, to be compared with the service. */
export interface RecordedCompany {
  readonly row: number;
  readonly reference: string;
  readonly organization: string;
  readonly state: CompanyState;
  readonly tries: number;
  readonly companyId: string | null;
  /** True if the client supplied the ids of the company, so that it carries no tag. */
  readonly existedBefore: boolean;
  /** True if its credential replaces an older one, which might have linked the connection. */
  readonly supersedes: boolean;
  /** When its credential was stored; null if there is none. */
  readonly suppliedAt: Date | null;
}

const PAGE_SIZE = 5_000;

/** Yields the companies of a migration in pages, in the order of the manifest. */
export async function* readRecordedCompanies(
  db: Database,
  migrationId: string,
): AsyncGenerator<readonly RecordedCompany[]> {
  for (let after = 0; ;) {
    const { rows } = await sql<RecordedCompany>`
      select c.row, c.reference, c.organization, c.state, c.tries, c.company_id as "companyId",
        c.named is not null as "existedBefore", coalesce(v.supersedes, false) as supersedes,
        v.supplied_at as "suppliedAt"
      from companies c
      left join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and c.row > ${after}
      order by c.row
      limit ${PAGE_SIZE}`.execute(db);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_SIZE) return;
    after = last.row;
  }
}

/** A change to a company's row. Absent ids stay unchanged. */
export interface Repair {
  readonly row: number;
  /** The state in which the row was read. If it has changed since, the repair is ignored. */
  readonly from: CompanyState;
  readonly to: CompanyState;
  readonly companyId?: string;
  readonly connectionId?: string;
  readonly storedName?: string;
  readonly linkUrl?: string;
  readonly failure?: FailureKind;
  readonly text?: string;
  /** True if the service no longer has the company, so that its ids are cleared. */
  readonly isGone?: true;
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
          crossed_at = coalesce(c.crossed_at, case when r.to = 'syncing' then clock_timestamp() end),
          failure = r.failure, failure_text = r.text,
          moved_at = case when r.to = 'moved' then c.moved_at end,
          sync_started_at = case when r.to = 'syncing' then clock_timestamp() else c.sync_started_at end,
          next_check_at = case when r.to = 'syncing' then clock_timestamp() end,
          not_before = null
      from jsonb_to_recordset(${JSON.stringify(repairs)}::jsonb) as r (
        row integer, "from" text, "to" text, "companyId" uuid, "connectionId" uuid, "storedName" text, "linkUrl" text,
        failure text, text text, "isGone" boolean)
      where c.migration_id = ${migrationId} and c.row = any(${repairs.map(({ row }) => row)}::integer[])
        and c.row = r.row and c.state = r."from"
      returning c.migration_id, c.row, c.state
    )
    update credentials v set crossed_at = coalesce(v.crossed_at, clock_timestamp())
    from repaired
    where v.migration_id = repaired.migration_id and v.row = repaired.row and repaired.state = 'syncing'`.execute(db);
}
