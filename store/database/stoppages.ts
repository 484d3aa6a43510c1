/** The schema migration for stoppages: the automatic pauses of a migration, and the outages that it waited out. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

export const stoppages: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table stoppages (
        position bigint generated always as identity primary key,
        migration_id text not null references migrations (id) on delete cascade,
        kind text not null check (kind in ('pause', 'outage')),
        -- Why the migration paused itself. Null for an outage, or if it is not known.
        stop text,
        -- What did not respond. Null for a pause.
        source text check (source in ('service', 'platform')),
        -- The reason for support: what to do about the pause, or the error of a call.
        why text not null,
        -- Null while a slice has reported why the migration must pause, and the migration has not paused yet.
        began_at timestamptz,
        -- When a slice or a probe last reported the outage. An outage began earlier, with the work on the first
        -- deferred company. Unused for a pause.
        reported_at timestamptz not null default clock_timestamp(),
        -- Null while the stoppage continues.
        ended_at timestamptz,
        constraint outages_begin_at_once check (kind = 'pause' or (began_at is not null and source is not null)),
        constraint stoppages_begin_before_they_end check (ended_at is null or began_at is not null)
      )`.execute(db);
    await sql`create index stoppages_by_migration on stoppages (migration_id, position)`.execute(db);
    await sql`
      create unique index one_reported_pause on stoppages (migration_id) where kind = 'pause' and began_at is null
      `.execute(db);
    await sql`
      create unique index one_open_outage on stoppages (migration_id) where kind = 'outage' and ended_at is null
      `.execute(db);
  },
};
