/**
 * The end of a migration: resolves interrupted companies, closes the migration, and lists companies that were created
 * at the service and never used.
 *
 * Anyone who may write to the Temporal namespace can start a workflow that calls these functions, at any moment. The
 * statements that resolve companies, close a migration or list unused companies therefore check in the ledger whether
 * that is allowed now.
 */
import { sql } from 'kysely';
import { NOT_CHECKED } from '../../domain/companies/company-state';
import type { FailureKind } from '../../domain/companies/failures';
import type { Ending } from '../../domain/migration/migration-state';
import { allRows, type Database, type Queryable } from '../database/database';
import { HAS_UNCROSSED_REPLACEMENT, type ServiceRefs } from '../companies/outcomes';
import { endOutage, endPause } from './stoppages';

/** A company that is still `importing`: its attempt died, does not know the outcome, or is still running. */
export interface InterruptedCompany {
  readonly row: number;
  /** The attempt that owns the row. */
  readonly attempt: string;
  readonly companyId: string | null;
  /**
   * The connection to which the credential was sent, or whose id the client supplied; null if there is none. If null,
   * the caller uses the connection from this company to the platform, if the service has one.
   */
  readonly knownConnectionId: string | null;
  /** Time of the send intent, as Postgres prints it; null if the credential was not sent. */
  readonly sentAt: string | null;
  /** Milliseconds until the lease ends. Until then, the attempt might be alive, and might send the credential. */
  readonly leaseEndsInMs: number;
}

/** Lists the companies that are still `importing`, in the order in which their leases end. */
export async function readInterrupted(db: Database, migrationId: string): Promise<readonly InterruptedCompany[]> {
  return allRows<InterruptedCompany>(db)`
    select row, attempt, company_id as "companyId",
      case when named = 'connection' or authorization_sent_at is not null then connection_id end as "knownConnectionId",
      authorization_sent_at::text as "sentAt",
      coalesce(extract(epoch from lease_ends_at - clock_timestamp())::float8 * 1000, 0) as "leaseEndsInMs"
    from companies where migration_id = ${migrationId} and state = 'importing'
    order by lease_ends_at`;
}

export interface InterruptedOutcome {
  readonly to: 'waiting' | 'syncing' | 'outcome-unknown' | 'failed';
  readonly failure?: FailureKind;
  readonly text?: string | undefined;
  /** True if the credential was sent, but certainly not used. */
  readonly isUnused?: true;
  readonly refs: ServiceRefs;
}

/**
 * Records the outcome of an interrupted company: `syncing` if the connection is linked; otherwise `waiting` if the
 * credential was not sent or certainly not used, or if the service has no connection; `failed` if the platform refused
 * the credential; otherwise `outcome-unknown`.
 *
 * @param company as {@link readInterrupted} returned it
 * @returns false if nothing was recorded: claims are not stopped, the lease has not ended, or the company has changed
 */
export async function resolveInterrupted(
  db: Database,
  migrationId: string,
  { row, attempt, sentAt }: Pick<InterruptedCompany, 'row' | 'attempt' | 'sentAt'>,
  outcome: InterruptedOutcome,
): Promise<boolean> {
  const { rows } = await sql`
    update companies c
    set state = ${outcome.to}, attempt = null,
        crossed_at = case when ${outcome.to}::text = 'syncing' then coalesce(crossed_at, clock_timestamp()) else crossed_at end,
        authorized_at = case when ${outcome.to}::text = 'syncing' and crossed_at is not null
          and ${HAS_UNCROSSED_REPLACEMENT} then clock_timestamp() else authorized_at end,
        sync_started_at = case when ${outcome.to}::text = 'syncing' then clock_timestamp() else sync_started_at end,
        next_check_at = case when ${outcome.to}::text = 'syncing' then clock_timestamp() else next_check_at end,
        outcome_at = case when ${outcome.to}::text in ('failed', 'outcome-unknown') then clock_timestamp() end,
        failure = ${outcome.failure ?? null}, failure_text = ${outcome.text ?? null},
        authorization_sent_at = case when not ${outcome.isUnused ?? false}::boolean then authorization_sent_at end,
        link_url = coalesce(${outcome.refs.linkUrl ?? null}, link_url),
        company_id = coalesce(${outcome.refs.companyId ?? null}::uuid, company_id),
        connection_id = coalesce(${outcome.refs.connectionId ?? null}::uuid, connection_id)
    from migrations m
    where m.id = ${migrationId} and m.state = 'closed'
      and c.migration_id = m.id and c.row = ${row} and c.state = 'importing' and c.attempt = ${attempt}
      and c.authorization_sent_at is not distinct from ${sentAt}::timestamptz
      and (c.lease_ends_at is null or c.lease_ends_at <= clock_timestamp())
    returning c.row`.execute(db);
  return rows.length > 0;
}

/**
 * Closes a migration: its companies can no longer be claimed, and other migrations can take its organizations. Call
 * this in the transaction that has read the ending from the decisions.
 *
 * A syncing company does not prevent closing, because it no longer needs its credential. A row that was amended and not
 * checked yet does not prevent closing either, because `ferry amend` writes such rows before their decision is
 * accepted.
 *
 * @returns false if nothing was closed: the migration already has an ending, a company is importing, or the ending is
 * `completed` and a company could still be moved or has an unknown outcome
 */
export async function closeMigration(tx: Queryable, migrationId: string, ending: Ending): Promise<boolean> {
  // A separate statement takes the lock, so that the next statement sees every claim and amendment that was committed
  // before the lock.
  await sql`select from migrations where id = ${migrationId} for update`.execute(tx);
  const { rows } = await sql`
    update migrations m
    set state = 'closed', ending = ${ending}, closed_at = coalesce(closed_at, clock_timestamp())
    where m.id = ${migrationId} and m.ending is null
      and not exists (
        select from companies c
        where c.migration_id = m.id
          and (c.state = 'importing' or (${ending} = 'completed' and (c.state = 'outcome-unknown'
            or (c.state = 'waiting' and c.held_back is distinct from ${NOT_CHECKED})))))
    returning m.id`.execute(tx);
  if (rows.length === 0) return false;
  await endOutage(tx, migrationId);
  await endPause(tx, migrationId);
  await tx.updateTable('companies').set({ organization_open: false }).where('migration_id', '=', migrationId).execute();
  return true;
}

/**
 * Lists companies that were created at the service and never used. Omits companies whose id the client supplied. Lists
 * none before the migration has been closed, or while any company is still importing.
 */
export async function readUnusedCompanies(
  db: Database,
  migrationId: string,
): Promise<readonly { readonly row: number; readonly companyId: string }[]> {
  return allRows<{ row: number; companyId: string }>(db)`
    select c.row, c.company_id as "companyId" from companies c
    join migrations m on m.id = c.migration_id
    where m.id = ${migrationId} and m.ending is not null
      and not exists (select from companies where migration_id = m.id and state = 'importing')
      and c.state in ('waiting', 'excluded') and c.company_id is not null and c.named is null
    order by c.row`;
}

/** Clears the ids of a company that has been deleted at the service, unless the row has changed meanwhile. */
export async function clearServiceRefs(
  db: Database,
  migrationId: string,
  { row, companyId }: { readonly row: number; readonly companyId: string },
): Promise<void> {
  await db
    .updateTable('companies')
    .set({ company_id: null, connection_id: null, stored_name: null, link_url: null })
    .where('migration_id', '=', migrationId)
    .where('row', '=', row)
    .where('company_id', '=', companyId)
    .where('state', 'in', ['waiting', 'excluded'])
    .where('named', 'is', null)
    .execute();
}

/**
 * Lists the migrations in a Temporal namespace whose workflow has started and whose vault has not been destroyed. Does
 * not check whether the workflow is running. Includes migrations without a recorded namespace, and migrations whose
 * closing was interrupted, because they still hold credentials and might still hold organizations.
 */
export async function listUnfinishedMigrations(db: Database, namespace: string): Promise<readonly string[]> {
  const open = await db
    .selectFrom('migrations')
    .select('id')
    .where('state', '!=', 'supplied')
    .where('vault_destroyed_at', 'is', null)
    .where((is) => is.or([is('namespace', '=', namespace), is('namespace', 'is', null)]))
    .orderBy('id')
    .execute();
  return open.map(({ id }) => id);
}
