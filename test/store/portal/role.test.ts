import { randomBytes } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import { Secret } from '../../../security';
import {
  checkPortalConnection,
  DatabaseUnavailable,
  grantPortalRole,
  openDatabase,
  PortalRoleRefused,
} from '../../../store';
import { createMovableMigration, manifestRows, useLedger } from '../../support/migrations/ledger';
import { call, invite, redeem, usePortal, valueOf } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);
beforeAll(async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(3));
  const session = await redeem(portal, (await invite(ledger.db, id)).token);
  await valueOf(portal, 'submit', session, '0b0e7a52-0000-4000-8000-000000000001', 'decide', '{}');
});

const DENIED = /permission denied/;

test('the role has no rights on any table, view or sequence of the ledger', async () => {
  const { rows } = await sql<{ name: string; kind: string }>`
    select relname as name, relkind as kind from pg_class
    where relnamespace = 'tokenferry'::regnamespace and relkind in ('r', 'v', 'S')`.execute(ledger.db);
  expect(rows.length).toBeGreaterThan(15);
  for (const { name, kind } of rows) {
    const table = `tokenferry.${name}`;
    await expect(portal.query(`select * from ${table}`)).rejects.toThrow(DENIED);
    if (kind === 'S') continue;
    await expect(portal.query(`insert into ${table} default values`)).rejects.toThrow(DENIED);
    await expect(portal.query(`delete from ${table}`)).rejects.toThrow(DENIED);
    await expect(portal.query(`truncate ${table}`)).rejects.toThrow(DENIED);
    await expect(portal.query(`drop table ${table}`)).rejects.toThrow(DENIED);
  }
  await expect(portal.query('update tokenferry.companies set state = state')).rejects.toThrow(DENIED);
  await expect(portal.query('update tokenferry.portal_sessions set ended_at = null')).rejects.toThrow(DENIED);
  const { rows: rights } = await sql`
    select table_name, column_name, privilege_type from information_schema.column_privileges
    where grantee in ('PUBLIC', ${portal.user ?? ''}) and table_schema like 'tokenferry%'`.execute(ledger.db);
  expect(rights).toEqual([]);
});

test('the role can call the functions of the portal, and no other function of the ledger', async () => {
  const { rows } = await portal.query<{ name: string }>(`
    select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname like 'tokenferry%' and has_schema_privilege(n.oid, 'usage')
      and has_function_privilege(p.oid, 'execute') order by 1`);
  expect(rows.map(({ name }) => name.replace(/^tokenferry_portal\.|\(.*$/g, ''))).toEqual([
    ...['answer', 'companies', 'end_session', 'live_sessions', 'redeem', 'request_identity_sign_in', 'request_sign_in'],
    ...['session', 'sign_in_outcome', 'submit', 'view'],
  ]);
  await expect(portal.query('select tokenferry.refuse_to_change_the_audit_trail()')).rejects.toThrow(DENIED);
  await expect(portal.query('create table tokenferry.mine (a int)')).rejects.toThrow(DENIED);
  await expect(portal.query('create function tokenferry_portal.mine() returns int return 1')).rejects.toThrow(DENIED);
  await expect(portal.query('create schema mine')).rejects.toThrow(DENIED);
});

test("only the portal's role, and not PUBLIC, has rights on the ledger, and only on the functions of the portal", async () => {
  const { rows } = await sql<{ grantee: string; object: string; privilege: string }>`
    with granted as (
      select 'schema ' || nspname as object, nspowner as owner, acl.*
      from pg_namespace, aclexplode(nspacl) acl where nspname like 'tokenferry%'
      union all
      select 'table ' || oid::regclass, relowner, acl.*
      from pg_class, aclexplode(relacl) acl where relnamespace::regnamespace::text like 'tokenferry%'
      union all
      -- Without a grant, Postgres gives PUBLIC the right to call a function.
      select 'functions of ' || pronamespace::regnamespace, proowner, acl.*
      from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) acl
      where pronamespace = 'tokenferry_portal'::regnamespace
    )
    select distinct coalesce(rolname, 'PUBLIC') as grantee, object, privilege_type as privilege
    from granted left join pg_roles r on r.oid = grantee where grantee <> owner order by object`.execute(ledger.db);
  const grantee = portal.user;
  expect(rows).toEqual([
    { grantee, object: 'functions of tokenferry_portal', privilege: 'EXECUTE' },
    { grantee, object: 'schema tokenferry_portal', privilege: 'USAGE' },
  ]);
});

test('every function has a fixed search path, so the caller cannot substitute its own tables', async () => {
  const { rows } = await sql<{ settings: readonly string[]; definer: boolean }>`
    select proconfig as settings, prosecdef as definer from pg_proc
    where pronamespace = 'tokenferry_portal'::regnamespace`.execute(ledger.db);
  expect(rows).toHaveLength(11);
  for (const { settings, definer } of rows) {
    expect(definer).toBe(true);
    expect(settings).toContain('search_path=pg_catalog, tokenferry, pg_temp');
  }
  await portal.query('create temp table live_portal_sessions as select 1 as session_hash');
  expect(await valueOf(portal, 'live_sessions', [Buffer.alloc(32)])).toEqual([]);
});

test('without a session, the role can read and change nothing', async () => {
  const guesses = [null, Buffer.alloc(0), Buffer.alloc(32), randomBytes(32)];
  for (const guess of guesses) {
    for (const statement of [
      'session($1)',
      'view($1)',
      'companies($1, null, null, null, null, 500)',
      `redeem($1, '\\x${'00'.repeat(32)}', '${'00'.repeat(32)}', 3600000)`,
    ])
      expect((await portal.query(`select * from tokenferry_portal.${statement}`, [guess])).rows).toEqual([]);
    expect(await valueOf(portal, 'submit', guess, '0b0e7a52-0000-4000-8000-000000000002', 'decide', '{}')).toBeNull();
    expect(await call(portal, 'answer', guess, '0b0e7a52-0000-4000-8000-000000000001')).toEqual([]);
    await valueOf(portal, 'end_session', guess);
  }
  const { rows } = await sql`
    select from portal_sessions where ended_at is null union all select from portal_requests`.execute(ledger.db);
  expect(rows).toHaveLength(2);
});

describe('granting the role', () => {
  const urlOf = (name: string, password = 'pass\'word"'): Secret => {
    const url = new URL(ledger.url);
    [url.username, url.password] = [encodeURIComponent(name), encodeURIComponent(password)];
    return new Secret(url.href);
  };
  const newName = () => `Portal "${randomBytes(4).toString('hex')}'`;

  test('creates the role once, even if several processes create it at the same time', async () => {
    const name = newName();
    const created = await Promise.all([1, 2, 3].map(() => grantPortalRole(ledger.db, urlOf(name))));
    expect(created.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(created).toContainEqual({ name, isNew: false });
    await checkPortalConnection(urlOf(name), 5_000);
    const { rows } = await sql<{ password: string }>`
      select rolpassword as password from pg_authid where rolname = ${name}`.execute(ledger.db);
    expect(rows[0]?.password).toMatch(/^SCRAM-SHA-256\$4096:/);
  });

  test('does not change the password of an existing role', async () => {
    const name = newName();
    await grantPortalRole(ledger.db, urlOf(name));
    expect(await grantPortalRole(ledger.db, urlOf(name, 'another'))).toEqual({ name, isNew: false });
    await checkPortalConnection(urlOf(name), 5_000);
    const wrong = checkPortalConnection(urlOf(name, 'another'), 5_000);
    await expect(wrong).rejects.toThrow(DatabaseUnavailable);
    await expect(wrong).rejects.not.toThrow(/another/);
  });

  test('refuses a role that has rights on tables, such as the role in DATABASE_URL', async () => {
    const refused = grantPortalRole(ledger.db, urlOf(new URL(ledger.url).username));
    await expect(refused).rejects.toThrow(PortalRoleRefused);
    await expect(refused).rejects.toMatchObject({
      remedy: 'revoke these rights, and every membership in a role that has them or that owns the tables',
    });
    const name = newName();
    await grantPortalRole(ledger.db, urlOf(name));
    await sql`grant select on companies to public`.execute(ledger.db);
    await expect(grantPortalRole(ledger.db, urlOf(name))).rejects.toThrow(/has rights on the table companies/);
    await sql`revoke select on companies from public`.execute(ledger.db);
  });

  test('says what an administrator has to do if the connection may not create roles', async () => {
    const owner = `owner_${randomBytes(4).toString('hex')}`;
    await ledger.db.executeQuery(CompiledQuery.raw(`create role ${owner} login password 'p'`));
    await ledger.db.executeQuery(CompiledQuery.raw(`create database ${owner} owner ${owner}`));
    const url = new URL(urlOf(owner, 'p').reveal());
    url.pathname = `/${owner}`;
    const db = await openDatabase({ url: url.href, connections: 1, createLedger: true });
    const name = newName();
    const refused = grantPortalRole(db, urlOf(name));
    await expect(refused).rejects.toThrow(/does not exist, and the role of DATABASE_URL may not create it/);
    await expect(refused).rejects.toMatchObject({ advice: expect.stringContaining('create role') as string });

    const quoted = `"${name.replaceAll('"', '""')}"`;
    await ledger.db.executeQuery(CompiledQuery.raw(`create role ${quoted} login password 'p'`));
    expect(await grantPortalRole(db, urlOf(name))).toEqual({ name, isNew: false });
    const granted = new URL(urlOf(name, 'p').reveal());
    granted.pathname = `/${owner}`;
    await checkPortalConnection(new Secret(granted.href), 5_000);
    await db.destroy();
    await ledger.db.executeQuery(CompiledQuery.raw(`drop database ${owner}`));
  });
});
