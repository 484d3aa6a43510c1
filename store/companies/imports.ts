/** What became of claimed companies. */
import { sql } from 'kysely';
import type { ServiceAnswer } from '../../domain/companies/evidence';
import type { FailureKind } from '../../domain/companies/failures';
import type { LeaseOwner } from './claim';
import { leaseOwnerName } from './claim';
import { inRows, inState } from './companies';
import type { Database } from '../database/database';

/** What is known of a company at the service, as far as it exists there. */
export interface ServiceRefs {
  readonly companyId?: string;
  readonly connectionId?: string;
  readonly storedName?: string;
  readonly linkUrl?: string;
  readonly correlationId?: string;
  /** It has accepted the credential, which nobody else uses from then on. */
  readonly crossed?: boolean;
  /** How it answered when it accepted the credential. */
  readonly accepted?: ServiceAnswer;
}

/** How the import of one claimed company went. */
export type ImportOutcome = { readonly row: number; readonly at: ServiceRefs } & (
  | { readonly to: 'syncing'; readonly firstCheckMs: number }
  | { readonly to: 'waiting'; readonly notBeforeMs: number; readonly text: string }
  | { readonly to: 'failed'; readonly failure: FailureKind; readonly text: string }
  | { readonly to: 'outcome-unknown'; readonly text: string }
  /** Nothing is known for certain: the row stays claimed until it may be taken over. */
  | { readonly to: 'importing'; readonly text: string }
);

/** Writes what became of claimed companies: only of those that this attempt still holds. */
export async function recordImports(
  db: Database,
  owner: LeaseOwner,
  outcomes: readonly ImportOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map((outcome) => ({
    row: outcome.row,
    state: outcome.to,
    company_id: outcome.at.companyId ?? null,
    connection_id: outcome.at.connectionId ?? null,
    stored_name: outcome.at.storedName ?? null,
    link_url: outcome.at.linkUrl ?? null,
    correlation_id: outcome.at.correlationId ?? null,
    accepted: outcome.at.accepted ?? null,
    crossed: outcome.at.crossed ?? false,
    failure: outcome.to === 'failed' ? outcome.failure : null,
    failure_text: 'text' in outcome ? outcome.text : null,
    check_ms: outcome.to === 'syncing' ? outcome.firstCheckMs : null,
    wait_ms: outcome.to === 'waiting' ? outcome.notBeforeMs : null,
  }));
  await sql`
    with written as (
    update companies c
    set state = o.state,
        company_id = coalesce(o.company_id, c.company_id),
        connection_id = coalesce(o.connection_id, c.connection_id),
        stored_name = coalesce(o.stored_name, c.stored_name),
        link_url = coalesce(o.link_url, c.link_url),
        correlation_id = coalesce(o.correlation_id, c.correlation_id),
        crossed_at = coalesce(c.crossed_at, case when o.crossed then clock_timestamp() end),
        accepted = coalesce(o.accepted, c.accepted),
        failure = o.failure,
        failure_text = o.failure_text,
        attempt = case when o.state = 'importing' then c.attempt end,
        authorization_sent_at = case when o.state <> 'waiting' then c.authorization_sent_at end,
        not_before = clock_timestamp() + make_interval(secs => o.wait_ms / 1000.0),
        import_ms = case when o.state = 'syncing' then extract(epoch from clock_timestamp() - c.claimed_at) * 1000 end,
        sync_started_at = case when o.state = 'syncing' then clock_timestamp() end,
        next_check_at = clock_timestamp() + make_interval(secs => o.check_ms / 1000.0),
        checks = 0
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as o (
      row integer, state text, company_id uuid, connection_id uuid, stored_name text, link_url text,
      correlation_id text, accepted jsonb, failure text, failure_text text, check_ms float8, wait_ms float8,
      crossed boolean)
    where c.migration_id = ${owner.migrationId} and ${inRows(outcomes.map(({ row }) => row))} and c.row = o.row
      and ${inState('importing')} and c.attempt = ${leaseOwnerName(owner)}
    returning c.migration_id, c.row, o.crossed
    )
    update credentials v set crossed_at = clock_timestamp()
    from written
    where v.migration_id = written.migration_id and v.row = written.row and written.crossed and v.crossed_at is null`.execute(
    db,
  );
}
