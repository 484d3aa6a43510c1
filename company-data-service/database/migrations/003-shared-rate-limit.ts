import { sql, type Kysely, type Migration } from 'kysely';

export const sharedRateLimit: Migration = {
  async up(db: Kysely<unknown>) {
    // The table is unlogged, because it does no harm if the current minute starts again after a crash of Postgres.
    await sql`create unlogged table rate_windows (
      key_id uuid primary key references api_keys on delete cascade,
      ends_at timestamptz not null,
      -- Number of requests that processes have leased in this window, and the size of the last lease.
      taken integer not null,
      granted integer not null
    )`.execute(db);
  },
};
