/**
 * Processes the syncs that are due: fetches the next page of each sync and stores the result in the same transaction. A
 * crash leaves the syncs as they were before the step. The row locks end with the connection to Postgres, so another
 * process can continue immediately.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { withError } from '../connections/connections';
import { GRANT_COLUMNS, GRANT_TABLES, grantIn, type GrantRow } from '../credentials/grants';
import type { SecretCipher } from '../credentials/secret-cipher';
import type { ConnectionError, ConnectionStatus } from '../database/tables';
import { failureForLog, type Database } from '../database/database';
import type { DataType } from '../platform/data-types';
import { PlatformRefusal, type FetchedPage, type Platforms, type RefusalReason } from '../platform/platform';

/** Maximum number of syncs per step. One statement stores the records of all of them. */
export const SYNCS_AT_ONCE = 50;

interface DueSync extends GrantRow {
  readonly id: string;
  readonly company_id: string;
  readonly data_type: DataType;
  readonly cursor: string | null;
  readonly connection_status: ConnectionStatus;
  readonly organization_id: string;
  /** When the platform accepted the credential that the sync uses. */
  readonly authorized_at: Date | null;
  readonly connection_errors: readonly ConnectionError[];
}

/** The final status of a failed sync, and the reason. */
interface SyncFailure {
  readonly status: string;
  readonly message: string;
  /** True if the grant has ended. The end customer then has to authorize the connection again. */
  readonly endsGrant: boolean;
}

type Outcome =
  | { readonly sync: DueSync; readonly page: FetchedPage }
  | { readonly sync: DueSync; readonly failure: SyncFailure };

/** The dependencies of both steps of the sync engine: syncs and pushes. */
export interface StepDependencies {
  readonly db: Database;
  readonly platforms: Platforms;
  readonly cipher: SecretCipher;
  readonly logger: Logger;
}

/** Processes the syncs that are due and returns their number. */
export async function processDueSyncs(dependencies: StepDependencies): Promise<number> {
  return dependencies.db.transaction().execute(async (transaction) => {
    const due = await claimDueSyncs(transaction);
    if (due.length === 0) return 0;
    const outcomes = await Promise.all(due.map((sync) => fetchNext(dependencies, sync)));
    await storeRecords(transaction, outcomes);
    await storeProgress(transaction, outcomes);
    await closeDataSets(transaction, outcomes);
    await deauthorize(transaction, outcomes);
    return due.length;
  });
}

async function claimDueSyncs(transaction: Database): Promise<DueSync[]> {
  const { rows } = await sql<DueSync>`
    select
      syncs.id, syncs.company_id, syncs.data_type, syncs.cursor, ${GRANT_COLUMNS},
      connections.status as connection_status, connections.organization_id, connections.authorized_at,
      connections.errors as connection_errors
    from syncs
    join connections on connections.id = syncs.connection_id
    join companies on companies.id = syncs.company_id
    ${GRANT_TABLES}
    where syncs.due_at <= clock_timestamp()
    order by syncs.due_at
    limit ${SYNCS_AT_ONCE}
    for update of syncs skip locked`.execute(transaction);
  return rows;
}

async function fetchNext({ platforms, cipher, logger }: StepDependencies, sync: DueSync): Promise<Outcome> {
  try {
    const grant = sync.connection_status === 'Linked' ? grantIn(sync, cipher) : undefined;
    if (!grant) {
      return { sync, failure: { status: 'AuthError', message: 'The connection is not linked.', endsGrant: false } };
    }
    const page = await platforms.fetch(grant, sync.organization_id, sync.data_type, sync.cursor ?? undefined);
    return { sync, page };
  } catch (thrown) {
    if (thrown instanceof PlatformRefusal) return { sync, failure: failureOf(thrown) };
    // One failed sync must not block the other syncs of the step.
    logger.error({ err: failureForLog(thrown), syncId: sync.id }, 'a sync failed');
    return { sync, failure: { status: 'InternalError', message: 'The sync failed.', endsGrant: false } };
  }
}

const STATUS_OF_REFUSAL: Record<RefusalReason, string> = {
  GrantRefused: 'AuthError',
  ApplicationRefused: 'AuthError',
  WrongOrganization: 'PermissionsError',
  PlatformUnavailable: 'FetchError',
  PlatformRateLimited: 'RateLimitError',
};

function failureOf({ reason, message }: PlatformRefusal): SyncFailure {
  return { status: STATUS_OF_REFUSAL[reason], message, endsGrant: reason === 'GrantRefused' };
}

async function storeRecords(transaction: Database, outcomes: readonly Outcome[]): Promise<void> {
  const rows = outcomes.flatMap((outcome) =>
    'page' in outcome ? outcome.page.records.map((record) => ({ ...syncKeys(outcome.sync), ...record })) : [],
  );
  if (rows.length === 0) return;
  await sql`
    insert into records (connection_id, data_type, id, company_id, sync_id, created_at, fields)
    select connection_id, data_type, id, company_id, sync_id, "createdAt", fields
    from json_to_recordset(${JSON.stringify(rows)}::json) as row (
      connection_id uuid, data_type text, id text, company_id uuid, sync_id uuid, "createdAt" timestamptz, fields jsonb
    )
    on conflict (connection_id, data_type, id) do update
      set sync_id = excluded.sync_id, created_at = excluded.created_at, fields = excluded.fields`.execute(transaction);
}

/** Returns the columns that link a record or data set to its sync. */
function syncKeys(sync: DueSync) {
  const { connection_id, data_type, company_id, id: sync_id } = sync;
  return { connection_id, data_type, company_id, sync_id };
}

async function storeProgress(transaction: Database, outcomes: readonly Outcome[]): Promise<void> {
  const rows = outcomes.map((outcome) => ({ id: outcome.sync.id, ...progressOf(outcome) }));
  // The next page is due relative to when this page was due, so that delays of a busy engine do not add up.
  await sql`
    update syncs set
      status = step.status,
      progress = coalesce(step.progress, syncs.progress),
      error_message = step.error_message,
      cursor = step.cursor,
      due_at = syncs.due_at + step.after_ms * interval '1 millisecond',
      completed_at = case when step.after_ms is null then clock_timestamp() end
    from json_to_recordset(${JSON.stringify(rows)}::json) as step (
      id uuid, status text, progress integer, error_message text, cursor text, after_ms double precision
    )
    where syncs.id = step.id`.execute(transaction);
}

function progressOf(outcome: Outcome) {
  if ('failure' in outcome) return { status: outcome.failure.status, error_message: outcome.failure.message };
  const { progress, next } = outcome.page;
  return next
    ? { status: 'Fetching', progress, cursor: next.cursor, after_ms: next.afterMs }
    : { status: 'Complete', progress };
}

/**
 * Records the success of complete syncs. Deletes the records that a complete sync did not contain, because they no
 * longer exist at the platform.
 */
async function closeDataSets(transaction: Database, outcomes: readonly Outcome[]): Promise<void> {
  const complete = outcomes
    .filter((outcome) => 'page' in outcome && !outcome.page.next)
    .map(({ sync }) => syncKeys(sync));
  if (complete.length === 0) return;
  await sql`
    with complete as (
      select * from json_to_recordset(${JSON.stringify(complete)}::json)
        as complete (connection_id uuid, data_type text, sync_id uuid)
    ), deleted_records as (
      delete from records using complete
      where records.connection_id = complete.connection_id and records.data_type = complete.data_type
        and records.sync_id <> complete.sync_id
    ), locked_connections as (
      -- Lock in a fixed order, because several processes can complete data sets of the same connections at once.
      select id from connections where id in (select connection_id from complete) order by id for no key update
    ), updated_connections as (
      -- Both tables get the time of this statement. greatest() keeps a later time, which another
      -- process might have stored while this statement was waiting for the lock.
      update connections set last_sync = greatest(last_sync, statement_timestamp())
      from locked_connections where connections.id = locked_connections.id
    )
    update data_sets set latest_successful_sync_id = complete.sync_id, last_successful_sync = statement_timestamp()
    from complete
    where data_sets.connection_id = complete.connection_id and data_sets.data_type = complete.data_type`.execute(
    transaction,
  );
}

/**
 * Deauthorizes the connections whose grant ended during a sync. The end customers have to authorize them again. Does
 * nothing if a connection has been authorized again since the sync read its credential. The statement compares a column
 * of the connection itself, because Postgres evaluates only this row again after it has waited for an authorization.
 */
async function deauthorize(transaction: Database, outcomes: readonly Outcome[]): Promise<void> {
  for (const outcome of outcomes) {
    if (!('failure' in outcome) || !outcome.failure.endsGrant) continue;
    const { sync, failure } = outcome;
    const errors = withError(sync.connection_errors, { reason: 'GrantRefused', message: failure.message });
    await transaction
      .updateTable('connections')
      .set({ status: 'Deauthorized', errors: JSON.stringify(errors) })
      .where('id', '=', sync.connection_id)
      .where('status', '=', 'Linked')
      .where('authorized_at', 'is not distinct from', sync.authorized_at)
      .execute();
  }
}
