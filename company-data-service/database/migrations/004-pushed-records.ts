import { sql, type Kysely, type Migration } from 'kysely';

export const pushedRecords: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create table sandbox_records (
      key uuid primary key,
      platform_key text not null,
      organization_id text not null,
      grant_digest bytea not null,
      data_type text not null,
      number bigint generated always as identity,
      created_at timestamptz(3) not null default clock_timestamp(),
      fields jsonb not null
    )`.execute(db);
    await sql`create index sandbox_records_in_order
      on sandbox_records (platform_key, organization_id, grant_digest, data_type, number)`.execute(db);
  },
};
