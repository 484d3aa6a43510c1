/** Syncs of data sets in Postgres: queue, state and history. The sync engine runs them. */
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database';
import { requestedList } from '../query/lists';
import { kindsOf, type Columns } from '../query/query-sql';

/** Postgres channel that is notified when a sync or push is queued, so that the engine of every process wakes up. */
export const WORK_CHANNEL = 'company_data_service_work';

export interface Sync {
  readonly id: string;
  readonly company_id: string;
  readonly connection_id: string;
  readonly data_type: string;
  readonly status: string;
  readonly error_message: string | null;
  readonly requested_at: Date;
  readonly completed_at: Date | null;
  readonly progress: number;
}

export interface SyncTarget {
  readonly connectionId: string;
  readonly dataType: string;
}

export const DEFAULT_SCHEDULE_HOURS = 24;

/**
 * Returns SQL for the time of the next scheduled sync after a request. Its value is null if the data type has no
 * schedule.
 */
export function scheduledAt(requestedAt: RawBuilder<unknown>): RawBuilder<Date | null> {
  const hours = sql`nullif(coalesce(sync_schedule, ${DEFAULT_SCHEDULE_HOURS}::int), 0)`;
  return sql`${requestedAt} + ${hours} * interval '1 hour'`;
}

/** Queues syncs and returns them. Skips data sets that are already queued or being synced. */
export async function queueSyncs(db: Database, companyId: string, targets: readonly SyncTarget[]): Promise<Sync[]> {
  const { rows } = await sql<Sync>`
    with queued as (
      insert into syncs (company_id, connection_id, data_type)
      select ${companyId}, target."connectionId", target."dataType"
      from json_to_recordset(${JSON.stringify(targets)}::json) as target ("connectionId" uuid, "dataType" text)
      on conflict (connection_id, data_type) where due_at is not null do nothing
      returning *
    ), latest as (
      insert into data_sets (connection_id, data_type, company_id, latest_sync_id, scheduled_at)
      select connection_id, data_type, company_id, id, ${scheduledAt(sql`requested_at`)}
      from queued left join sync_settings using (company_id, data_type)
      on conflict (connection_id, data_type) do update
      set latest_sync_id = excluded.latest_sync_id, scheduled_at = excluded.scheduled_at
    )
    select queued.*, pg_notify(${WORK_CHANNEL}, '') from queued`.execute(db);
  return rows;
}

/**
 * The state of one data set of a company. If several connections have the data set, this is the state of the sync that
 * was requested last.
 */
export interface DataSetState {
  readonly data_type: string;
  readonly status: string;
  readonly latest_sync_id: string;
  readonly latest_successful_sync_id: string | null;
  readonly last_successful_sync: Date | null;
}

export async function readDataSets(db: Database, companyId: string): Promise<DataSetState[]> {
  const { rows } = await sql<DataSetState>`
    select distinct on (data_sets.data_type) data_sets.*, syncs.status
    from data_sets join syncs on syncs.id = data_sets.latest_sync_id
    where data_sets.company_id = ${companyId}
    order by data_sets.data_type, syncs.requested_at desc`.execute(db);
  return rows;
}

/** Returns whether a data set of the company has been completely synced at least once, so that it can be read. */
export async function isReadable(db: Database, companyId: string, dataType: string): Promise<boolean> {
  const found = await db
    .selectFrom('data_sets')
    .select('connection_id')
    .where('company_id', '=', companyId)
    .where('data_type', '=', dataType)
    .where('latest_successful_sync_id', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

const COLUMNS: Columns = {
  id: { kind: 'text', expression: sql`id::text` },
  connectionId: { kind: 'text', expression: sql`connection_id::text` },
  dataType: { kind: 'text', expression: sql`data_type` },
  status: { kind: 'text', expression: sql`status` },
  errorMessage: { kind: 'text', expression: sql`error_message` },
  requested: { kind: 'date', expression: sql`requested_at` },
  completed: { kind: 'date', expression: sql`completed_at` },
  progress: { kind: 'number', expression: sql`progress` },
};

/** The fields by which syncs can be filtered and sorted. */
export const syncFields = kindsOf(COLUMNS);

export const listSyncs = requestedList<Sync>(sql`syncs`, COLUMNS);

export async function findSync(db: Database, companyId: string, id: string): Promise<Sync | undefined> {
  return db.selectFrom('syncs').selectAll().where('company_id', '=', companyId).where('id', '=', id).executeTakeFirst();
}
