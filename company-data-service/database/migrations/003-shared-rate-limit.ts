import { sql, type Kysely, type Migration } from 'kysely';

export const sharedRateLimit: Migration = {
  async up(db: Kysely<unknown>) {
    // The table is unlogged, because the minute can start again after a crash of Postgres.
    await sql`create unlogged table rate_windows (
      key_id uuid primary key references api_keys on delete cascade,
      ends_at timestamptz not null,
      -- Requests that processes have leased in this window, and how many the last one was given.
      taken integer not null,
      granted integer not null
    )`.execute(db);
  },
};
