/** The looks at companies that are syncing: which are due, and what they found. */
import { sql } from 'kysely';
import type { Evidence, ServiceAnswer, SyncSchedule } from '../../domain/companies/evidence';
import type { FailureKind } from '../../domain/companies/failures';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';

export interface DueCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly storedName: string | null;
  readonly organization: string;
  readonly expectedInvoices: number | null;
  readonly companyId: string;
  readonly connectionId: string;
  /** Null: the answer to its authorization was lost, or its end customer connected again. */
  readonly accepted: ServiceAnswer | null;
  /** Milliseconds since its sync was started, by the database's clock. */
  readonly syncingForMs: number;
}

/**
 * Companies whose next look is due, longest due first, at most `size` of them. Nothing keeps two from looking at one
 * company: the first to write what it found has found it.
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
  const { rows } = await sql<DueCompany>`
    select row, reference, name, stored_name as "storedName", organization, expected_invoices as "expectedInvoices",
      company_id as "companyId", connection_id as "connectionId", accepted,
      (extract(epoch from clock_timestamp() - sync_started_at) * 1000)::float8 as "syncingForMs"
    from companies
    where migration_id = ${migrationId} and state = 'syncing' and next_check_at <= clock_timestamp()
      and (${onlyRow}::integer is null or row = ${onlyRow}) and row <> all(${without}::integer[])
    order by next_check_at
    limit ${size}`.execute(db);
  return rows;
}

/** What a look at a syncing company found. */
export type CheckOutcome = { readonly row: number } & (
  | { readonly to: 'syncing'; readonly nextCheckMs: number }
  | { readonly to: 'migrated'; readonly evidence: readonly Evidence[]; readonly schedule: SyncSchedule }
  | {
      readonly to: 'failed';
      readonly failure: FailureKind;
      readonly text: string;
      readonly evidence: readonly Evidence[];
      readonly linkUrl?: string;
      readonly correlationId?: string;
    }
);

/** Writes what looks found. The credential of a company that is migrated is erased in the same transaction. */
export async function recordChecks(
  db: Database,
  migrationId: string,
  outcomes: readonly CheckOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map((outcome) => ({
    row: outcome.row,
    state: outcome.to,
    check_ms: outcome.to === 'syncing' ? outcome.nextCheckMs : null,
    evidence: outcome.to === 'syncing' ? null : outcome.evidence,
    schedule: outcome.to === 'migrated' ? outcome.schedule : null,
    failure: outcome.to === 'failed' ? outcome.failure : null,
    failure_text: outcome.to === 'failed' ? outcome.text : null,
    link_url: outcome.to === 'failed' ? (outcome.linkUrl ?? null) : null,
    correlation_id: outcome.to === 'failed' ? (outcome.correlationId ?? null) : null,
  }));
  await sql`
    with settled as (
      update companies c
      set state = o.state,
          checks = c.checks + 1,
          next_check_at = clock_timestamp() + make_interval(secs => o.check_ms / 1000.0),
          evidence = coalesce(o.evidence, c.evidence),
          failure = o.failure,
          failure_text = o.failure_text,
          link_url = coalesce(o.link_url, c.link_url),
          correlation_id = coalesce(o.correlation_id, c.correlation_id),
          sync_schedule = o.schedule,
          -- One that is looked at again was moved when it was first seen to be.
          sync_ms = case when o.state = 'migrated'
            then coalesce(c.sync_ms, extract(epoch from clock_timestamp() - c.sync_started_at) * 1000) end,
          moved_at = case when o.state = 'migrated' then coalesce(c.moved_at, clock_timestamp()) end
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as o (
        row integer, state text, check_ms float8, evidence jsonb, schedule jsonb, failure text, failure_text text,
        link_url text, correlation_id text)
      where c.migration_id = ${migrationId} and ${inRows(outcomes.map(({ row }) => row))} and c.row = o.row and ${inState('syncing')}
      returning c.migration_id, c.row, c.state
    )
    delete from credentials v using settled
    where v.migration_id = settled.migration_id and v.row = settled.row and settled.state = 'migrated'`.execute(db);
}
