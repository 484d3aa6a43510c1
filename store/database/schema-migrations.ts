/** How the tables came to be, in order. A step that has been released is never changed; a new one is added. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';

const theLedger: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table migrations (
        id text primary key,
        client text not null,
        platform_key text not null,
        contact text not null,
        -- A refresh at the platform ends the old refresh token: only credentials obtained after the freeze count.
        rotating boolean not null,
        -- supplied: the manifest is here, no workflow yet; open: the workflow runs; closed: nothing may be claimed.
        state text not null check (state in ('supplied', 'open', 'closed')),
        paused boolean not null default false,
        limits jsonb not null,
        manifest_digest text not null,
        supplied_by text not null,
        supplied_at timestamptz not null default now(),
        -- The one run whose slices may claim; any other is a zombie.
        current_run text,
        -- Null: no window, companies may be started at any time.
        window_opens_at timestamptz,
        window_closes_at timestamptz,
        -- Credentials are sealed with the public key; the private key is wrapped by the master key of that id.
        vault_public_key bytea,
        vault_key_id text,
        vault_wrapped_key bytea,
        vault_destroyed_at timestamptz,
        closed_at timestamptz,
        ending text check (ending in ('completed', 'abandoned'))
      )`.execute(db);
    await sql`
      create table companies (
        migration_id text not null references migrations (id) on delete cascade,
        row integer not null,
        reference text not null,
        name text not null,
        platform_key text not null,
        organization text not null,
        organization_open boolean not null default true,
        family text,
        wave integer,
        expected_invoices integer,
        state text not null default 'waiting' check (state in
          ('waiting', 'importing', 'syncing', 'migrated', 'failed', 'skipped', 'excluded', 'outcome-unknown')),
        -- When the client confirmed that its own application no longer uses the token; null: never to be imported.
        confirmed_at timestamptz,
        confirmed_by text,
        -- After a failure that may pass, not to be claimed before this.
        not_before timestamptz,
        tries integer not null default 0,
        -- Which attempt of which slice holds the row while it is importing, and since when.
        attempt text,
        claimed_at timestamptz,
        company_id uuid,
        connection_id uuid,
        stored_name text,
        link_url text,
        sync_started_at timestamptz,
        next_check_at timestamptz,
        checks integer not null default 0,
        moved_at timestamptz,
        failure text,
        failure_text text,
        correlation_id text,
        evidence jsonb,
        primary key (migration_id, row),
        unique (migration_id, reference),
        constraint importing_was_confirmed check (state <> 'importing' or (confirmed_at is not null and attempt is not null))
      )`.execute(db);
    await sql`
      create unique index one_open_migration_per_organization
        on companies (platform_key, organization) where organization_open`.execute(db);
    await sql`
      create unique index one_importing_per_family
        on companies (migration_id, family) where state = 'importing' and family is not null`.execute(db);
    await sql`create index companies_by_state on companies (migration_id, state, confirmed_at, row)`.execute(db);
    await sql`
      create index companies_due on companies (migration_id, next_check_at) where state = 'syncing'`.execute(db);
    await sql`
      create table credentials (
        migration_id text not null,
        row integer not null,
        sealed bytea not null,
        -- When the client's application last received it: before the freeze, a rotating one is worth nothing.
        obtained_at timestamptz not null,
        supplied_by text not null,
        supplied_at timestamptz not null default now(),
        primary key (migration_id, row),
        foreign key (migration_id, row) references companies (migration_id, row) on delete cascade
      )`.execute(db);
    await sql`
      create table slices (
        migration_id text not null references migrations (id) on delete cascade,
        run text not null,
        slice integer not null,
        -- The latest attempt of this slice; an earlier one that wakes again may claim nothing.
        attempt integer not null,
        primary key (migration_id, run, slice)
      )`.execute(db);
    await sql`
      create table decisions (
        migration_id text not null references migrations (id),
        decision_id text not null,
        at timestamptz not null,
        role text not null,
        by_whom text not null,
        content jsonb not null,
        applied boolean not null,
        text text not null,
        recorded_at timestamptz not null default now(),
        primary key (migration_id, decision_id)
      )`.execute(db);
    await sql`
      create function refuse_to_change_the_audit_trail() returns trigger language plpgsql as
        $$ begin raise exception 'the audit trail is append-only'; end $$`.execute(db);
    await sql`
      create trigger the_audit_trail_is_append_only before update or delete on decisions
        for each row execute function refuse_to_change_the_audit_trail()`.execute(db);
    await sql`
      create trigger the_audit_trail_is_not_emptied before truncate on decisions
        for each statement execute function refuse_to_change_the_audit_trail()`.execute(db);
  },
};

const settlingExceptions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        -- Records of all companies together, where the client gave no more than that.
        add column records_in_total integer,
        -- As it was estimated when its start was proposed: what the report compares with what came true.
        add column planned jsonb,
        -- Only the companies of the ramp may be claimed.
        add column ramp_only boolean not null default false,
        drop constraint migrations_ending_check,
        add constraint migrations_ending_check check (ending in ('completed', 'abandoned', 'cancelled'))`.execute(db);
    await sql`
      alter table companies
        -- Moved before the others of its batch, to see that all goes well.
        add column in_ramp boolean not null default false,
        -- What the check of an added or corrected row found wrong: not to be imported until it is corrected.
        add column held_back text,
        -- Who left it out or gave it up, and why.
        add column settled_by text,
        add column settled_reason text,
        -- Support has gone on although it was not moved: it no longer counts against what the plan tolerates.
        add column failure_accepted boolean not null default false,
        -- Since when the end customer is expected to connect again.
        add column relinking_since timestamptz,
        -- Written before the authorization leaves: without it, no credential has been used.
        add column authorization_sent_at timestamptz,
        -- Until then nobody takes an importing company over. Whoever claims it says so: it knows how long its calls last.
        add column held_until timestamptz,
        -- Since when the service holds a grant of it: from then on nobody but the service may use one. Never taken back.
        add column crossed_at timestamptz,
        -- How the service answered when it accepted the credential: which refreshed it, once.
        add column accepted jsonb,
        -- From the claim to the start of the syncs, and from there until they were seen to be complete.
        add column import_ms integer,
        add column sync_ms integer,
        -- How often the service syncs it from now on, as it said when the company had moved.
        add column sync_schedule jsonb`.execute(db);
    await sql`
      alter table credentials
        -- The service has accepted it: from then on nobody but the service may use it.
        add column crossed_at timestamptz,
        -- It has replaced one that may have been accepted: it is sent although the connection is linked.
        add column supersedes boolean not null default false`.execute(db);
    await sql`
      alter table decisions
        -- The order in which they were taken: several may have come in one millisecond.
        add column position bigint generated always as identity,
        -- A message that could not be read need not say who sent it.
        alter column role drop not null,
        alter column by_whom drop not null`.execute(db);
    await sql`
      -- How fast the service was when companies of a platform were moved last: what later migrations are estimated with.
      create table speeds (
        platform_key text primary key,
        -- Means. Milliseconds.
        import_ms double precision not null,
        sync_base_ms double precision not null,
        ms_per_record double precision not null,
        companies integer not null
      )`.execute(db);
  },
};

const claimsInOrder: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create index companies_to_claim on companies (migration_id, wave, confirmed_at, row)
        where state = 'waiting' and confirmed_at is not null and held_back is null`.execute(db);
    await sql`
      create index companies_by_family on companies (migration_id, family) where family is not null`.execute(db);
  },
};

const theSelfServiceRoute: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table migrations
        add column route text not null default 'managed' check (route in ('managed', 'self-service'))`.execute(db);
    await sql`
      alter table companies
        -- What of it the client has named, so that it was there before: its company, or its connection as well.
        add column named text check (named in ('company', 'connection')),
        add constraint named_is_known check (named is null or company_id is not null)`.execute(db);
  },
};

const signedDecisions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The message as it was signed, with its signature: whoever has the public key can verify it.
    await sql`alter table decisions add column signed jsonb`.execute(db);
  },
};

const namespaces: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Of Temporal, in which it runs: several can share a ledger, and none may take another's migrations for gone.
    await sql`alter table migrations add column namespace text`.execute(db);
  },
};

export const SCHEMA_MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-the-ledger': theLedger,
  '0002-settling-exceptions': settlingExceptions,
  '0003-claims-in-order': claimsInOrder,
  '0004-the-self-service-route': theSelfServiceRoute,
  '0005-signed-decisions': signedDecisions,
  '0006-namespaces': namespaces,
};
