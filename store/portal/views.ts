/**
 * Portal views: the content of the portal's page about each migration. Workers write only the views that are being
 * watched, in a browser or with `ferry --portal`.
 */
import { sql } from 'kysely';
import type { Database } from '../database/database';
import type { TakeOptions } from './requests';

interface TakeViewsOptions extends Pick<TakeOptions, 'namespace' | 'limit'> {
  /** Only migrations whose view was requested within this time, in milliseconds. */
  readonly withinMs: number;
  /** Only views that were never written, or last written longer ago than this time, in milliseconds. */
  readonly olderThanMs: number;
}

/** Lease: after this time, another worker can take a view that a worker has taken and not written. */
const LEASE_MS = 10_000;
/**
 * After this many attempts in which a worker neither wrote a view nor gave it back, the view is taken again only after
 * a longer time, because writing it might crash workers.
 */
const MAX_ATTEMPTS = 3;
const AGAIN_AFTER_MS = 10 * 60_000;

/** Takes watched migrations whose views are old, the oldest view first. The caller writes their views. */
export async function takeWatchedMigrations(
  db: Database,
  { namespace, withinMs, olderThanMs, limit }: TakeViewsOptions,
): Promise<readonly string[]> {
  const ago = (ms: number) => sql`clock_timestamp() - ${ms}::bigint * interval '1 millisecond'`;
  const { rows } = await sql<{ migrationId: string }>`
    update portal_views set taken_at = clock_timestamp(), attempts = attempts + 1
    where migration_id in (
      select v.migration_id from portal_views v
      join migrations m on m.id = v.migration_id
      where v.watched_at > ${ago(withinMs)} and (v.written_at is null or v.written_at < ${ago(olderThanMs)})
        and (v.taken_at is null or v.taken_at
          < case when v.attempts < ${MAX_ATTEMPTS} then ${ago(LEASE_MS)} else ${ago(AGAIN_AFTER_MS)} end)
        and m.state <> 'supplied' and (m.namespace = ${namespace} or m.namespace is null)
      order by v.written_at nulls first limit ${limit} for update of v skip locked)
    returning migration_id as "migrationId"`.execute(db);
  return rows.map(({ migrationId }) => migrationId);
}

/**
 * Stores the portal view of a migration. Changes the version only if the content differs from the stored view, so that
 * browsers do not receive the same content again.
 */
export async function writePortalView(db: Database, migrationId: string, view: object): Promise<void> {
  await sql`
    insert into portal_views as v (migration_id, view, version, written_at)
    values (${migrationId}, ${JSON.stringify(view)}::jsonb, extract(epoch from clock_timestamp()) * 1000000,
      clock_timestamp())
    on conflict (migration_id) do update
    set view = excluded.view, written_at = excluded.written_at, taken_at = null, attempts = 0,
      version = case when v.view is distinct from excluded.view then excluded.version else v.version end`.execute(db);
}

/** Gives back a view that could not be written. A worker can take it again after the lease. */
export async function postponePortalView(db: Database, migrationId: string): Promise<void> {
  await sql`
    update portal_views set attempts = greatest(attempts - 1, 0) where migration_id = ${migrationId}`.execute(db);
}
