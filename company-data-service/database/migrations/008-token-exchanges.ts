import { sql, type Kysely, type Migration } from 'kysely';

export const tokenExchanges: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create table token_exchanges (
      connection_id uuid not null references connections on delete cascade,
      -- SHA-256 of the authorization body.
      body_digest bytea not null,
      id uuid not null default gen_random_uuid(),
      begun_at timestamptz(3) not null default clock_timestamp(),
      primary key (connection_id, body_digest)
    )`.execute(db);
    await sql`create index token_exchanges_by_age on token_exchanges (begun_at)`.execute(db);
    await sql`alter table sandbox_tokens add column exchange_id uuid, add column successor_digest bytea`.execute(db);
  },
};
