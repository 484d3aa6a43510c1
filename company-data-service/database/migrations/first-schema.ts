import { sql } from 'kysely';
import { executing } from '../../../postgres/schema-migrations';

export const firstSchema = executing(
  sql`create table accounts (
    id uuid primary key default gen_random_uuid(),
    name text not null,
    plan text not null check (plan in ('trial', 'free', 'paid')),
    created_at timestamptz(3) not null default clock_timestamp()
  )`,
  sql`create table api_keys (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts on delete cascade,
    role text not null check (role in ('client', 'administrator')),
    state text not null default 'active' check (state in ('active', 'outdated')),
    digest bytea not null unique,
    created_at timestamptz(3) not null default clock_timestamp()
  )`,
  // Timestamps have millisecond precision, as in the API, so that a caller that sorts by creation time and id gets the
  // same order as the service.
  sql`create table companies (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts on delete cascade,
    name text not null,
    description text,
    tags jsonb not null default '{}',
    created_at timestamptz(3) not null default clock_timestamp()
  )`,
  sql`create index companies_in_order on companies (account_id, created_at, id)`,
  sql`create index companies_by_tag on companies using gin (tags jsonb_path_ops)`,
  sql`create table connections (
    id uuid primary key default gen_random_uuid(),
    company_id uuid not null references companies on delete cascade,
    platform_key text not null,
    source_id uuid not null default gen_random_uuid(),
    status text not null default 'PendingAuth' check (status in ('PendingAuth', 'Linked', 'Unlinked', 'Deauthorized')),
    data_types text[] not null,
    organization_id text,
    organization_name text,
    errors jsonb not null default '[]',
    created_at timestamptz(3) not null default clock_timestamp()
  )`,
  sql`create index connections_in_order on connections (company_id, created_at, id)`,
  sql`create table credentials (
    connection_id uuid primary key references connections on delete cascade,
    fields jsonb not null,
    accepted_digest bytea not null
  )`,
  sql`create table applications (
    account_id uuid not null references accounts on delete cascade,
    platform_key text not null,
    client_id text not null,
    client_secret text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    primary key (account_id, platform_key)
  )`,
  sql`create table syncs (
    id uuid primary key default gen_random_uuid(),
    company_id uuid not null references companies on delete cascade,
    connection_id uuid not null references connections on delete cascade,
    data_type text not null,
    status text not null default 'Queued',
    error_message text,
    requested_at timestamptz(3) not null default clock_timestamp(),
    completed_at timestamptz(3),
    progress integer not null default 0,
    cursor text,
    due_at timestamptz default clock_timestamp()
  )`,
  sql`create unique index syncs_under_way on syncs (connection_id, data_type) where due_at is not null`,
  sql`create index syncs_due on syncs (due_at) where due_at is not null`,
  sql`create index syncs_in_order on syncs (company_id, requested_at, id)`,
  sql`create index syncs_of_connection on syncs (connection_id)`,
  sql`create table data_sets (
    connection_id uuid not null references connections on delete cascade,
    data_type text not null,
    company_id uuid not null references companies on delete cascade,
    latest_sync_id uuid not null,
    latest_successful_sync_id uuid,
    last_successful_sync timestamptz(3),
    primary key (connection_id, data_type)
  )`,
  sql`create index data_sets_of_company on data_sets (company_id)`,
  sql`create table records (
    connection_id uuid not null references connections on delete cascade,
    data_type text not null,
    id text not null,
    company_id uuid not null,
    sync_id uuid not null,
    created_at timestamptz(3) not null,
    fields jsonb not null,
    primary key (connection_id, data_type, id)
  )`,
  sql`create index records_in_order on records (company_id, data_type, created_at, id)`,
  sql`create table idempotent_responses (
    account_id uuid not null references accounts on delete cascade,
    method text not null,
    path text not null,
    key uuid not null,
    body_digest bytea not null,
    status_code integer not null,
    body text,
    created_at timestamptz(3) not null default clock_timestamp(),
    primary key (account_id, method, path, key)
  )`,
  sql`create index idempotent_responses_by_age on idempotent_responses (created_at)`,
  sql`create table sandbox_tokens (
    platform_key text not null,
    digest bytea not null,
    uses integer not null default 0,
    spent_at timestamptz,
    primary key (platform_key, digest)
  )`,
);
