/** Inputs of an estimate: the volume that remains to be moved and the measured speed of the service. */
import { sql } from 'kysely';
import type { SpeedEstimate, Measurement, PlannedEstimate, Volume } from '../../domain/planning/estimate';
import { oneRow, type Database } from '../database/database';

/** Counts the companies that remain to be moved, and their records according to the manifest or the supplied total. */
export async function readVolume(db: Database, migrationId: string): Promise<Volume> {
  const volume = await oneRow<Omit<Volume, 'staleSince'> & { staleSince: Date | null }>(db)`
    with remaining as (
      select family, expected_invoices, confirmed_at from companies
      where migration_id = ${migrationId} and state in ('waiting', 'importing', 'syncing', 'outcome-unknown')
    ), shared as (
      -- The share of the supplied total number of records for each company whose row has no number
      -- of invoices.
      select greatest(0, max(m.records_in_total) - coalesce(sum(c.expected_invoices), 0))
        / nullif(count(*) filter (where c.expected_invoices is null), 0)::float8 as each
      from migrations m join companies c on c.migration_id = m.id
      where m.id = ${migrationId} and m.records_in_total is not null
    )
    select count(*) as companies,
      coalesce(sum(coalesce(expected_invoices, (select each from shared))), 0)::float8 as records,
      count(*) filter (where expected_invoices is null and (select each from shared) is null)
        as "companiesWithoutVolume",
      coalesce(max(expected_invoices), 0) as "largestCompany",
      coalesce((
        select max(size) from (
          select count(*) as size from remaining where family is not null group by family
        ) families), 0) as "largestFamily",
      min(confirmed_at) as "staleSince"
    from remaining`;
  return { ...volume, staleSince: volume.staleSince?.toISOString() ?? null };
}

/** Measures the speed from the companies that this migration has moved; null if none has a measured import and sync. */
export async function measureSpeed(db: Database, migrationId: string): Promise<Measurement | null> {
  const { rows } = await sql<Measurement>`
    with moved as (
      select import_ms, sync_ms, coalesce((
        select (check_made -> 'records' ->> 'found')::integer from jsonb_array_elements(evidence) as check_made
        where check_made -> 'records' ->> 'dataType' = 'invoices'), expected_invoices, 0) as records
      from companies
      where migration_id = ${migrationId} and state = 'moved' and import_ms is not null and sync_ms is not null
    )
    select count(*) as companies, avg(import_ms)::float8 as "importMs", avg(sync_ms)::float8 as "syncMs",
      avg(records)::float8 as records, regr_intercept(sync_ms, records) as base, regr_slope(sync_ms, records) as slope
    from moved
    having count(*) > 0`.execute(db);
  return rows[0] ?? null;
}

/** Returns the speed that was measured last on this platform; null if no migration has measured it. */
export async function readSpeed(db: Database, platformKey: string): Promise<SpeedEstimate | null> {
  const row = await db
    .selectFrom('speeds')
    .select(['import_ms', 'sync_base_ms', 'ms_per_record', 'companies'])
    .where('platform_key', '=', platformKey)
    .executeTakeFirst();
  if (!row) return null;
  const { import_ms: importMs, sync_base_ms: syncBaseMs, ms_per_record: msPerRecord, companies } = row;
  return { speed: { importMs, syncBaseMs, msPerRecord }, basis: 'platform', companies };
}

/** Stores the measured speed of a platform. Replaces the previous measurement. */
export async function saveSpeed(db: Database, platformKey: string, { speed, companies }: SpeedEstimate): Promise<void> {
  const row = {
    import_ms: speed.importMs,
    sync_base_ms: speed.syncBaseMs,
    ms_per_record: speed.msPerRecord,
    companies,
  };
  await db
    .insertInto('speeds')
    .values({ platform_key: platformKey, ...row })
    .onConflict((conflict) => conflict.column('platform_key').doUpdateSet(row))
    .execute();
}

/** Stores the estimate of a proposed start, unless the migration has ended. Replaces an earlier estimate. */
export async function savePlannedEstimate(db: Database, migrationId: string, planned: PlannedEstimate): Promise<void> {
  await db
    .updateTable('migrations')
    .set({ planned: JSON.stringify(planned) })
    .where('id', '=', migrationId)
    .where('ending', 'is', null)
    .execute();
}
