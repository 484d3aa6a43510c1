/**
 * Requests to sign in to the portal without an invitation's link. The portal's database role can only store such a
 * request with its proof, and read the outcome. A worker checks the proof and creates the session.
 */
import { sql, type Kysely } from 'kysely';

export async function createSignInTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table portal_sign_ins (
      -- SHA-256 of the token of the requested session. As the primary key, it also ensures that a
      -- request is used only once.
      session_hash bytea primary key check (octet_length(session_hash) = 32),
      migration_id text not null references migrations (id) on delete cascade,
      -- The public key that the person claims to have. It proves nothing until a worker has checked
      -- the proof.
      public_key text not null check (public_key ~ '^[0-9a-f]{64}$'),
      -- The proof that a worker checks. Null after the request has been answered.
      proof jsonb,
      lifetime_ms bigint not null check (lifetime_ms between 60000 and 31 * 86400000::bigint),
      created_at timestamptz not null default clock_timestamp(),
      -- When a worker last took the request. If the worker does not answer it within its lease,
      -- another worker can take it.
      taken_at timestamptz,
      outcome text check (outcome in ('signed-in', 'unconfirmed', 'refused')),
      constraint answered_sign_ins_are_emptied check ((outcome is null) = (proof is not null))
    )`.execute(db);
  await sql`create index portal_sign_ins_by_migration on portal_sign_ins (migration_id, public_key)`.execute(db);
  await sql`alter table portal_sign_ins alter column proof set statistics 0`.execute(db);
  await sql`
    -- The requests that a worker can still take.
    create view open_portal_sign_ins as
    select * from portal_sign_ins
    where outcome is null and created_at > clock_timestamp() - interval '2 minutes'`.execute(db);
}

/** Creates the function that stores a request to sign in, or replaces it. */
export async function createStoringFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Stores a sign-in request. Its callers first check that the person was invited. The portal's
    -- database role cannot call this function directly.
    create or replace function store_portal_sign_in(session bytea, migration text, key text, content jsonb, lifetime_ms bigint)
    returns text language plpgsql set search_path = pg_catalog, tokenferry, pg_temp as $$
    declare
      is_within_limits boolean;
      full_until timestamptz;
    begin
      if session is null or octet_length(session) <> 32 or content is null or octet_length(content::text) > 16384
        or key !~ '^[0-9a-f]{64}$'
        or lifetime_ms is null or lifetime_ms not between 60000 and 31 * 86400000::bigint then return 'refused'; end if;
      -- Store requests one at a time, so that the counts below are exact.
      perform pg_advisory_xact_lock(hashtext('tokenferry portal sign-ins'));
      if exists (select from portal_sign_ins s where s.session_hash = session) then return 'exists'; end if;
      -- When fewer than 60 requests of the last hour have the key.
      select s.created_at + interval '1 hour' into full_until from portal_sign_ins s
      where s.migration_id = migration and s.public_key = key order by s.created_at desc offset 59 limit 1;
      if full_until > clock_timestamp() then
        return 'busy ' || ceil(extract(epoch from full_until - clock_timestamp()))::integer;
      end if;
      select (select count(*) from open_portal_sign_ins) < 100
        and (select count(*) from open_portal_sign_ins o where o.migration_id = migration and o.public_key = key) < 4
      into is_within_limits;
      if not is_within_limits then return 'busy'; end if;
      insert into portal_sign_ins (session_hash, migration_id, public_key, proof, lifetime_ms)
      values (session, migration, key, content, lifetime_ms);
      return 'stored';
    end $$`.execute(db);
}

export async function createSignInFunctions(db: Kysely<unknown>): Promise<void> {
  await createStoringFunction(db);
  await sql`
    -- Stores a request to sign in with a registered key. Needs no session, and creates none.
    -- Returns 'stored'; 'exists' if the request was stored before; 'refused' if it is malformed, or
    -- if no invitation has the key; 'busy' if there are too many requests, and 'busy <seconds>' if
    -- the key has too many in an hour.
    create function tokenferry_portal.request_sign_in(session bytea, migration text, key text, content jsonb,
      lifetime_ms bigint) returns text
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    begin
      if not exists (
        select from portal_invitations i
        where i.migration_id = migration and i.public_key = key and i.revoked_at is null) then return 'refused'; end if;
      return store_portal_sign_in(session, migration, key, content, lifetime_ms);
    end $$`.execute(db);
  await sql`
    -- Stores a request to sign in with an account at an identity provider. Returns the same texts
    -- as request_sign_in. Returns 'refused' if no invitation matches the account. A worker checks
    -- whose account it is.
    create function tokenferry_portal.request_identity_sign_in(session bytea, migration text, key text,
      account_issuer text, account_subject text, account_email text, content jsonb, lifetime_ms bigint) returns text
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    begin
      if key is null or not exists (
        select from portal_invitations i
        where i.migration_id = migration and i.issuer = account_issuer and i.revoked_at is null
          and (i.subject = account_subject or (i.subject is null and lower(i.email) = lower(account_email))))
      then return 'refused'; end if;
      return store_portal_sign_in(session, migration, key, content, lifetime_ms);
    end $$`.execute(db);
  await sql`
    -- Returns the outcome of a request to sign in; null if it has not been answered.
    create function tokenferry_portal.sign_in_outcome(session bytea) returns text
    language sql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
      select s.outcome from portal_sign_ins s where s.session_hash = session
    $$`.execute(db);
}
