/**
 * The schema migration for the portal: invitations, sessions, requests and views, and the functions, which are the only
 * objects that the portal's database role can use (see docs/decisions/0031-portal.md).
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { createPortalFunctions, replaceReadingFunctions } from './portal-functions';
import { createSignInTable, createStoringFunction } from './portal-sign-in';

export const portal: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // True if a person has paused the migration. The client can lift this pause even if the migration has also paused
    // itself. An earlier version could not record both pauses at the same time.
    await sql`alter table migrations add column paused_by_people boolean not null default false`.execute(db);
    await sql`update migrations set paused_by_people = true where paused and not paused_itself`.execute(db);
    await sql`
      create table portal_invitations (
        id uuid primary key,
        migration_id text not null references migrations (id) on delete cascade,
        person text not null,
        -- client: may decide and supply; viewer: may only read.
        role text not null check (role in ('client', 'viewer')),
        email text,
        -- SHA-256 of the token in the link. Null if the person signs in at an identity provider instead.
        token_hash bytea unique,
        -- The identity provider at which the person signs in.
        issuer text,
        -- The id of the person's account at the identity provider. The first sign-in sets it. After
        -- that, another person who is given the email address cannot sign in.
        subject text,
        created_by text not null,
        created_at timestamptz not null default clock_timestamp(),
        -- The last time at which the invitation can be used for the first time. A session can last
        -- longer.
        expires_at timestamptz not null,
        redeemed_at timestamptz,
        -- The Ed25519 key of the person's browser, registered when the link is used. Null for viewers.
        public_key text check (public_key ~ '^[0-9a-f]{64}$'),
        -- When support confirmed the fingerprint of the key.
        key_confirmed_at timestamptz,
        revoked_at timestamptz,
        revoked_by text,
        constraint one_way_to_sign_in check ((token_hash is null) = (issuer is not null)),
        constraint accounts_have_addresses check (issuer is null or email is not null),
        constraint accounts_have_issuers check (subject is null or issuer is not null),
        constraint used_invitations_have_accounts check (redeemed_at is null or issuer is null or subject is not null),
        constraint clients_have_keys check (redeemed_at is null or (role = 'client') = (public_key is not null))
      )`.execute(db);
    // When the service was last asked whether end customers had reconnected their companies.
    await sql`alter table migrations add column reconnections_checked_at timestamptz`.execute(db);
    await sql`create index portal_invitations_by_migration on portal_invitations (migration_id)`.execute(db);
    await sql`
      create table portal_sessions (
        -- SHA-256 of the session's token.
        session_hash bytea primary key check (octet_length(session_hash) = 32),
        invitation_id uuid not null references portal_invitations (id) on delete cascade,
        created_at timestamptz not null default clock_timestamp(),
        last_used_at timestamptz not null default clock_timestamp(),
        expires_at timestamptz not null,
        ended_at timestamptz
      )`.execute(db);
    await sql`create index portal_sessions_by_invitation on portal_sessions (invitation_id)`.execute(db);
    await sql`
      create table portal_requests (
        id uuid primary key,
        invitation_id uuid not null references portal_invitations (id) on delete cascade,
        migration_id text not null references migrations (id) on delete cascade,
        kind text not null check (kind in ('decide', 'credentials', 'application', 'manifest', 'report')),
        -- Null once answered, because it can contain sealed credentials.
        body jsonb,
        -- Size of the body's text.
        bytes integer not null,
        created_at timestamptz not null default clock_timestamp(),
        -- The order in which the requests of an invitation were stored. created_at does not show it
        -- reliably, because a clock can be set back.
        position bigint generated always as identity,
        -- When a worker can next take the request. At first, this is the time at which it was
        -- stored. After a worker has taken it, this is the end of that worker's lease. After a
        -- failed attempt, this is the end of the pause before the next attempt.
        due_at timestamptz not null default clock_timestamp(),
        -- Number of workers that have taken the request without answering it or giving it back.
        attempts integer not null default 0,
        answer jsonb,
        answered_at timestamptz,
        -- True if the request was answered although no worker could carry it out.
        is_given_up boolean not null default false,
        constraint answered_requests_are_emptied check ((answered_at is null) = (body is not null))
      )`.execute(db);
    await sql`create index portal_requests_open on portal_requests (migration_id, position) where answered_at is null`.execute(
      db,
    );
    await sql`create index portal_requests_by_invitation on portal_requests (invitation_id)`.execute(db);
    await sql`
      create table portal_views (
        migration_id text primary key references migrations (id) on delete cascade,
        -- The portal view. Null until a worker has written it.
        view jsonb,
        -- Identifies the content of the view: the time in microseconds at which the content last
        -- changed.
        version bigint not null default 0,
        written_at timestamptz,
        -- When a session last asked for the view. Workers write only the views that are being
        -- watched.
        watched_at timestamptz not null default clock_timestamp(),
        -- When a worker last took the view to write it. Null once a worker has written it.
        taken_at timestamptz,
        -- Number of workers that have taken the view without writing it or giving it back.
        attempts integer not null default 0
      )`.execute(db);
    await sql`
      -- The manifest that a decision supplies, in parts, until the ledger has recorded the decision.
      create table staged_manifests (
        migration_id text not null references migrations (id) on delete cascade,
        decision_id text not null,
        -- Position of the part, from 0.
        part integer not null,
        -- The rows, as an array.
        rows jsonb not null,
        -- Size of the rows' text.
        bytes integer not null,
        supplied_by text not null,
        staged_at timestamptz not null default clock_timestamp(),
        primary key (migration_id, decision_id, part)
      )`.execute(db);
    // ANALYZE stores samples of a column unless its statistics target is 0.
    await sql`alter table portal_requests alter column body set statistics 0`.execute(db);
    await sql`alter table portal_requests alter column answer set statistics 0`.execute(db);
    await sql`alter table portal_views alter column view set statistics 0`.execute(db);
    await sql`
      -- The sessions that can be used. Every function that needs a session looks it up in this view.
      create view live_portal_sessions as
      select s.session_hash, s.last_used_at, s.expires_at, i.id as invitation_id, i.migration_id, i.person, i.role,
        i.public_key, i.key_confirmed_at is not null as is_key_confirmed
      from portal_sessions s
      join portal_invitations i on i.id = s.invitation_id
      where s.ended_at is null and s.expires_at > clock_timestamp()
        and s.last_used_at > clock_timestamp() - interval '3 days' and i.revoked_at is null`.execute(db);
    await createSignInTable(db);
    await createPortalFunctions(db);
  },
};

/** Replaces the functions that read, so that the search ignores accents and also finds the stored name. */
export const searchWithoutAccents: Migration = { up: replaceReadingFunctions };

/** Replaces the functions that read, so that `companies` returns `crossed_at`, on which a company's remedies depend. */
export const crossedInPortal: Migration = { up: replaceReadingFunctions };

/** Replaces the function that stores requests to sign in, so that it returns when a key can sign in again. */
export const signInWaits: Migration = { up: createStoringFunction };
