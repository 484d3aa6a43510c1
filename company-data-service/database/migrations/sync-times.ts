/** Stores the times of syncs, because computing them for every company took too long. */
import { sql } from 'kysely';
import { executing } from '../../../postgres/schema-migrations';

export const lastSync = executing(
  // `last_sync` is the time of the latest successful sync of any data set of the connection. It is stored, because
  // looking it up for each company took a third of the time needed to return a large page of companies.
  sql`alter table connections add column last_sync timestamptz(3)`,
  sql`
    update connections set last_sync = (
      select max(last_successful_sync) from data_sets where data_sets.connection_id = connections.id
    )`,
);

export const scheduledSyncs = executing(
  // `scheduled_at` is the time of the next scheduled sync of a data set, or null if there is no schedule. It is
  // stored, because computing it twice a minute for every data set took several seconds with tens of thousands of
  // companies.
  sql`alter table data_sets add column scheduled_at timestamptz(3)`,
  sql`
    update data_sets set scheduled_at = syncs.requested_at + nullif(schedule.hours, 0) * interval '1 hour'
    from syncs
    left join sync_settings using (company_id, data_type)
    cross join lateral (select coalesce(sync_schedule, 24) as hours) schedule
    where syncs.id = data_sets.latest_sync_id`,
  sql`create index data_sets_scheduled on data_sets (scheduled_at)`,
);
