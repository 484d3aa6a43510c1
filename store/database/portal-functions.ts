/**
 * The functions of the Postgres schema `tokenferry_portal`. They run with the rights of the ledger's owner. The
 * portal's database role may call these functions and do nothing else.
 *
 * Most functions take the SHA-256 of a session's token. They return or change only data of the migration to which the
 * session's invitation belongs. For an unknown, expired or ended session, and for a revoked invitation, they return no
 * data.
 *
 * Signing in needs no session. It needs an invitation's token, or a proof that a worker checks (portal-sign-in.ts).
 */
import { CompiledQuery, sql, type Kysely } from 'kysely';
import { createSignInFunctions } from './portal-sign-in';

export async function createPortalFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`create schema if not exists tokenferry_portal`.execute(db);
  await createSessionFunctions(db);
  await createReadingFunctions(db);
  await createRequestFunctions(db);
  await createSignInFunctions(db);
  await withoutPublicRights(db);
}

/**
 * Revokes PUBLIC's right to call the functions. Needed after a function was created, because Postgres lets every role
 * call a new function. Roles that were granted the right keep it.
 */
async function withoutPublicRights(db: Kysely<unknown>): Promise<void> {
  await sql`revoke all on all functions in schema tokenferry_portal from public`.execute(db);
}

async function createSessionFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Redeems an invitation and creates its first session. Registers the public key of a client,
    -- and ignores that of a viewer.
    create function tokenferry_portal.redeem(token bytea, session bytea, key text, lifetime_ms bigint)
    returns table (invitation_id uuid, migration_id text, person text, role text, public_key text,
      is_key_confirmed boolean, expires_at timestamptz)
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    #variable_conflict use_column
    declare
      invitation uuid;
    begin
      update portal_invitations i
      set redeemed_at = clock_timestamp(), public_key = case when i.role = 'client' then key end
      where i.token_hash = token and i.redeemed_at is null and i.revoked_at is null
        and i.expires_at > clock_timestamp() and (i.role = 'viewer' or key ~ '^[0-9a-f]{64}$')
        and octet_length(session) = 32 and lifetime_ms between 60000 and 31 * 86400000::bigint
      returning i.id into invitation;
      if invitation is null then return; end if;
      insert into portal_sessions (session_hash, invitation_id, expires_at)
      values (session, invitation, clock_timestamp() + lifetime_ms * interval '1 millisecond');
      return query
        select s.invitation_id, s.migration_id, s.person, s.role, s.public_key, s.is_key_confirmed, s.expires_at
        from live_portal_sessions s where s.session_hash = session;
    end $$`.execute(db);
  await sql`
    -- Reads a session, and records at most once a minute that it is in use.
    create function tokenferry_portal.session(session bytea)
    returns table (invitation_id uuid, migration_id text, person text, role text, public_key text,
      is_key_confirmed boolean, expires_at timestamptz)
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    #variable_conflict use_column
    begin
      update portal_sessions s set last_used_at = clock_timestamp()
      where s.session_hash = session and s.last_used_at < clock_timestamp() - interval '1 minute'
        and exists (select from live_portal_sessions l where l.session_hash = session);
      return query
        select s.invitation_id, s.migration_id, s.person, s.role, s.public_key, s.is_key_confirmed, s.expires_at
        from live_portal_sessions s where s.session_hash = session;
    end $$`.execute(db);
  await sql`
    create function tokenferry_portal.end_session(session bytea) returns void
    language sql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
      update portal_sessions s set ended_at = clock_timestamp() where s.session_hash = session and s.ended_at is null
    $$`.execute(db);
  await sql`
    -- Returns the given sessions that can still be used.
    create function tokenferry_portal.live_sessions(sessions bytea[]) returns bytea[]
    language sql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
      select coalesce(array_agg(s.session_hash), '{}') from live_portal_sessions s
      where s.session_hash = any (sessions)
    $$`.execute(db);
}

/**
 * Replaces the functions that read. Drops `companies` first, because Postgres cannot replace a function if its columns
 * change. The roles that could call `companies` then get this right back.
 */
export async function replaceReadingFunctions(db: Kysely<unknown>): Promise<void> {
  const { rows: grants } = await sql<{ statement: string }>`
    select format('grant execute on function tokenferry_portal.companies to %I', r.rolname) as statement
    from pg_proc p cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
    where p.pronamespace = 'tokenferry_portal'::regnamespace and p.proname = 'companies'
      and a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner`.execute(db);
  await sql`drop function tokenferry_portal.companies`.execute(db);
  await createReadingFunctions(db);
  await withoutPublicRights(db);
  for (const { statement } of grants) await db.executeQuery(CompiledQuery.raw(statement));
}

/**
 * Creates the functions that read, or replaces them. A role keeps its right to call a function that is replaced.
 *
 * When a database is created, this runs before the schema migration that creates the functions that `companies` calls
 * (replaced-applications.ts). That works because Postgres looks them up only when `companies` is called.
 */
async function createReadingFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Returns the portal view of the session's migration, and marks it as watched. The column "view"
    -- is null if no worker has written the view yet, or if the caller already knows the current
    -- version.
    create or replace function tokenferry_portal.view(session bytea, known text default null)
    returns table (view jsonb, version text, written_at timestamptz, is_current boolean, age_ms double precision)
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    #variable_conflict use_column
    declare
      migration text := (select s.migration_id from live_portal_sessions s where s.session_hash = session);
    begin
      if migration is null then return; end if;
      -- Many sessions can watch the same migration. Skip the row if another session is marking it,
      -- so that sessions do not wait for one another.
      update portal_views v set watched_at = clock_timestamp()
      where v.migration_id = (
        select w.migration_id from portal_views w
        where w.migration_id = migration and w.watched_at < clock_timestamp() - interval '1 second'
        for no key update skip locked);
      if not exists (select from portal_views v where v.migration_id = migration) then
        insert into portal_views (migration_id) values (migration) on conflict do nothing;
      end if;
      return query
        select case when known is distinct from v.version::text then v.view end, v.version::text, v.written_at,
          coalesce(v.written_at > clock_timestamp() - interval '20 seconds', false),
          extract(epoch from clock_timestamp() - v.written_at)::double precision * 1000
        from portal_views v where v.migration_id = migration;
    end $$`.execute(db);
  await sql`
    -- Returns a page of companies. Postgres plans each call separately, because the best plan
    -- depends on the filter. With statement_timestamp(), Postgres can read the rows in order and
    -- stop when the page is full. With the volatile clock_timestamp(), it would read and sort all
    -- rows.
    create or replace function tokenferry_portal.companies(session bytea, client_state text, only_exceptions boolean, search text,
      after_row integer, max integer)
    returns table ("row" integer, reference text, name text, organization text, wave integer, state text, failure text, failure_text text,
      held_back text, left_out_reason text, is_deferred boolean, retry_at timestamptz, tries integer,
      confirmed_at timestamptz, credential text, moved_at timestamptz, crossed_at timestamptz, link_url text, depends_on_replaced boolean,
      has_ended boolean)
    language plpgsql security definer
    set search_path = pg_catalog, tokenferry, pg_temp set plan_cache_mode = force_custom_plan
    set max_parallel_workers_per_gather = 0 as $$
    #variable_conflict use_column
    declare
      migration text := (select s.migration_id from live_portal_sessions s where s.session_hash = session);
      -- When the companies that depend on a replaced application were connected.
      replaced record;
      is_moving boolean := exists (
        select from migrations m where m.id = migration and m.state = 'open' and m.released = 'all');
      is_rotating boolean := exists (select from migrations m where m.id = migration and m.rotating);
      -- Accents are separate characters in the normal form NFD. They are ignored. Only texts with characters other than
      -- ASCII are normalized, because that is slow.
      accents text := '[\\u0300-\\u036f]';
      pattern text := '%' || replace(replace(replace(regexp_replace(normalize(search, nfd), accents, '', 'g'),
        '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%';
      ledger_states text[] := case client_state
        when 'moved' then '{moved}' when 'moving' then '{importing,syncing}'
        when 'not-moved-yet' then '{waiting,outcome-unknown}' when 'left-out' then '{skipped,excluded}'
        when 'must-reconnect' then '{failed}' when 'not-moved' then '{failed}' else '{}' end;
      -- Confirmed companies without a usable credential, once the other companies move.
      lacking integer[] := '{}';
    begin
      if migration is null then return; end if;
      select t.crossed, t.authorized into replaced from times_of_replaced_applications(migration) t;
      -- One statement finds them all. A condition below would look for the credential of one company after another.
      if only_exceptions and is_moving then
        lacking := array(
          select c.row from companies c
          left join credentials v on v.migration_id = migration and v.row = c.row
          where c.migration_id = migration and c.row > coalesce(after_row, 0) and c.state = 'waiting'
            and c.confirmed_at is not null
            and (v.row is null or (is_rotating and v.obtained_at < c.confirmed_at)));
      end if;
      return query
        select f.row, f.reference, f.name, f.organization, f.wave, f.state, f.failure, f.failure_text, f.held_back, f.left_out_reason,
          f.is_deferred and m.state <> 'closed', case when f.is_deferred and m.state <> 'closed' then f.not_before end,
          f.tries, f.confirmed_at,
          case when f.state = 'waiting' and m.state <> 'closed' then
            case when v.row is null then 'missing'
              when m.rotating and v.obtained_at < f.confirmed_at then 'too-early' else 'supplied' end end,
          f.moved_at, f.crossed_at, case when f.is_replaced or f.state in ('failed', 'outcome-unknown') then f.link_url end,
          f.is_replaced, m.state = 'closed'
        from (
          select * from (
            select c.*, (c.state = 'waiting' and c.held_back is null and c.failure_text is not null
              and (c.tries >= 2 or c.failure is not null or c.not_before > statement_timestamp() + interval '5 minutes')
            ) as is_deferred,
              depends_on_replaced(c.crossed_at, c.authorized_at, replaced.crossed, replaced.authorized) as is_replaced
            from companies c
            where c.migration_id = migration and c.row > coalesce(after_row, 0)
              and (client_state is null or c.state = any (ledger_states))
              and (client_state is null or client_state not in ('must-reconnect', 'not-moved')
                or (client_state = 'must-reconnect') = (c.failure is not distinct from 'reauthorization-required'))
              and (search is null
                or c.reference ilike pattern or c.name ilike pattern or c.stored_name ilike pattern
                or (octet_length(c.reference) > char_length(c.reference)
                  and regexp_replace(normalize(c.reference, nfd), accents, '', 'g') ilike pattern)
                or (octet_length(c.name) > char_length(c.name)
                  and regexp_replace(normalize(c.name, nfd), accents, '', 'g') ilike pattern)
                or (octet_length(c.stored_name) > char_length(c.stored_name)
                  and regexp_replace(normalize(c.stored_name, nfd), accents, '', 'g') ilike pattern))
          ) e
          where only_exceptions is not true or e.is_deferred or e.state in ('failed', 'outcome-unknown')
            or (e.state = 'waiting' and e.held_back is not null) or e.is_replaced
            or e.row = any (lacking)
          order by e.row limit least(greatest(max, 0), 500)
        ) f
        join migrations m on m.id = f.migration_id
        left join credentials v on v.migration_id = f.migration_id and v.row = f.row
        order by f.row;
    end $$`.execute(db);
}

async function createRequestFunctions(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Stores a request and returns 'stored'. Returns 'exists' if this invitation has already sent
    -- the request. Returns 'refused' if the request is malformed, if another invitation has sent
    -- it, if a viewer requests anything but a report, or if the invitation's requests are too many
    -- or too large. Returns null if the session cannot be used.
    create function tokenferry_portal.submit(session bytea, request uuid, request_kind text, content jsonb) returns text
    language plpgsql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
    declare
      by_session live_portal_sessions;
      owner uuid;
      size integer := octet_length(content::text);
      is_within_limits boolean;
    begin
      select * into by_session from live_portal_sessions s where s.session_hash = session;
      if not found then return null; end if;
      -- Lock the invitation, so that its requests are stored one at a time and the counts below are
      -- exact. The lock also waits for a revocation that is in progress.
      perform from portal_invitations i where i.id = by_session.invitation_id and i.revoked_at is null for update;
      if not found then return null; end if;
      if request is null or content is null or request_kind is null
        or request_kind not in ('decide', 'credentials', 'application', 'manifest', 'report')
        or (by_session.role <> 'client' and request_kind <> 'report') then return 'refused'; end if;
      select r.invitation_id into owner from portal_requests r where r.id = request;
      if owner = by_session.invitation_id then return 'exists'; end if;
      if owner is not null then return 'refused'; end if;
      select count(*) filter (where r.answered_at is null) < 32
        and coalesce(sum(r.bytes) filter (where r.answered_at is null), 0) + size <= 32 * 1024 * 1024
        and count(*) < 5000
        and (request_kind <> 'report' or count(*) filter (where r.kind = 'report' and r.answered_at is null) < 4)
      into is_within_limits from portal_requests r where r.invitation_id = by_session.invitation_id;
      if not is_within_limits then return 'refused'; end if;
      -- Delete all but the latest three answered reports, because reports are large.
      if request_kind = 'report' then
        delete from portal_requests r where r.id in (
          select o.id from portal_requests o
          where o.invitation_id = by_session.invitation_id and o.kind = 'report' and o.answered_at is not null
          order by o.created_at desc offset 3);
      end if;
      insert into portal_requests (id, invitation_id, migration_id, kind, body, bytes)
      values (request, by_session.invitation_id, by_session.migration_id, request_kind, content, size)
      on conflict do nothing;
      return case when found then 'stored' else 'refused' end;
    end $$`.execute(db);
  await sql`
    -- Returns the answer to a request of the session's invitation. The answer is null until a
    -- worker has answered. Returns no row if this invitation has not sent the request, even if
    -- another invitation has sent it.
    create function tokenferry_portal.answer(session bytea, request uuid) returns table (answer jsonb)
    language sql security definer set search_path = pg_catalog, tokenferry, pg_temp as $$
      select r.answer from portal_requests r
      join live_portal_sessions s on s.invitation_id = r.invitation_id
      where s.session_hash = session and r.id = request
    $$`.execute(db);
}
