/**
 * The schema migrations for applications: which application is registered, and with which application each company
 * was connected, even after its end customer has reconnected it.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { replaceReadingFunctions } from './portal-functions';

export const registeredApplications: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // The client's application that is registered at the service. Stored by the latest preflight that found no problem
    // with it, but not replaced once the service has accepted a credential of the migration.
    await sql`alter table migrations add column application jsonb`.execute(db);
  },
};

export const replacedApplications: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table companies
        -- When the end customer has reconnected the company. Null if that was not checked: it is checked for a company
        -- that must reconnect, and for one whose application was replaced.
        add column authorized_at timestamptz,
        -- When a worker last asked the service whether the end customer has reconnected.
        add column authorization_checked_at timestamptz,
        -- When a worker found that the connection was not linked. Once it is linked again, the end customer has
        -- reconnected. Needed for a service that does not say when a connection was authorized.
        add column unlinked_at timestamptz`.execute(db);
    await sql`
      create index decisions_on_applications on decisions (at)
        where applied and content ->> 'kind' = 'application-supplied'`.execute(db);
    await sql`
      -- The applications that were supplied, with the platform and the namespace for which each was registered.
      create view supplied_applications as
      select d.migration_id, d.at, d.position, m.platform_key, m.namespace,
        jsonb_build_object('clientId', d.content ->> 'clientId', 'environment', d.content ->> 'environment')
          as application
      from decisions d join migrations m on m.id = d.migration_id
      where d.applied and d.content ->> 'kind' = 'application-supplied'`.execute(db);
    await sql`
      -- The companies whose credentials the service has accepted, with the application that was registered when they were
      -- connected. If the end customer has reconnected since, any migration can have registered that application.
      create view company_applications as
      select c.migration_id, c.row, c.reference, greatest(c.crossed_at, c.authorized_at) as connected_at,
        coalesce(r.application, s.application, m.application) as application
      from companies c
      join migrations m on m.id = c.migration_id
      left join (
        select migration_id, at, application, lead(at) over (partition by migration_id order by position) as until
        from supplied_applications) s
        on s.migration_id = c.migration_id and s.at <= c.crossed_at and (s.until is null or c.crossed_at < s.until)
      left join lateral (
        select a.application from supplied_applications a
        where c.authorized_at > c.crossed_at and a.at <= c.authorized_at
          and a.platform_key = m.platform_key and a.namespace is not distinct from m.namespace
        order by a.at desc, a.position desc limit 1) r on true
      where c.crossed_at is not null and coalesce(r.application, s.application, m.application) is not null`.execute(db);
    // Finds the company that was connected last, and companies that were connected within a time range.
    await sql`
      create index companies_by_connection_time on companies (migration_id, (greatest(crossed_at, authorized_at)))
        where crossed_at is not null`.execute(db);
    await sql`
      -- Returns the times at which an application was registered that was replaced later. A company depends on that
      -- application if its credential crossed at such a time, or, once its end customer has reconnected, if its
      -- connection was authorized then. The two differ: any migration can have registered the application of a
      -- reconnected company. Returns times instead of companies, because a migration can have many companies but has
      -- few applications. Both results are empty if no company was connected at these times.
      create function times_of_replaced_applications(migration text, out crossed tstzmultirange,
        out authorized tstzmultirange)
      language plpgsql stable as $$
      declare
        own migrations := (select m from migrations m where m.id = migration);
        connected timestamptz;
        used jsonb;
        later jsonb;
      begin
        crossed := '{}';
        authorized := '{}';
        -- Returns at once if only one application is known, because that is so in almost every migration.
        if (
          select count(distinct known.application) from (
            select a.application from supplied_applications a
            where a.platform_key = own.platform_key and a.namespace is not distinct from own.namespace
            union all select own.application where own.application is not null) known) < 2 then return; end if;
        select a.connected_at, a.application into connected, used from company_applications a
        where a.migration_id = migration order by a.connected_at desc limit 1;
        if connected is null then return; end if;
        select a.application into later from supplied_applications a
        where a.at > connected and a.platform_key = own.platform_key
          and a.namespace is not distinct from own.namespace
        order by a.at desc, a.position desc limit 1;
        used := coalesce(later, used);
        select coalesce(range_agg(tstzrange(r.since, r.until)) filter (where r.application <> used), '{}') into crossed
        from (
          select a.application, a.at as since, lead(a.at) over (order by a.position) as until
          from supplied_applications a where a.migration_id = migration
          union all
          select own.application, null, (
            select a.at from supplied_applications a where a.migration_id = migration order by a.position limit 1)) r
        where r.since is null or r.until is null or r.since <= r.until;
        select coalesce(range_agg(tstzrange(r.since, r.until)) filter (where r.application <> used), '{}')
        into authorized
        from (
          select a.application, a.at as since, lead(a.at) over (order by a.at, a.position) as until
          from supplied_applications a
          where a.platform_key = own.platform_key and a.namespace is not distinct from own.namespace
          union all
          select own.application, null, (
            select min(a.at) from supplied_applications a
            where a.platform_key = own.platform_key and a.namespace is not distinct from own.namespace)) r;
        if not exists (
          select from unnest(crossed + authorized) r (times)
          where exists (
            select from companies c
            where c.migration_id = migration and c.crossed_at is not null
              and greatest(c.crossed_at, c.authorized_at) >= coalesce(lower(r.times), '-infinity')
              and greatest(c.crossed_at, c.authorized_at) < coalesce(upper(r.times), 'infinity')))
        then
          crossed := '{}';
          authorized := '{}';
        end if;
      end $$`.execute(db);
    await sql`
      -- Returns whether a company depends on a replaced application. The times are those of the function above.
      create function depends_on_replaced(crossed_at timestamptz, authorized_at timestamptz, crossed tstzmultirange,
        authorized tstzmultirange) returns boolean
      language sql immutable as $$
        select coalesce(case when authorized_at > crossed_at then authorized_at <@ authorized
          else crossed_at <@ crossed end, false)
      $$`.execute(db);
    await sql`
      revoke all on function times_of_replaced_applications(text) from public`.execute(db);
    await sql`
      revoke all on function depends_on_replaced(timestamptz, timestamptz, tstzmultirange, tstzmultirange) from public
      `.execute(db);
    // The portal lists the companies that depend on a replaced application, with the links with which their end
    // customers reconnect.
    await replaceReadingFunctions(db);
  },
};
