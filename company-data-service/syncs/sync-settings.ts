/** A company's settings for automatic syncs: schedule, order and first sync. */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import { DATA_TYPES, type DataType } from '../platform/data-types';
import { DEFAULT_SCHEDULE_HOURS, queueSyncs, scheduledAt, type SyncTarget } from './syncs';

export interface SyncSetting {
  readonly dataType: DataType;
  /**
   * True if the end customer's consent starts the first sync. An authorization with migrated credentials never does.
   */
  readonly fetchOnFirstLink: boolean;
  /** Hours between two syncs: 1 is hourly, 0 means never. */
  readonly syncSchedule: number;
  /** Data types with lower numbers are queued first. */
  readonly syncOrder: number;
}

/** Maximum number of data sets that the schedule queues at once. */
const SCHEDULED_AT_ONCE = 500;

const DEFAULTS: readonly SyncSetting[] = DATA_TYPES.map((dataType, syncOrder) => ({
  dataType,
  fetchOnFirstLink: true,
  syncSchedule: DEFAULT_SCHEDULE_HOURS,
  syncOrder,
}));

/** Returns the company's settings in their order, and whether any of them overrides a default. */
export async function readSyncSettings(
  db: Database,
  companyId: string,
): Promise<{ settings: SyncSetting[]; overridesDefaults: boolean }> {
  const own = await db.selectFrom('sync_settings').selectAll().where('company_id', '=', companyId).execute();
  const settings = DEFAULTS.map((setting) => {
    const row = own.find(({ data_type }) => data_type === setting.dataType);
    if (!row) return setting;
    const { fetch_on_first_link: fetchOnFirstLink, sync_schedule: syncSchedule, sync_order: syncOrder } = row;
    return { dataType: setting.dataType, fetchOnFirstLink, syncSchedule, syncOrder };
  });
  settings.sort((a, b) => a.syncOrder - b.syncOrder);
  return { settings, overridesDefaults: own.length > 0 };
}

/** Stores settings. If a data type occurs twice, its last setting is stored. Other data types keep their settings. */
export async function storeSyncSettings(
  db: Database,
  companyId: string,
  settings: readonly SyncSetting[],
): Promise<void> {
  const last = new Map(settings.map((setting) => [setting.dataType, setting]));
  for (const { dataType, fetchOnFirstLink, syncSchedule, syncOrder } of last.values()) {
    const row = { fetch_on_first_link: fetchOnFirstLink, sync_schedule: syncSchedule, sync_order: syncOrder };
    await db
      .insertInto('sync_settings')
      .values({ company_id: companyId, data_type: dataType, ...row })
      .onConflict((conflict) => conflict.columns(['company_id', 'data_type']).doUpdateSet(row))
      .execute();
  }
  await sql`
    update data_sets set scheduled_at = ${scheduledAt(sql`syncs.requested_at`)}
    from syncs join sync_settings using (company_id, data_type)
    where syncs.id = latest_sync_id and data_sets.company_id = ${companyId}`.execute(db);
}

/** Queues the first syncs of a connection: those of the data types with `fetchOnFirstLink`. */
export async function queueFirstSyncs(db: Database, companyId: string, connectionId: string): Promise<void> {
  const { settings } = await readSyncSettings(db, companyId);
  const connection = await db
    .selectFrom('connections')
    .select('data_types')
    .where('id', '=', connectionId)
    .executeTakeFirst();
  const targets = settings
    .filter(({ dataType, fetchOnFirstLink }) => fetchOnFirstLink && connection?.data_types.includes(dataType))
    .map(({ dataType }) => ({ connectionId, dataType }));
  await queueSyncs(db, companyId, targets);
}

/**
 * Queues the scheduled syncs that are due, in one process at a time. A data set has no schedule before its first sync
 * has been requested, because a migrated connection must not start syncs automatically.
 */
export async function queueScheduledSyncs(db: Database): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const held = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('company-data-service/schedule', 0)) as held`.execute(
      transaction,
    );
    if (!held.rows[0]?.held) return;
    const { rows } = await sql<SyncTarget & { companyId: string }>`
      select data_sets.company_id as "companyId", data_sets.connection_id as "connectionId", data_sets.data_type as "dataType"
      from data_sets
      join connections on connections.id = data_sets.connection_id and connections.status = 'Linked'
      join syncs on syncs.id = latest_sync_id and syncs.due_at is null
      left join sync_settings
        on sync_settings.company_id = data_sets.company_id and sync_settings.data_type = data_sets.data_type
      where scheduled_at <= clock_timestamp()
      order by sync_order nulls last, scheduled_at
      limit ${SCHEDULED_AT_ONCE}`.execute(transaction);
    for (const { companyId, ...target } of rows) await queueSyncs(transaction, companyId, [target]);
  });
}
