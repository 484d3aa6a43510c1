/** Tables for the settings of syncs, for pushes, for the quotas and rate limits of keys, and for the sandbox. */
import { sql } from 'kysely';
import { executing } from '../../../postgres/schema-migrations';

export const settingsPushesQuotas = executing(
  sql`create table sync_settings (
    company_id uuid not null references companies on delete cascade,
    data_type text not null,
    fetch_on_first_link boolean not null,
    sync_schedule integer not null,
    sync_order integer not null,
    primary key (company_id, data_type)
  )`,
  sql`create table push_operations (
    id uuid primary key default gen_random_uuid(),
    company_id uuid not null references companies on delete cascade,
    connection_id uuid not null references connections on delete cascade,
    data_type text not null,
    record jsonb not null,
    status text not null default 'Pending' check (status in ('Pending', 'Failed', 'Success', 'TimedOut')),
    status_code integer not null default 202,
    provider_status_code integer,
    error_message text,
    changes jsonb not null default '[]',
    requested_at timestamptz(3) not null default clock_timestamp(),
    completed_at timestamptz(3),
    due_at timestamptz default clock_timestamp()
  )`,
  sql`create index push_operations_due on push_operations (due_at) where due_at is not null`,
  sql`create index push_operations_in_order on push_operations (company_id, requested_at, id)`,
  sql`create index push_operations_of_connection on push_operations (connection_id)`,
  sql`create table daily_requests (
    key_id uuid not null references api_keys on delete cascade,
    day date not null,
    used integer not null,
    primary key (key_id, day)
  )`,
  sql`alter table sandbox_tokens add column minted_at timestamptz`,
  sql`create table sandbox_user_tokens (
    platform_key text not null,
    user_name text not null,
    digest bytea not null,
    number bigint generated always as identity,
    primary key (platform_key, user_name, digest)
  )`,
);

/** Lets the processes of a service share the rate limit of a key. */
export const sharedRateLimit = executing(
  // The table is unlogged, because it does no harm if the current minute starts again after a crash of Postgres.
  sql`create unlogged table rate_windows (
    key_id uuid primary key references api_keys on delete cascade,
    ends_at timestamptz not null,
    -- Number of requests that processes have leased in this window, and the size of the last lease.
    taken integer not null,
    granted integer not null
  )`,
);

/** Keeps pushed records in the sandbox, so that a sync returns them. */
export const pushedRecords = executing(
  sql`create table sandbox_records (
    key uuid primary key,
    platform_key text not null,
    organization_id text not null,
    grant_digest bytea not null,
    data_type text not null,
    number bigint generated always as identity,
    created_at timestamptz(3) not null default clock_timestamp(),
    fields jsonb not null
  )`,
  sql`create index sandbox_records_in_order
    on sandbox_records (platform_key, organization_id, grant_digest, data_type, number)`,
);
