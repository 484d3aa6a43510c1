import { SCHEMA_MIGRATIONS } from '../../../store/database/schema-migrations';
import { sql } from 'kysely';
import { Client } from 'pg';
import { DatabaseUnavailable, grantPortalRole, LedgerMissing, openDatabase } from '../../../store';
import { withAdvice } from '../../../cli/shared/errors';
import { Secret } from '../../../security';
import { createTestDatabase, execute } from '../../support/servers/database';

test('applies the schema migrations once when five processes open an empty database concurrently', async () => {
  const database = await createTestDatabase();
  try {
    const opened = await Promise.all(
      [1, 2, 3, 4, 5].map(() => openDatabase({ url: database.url, connections: 2, createLedger: true })),
    );
    for (const db of opened) {
      const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
      expect(rows.map(({ name }) => name)).toEqual(Object.keys(SCHEMA_MIGRATIONS));
      expect(await db.selectFrom('migrations').selectAll().execute()).toEqual([]);
    }
    await Promise.all(opened.map((db) => db.destroy()));
  } finally {
    await database.drop();
  }
});

test('a database without a ledger is refused and stays empty, but an older ledger is updated', async () => {
  const database = await createTestDatabase();
  const error = await openDatabase({ url: database.url }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LedgerMissing);
  expect(error).toMatchObject({ isOutage: false, hasNewerSchema: false });
  const { rows } = await execute(database.url, "select nspname from pg_namespace where nspname = 'tokenferry'");
  expect(rows).toEqual([]);

  const created = await openDatabase({ url: database.url, createLedger: true });
  // Undoes `0024-first-claims` and the schema migrations after it.
  await sql`alter table companies drop column first_claimed_at, drop column outcome_at`.execute(created);
  await sql`delete from kysely_migration where name >= '0024-first-claims'`.execute(created);
  await created.destroy();
  const updated = await openDatabase({ url: database.url });
  expect(await updated.selectFrom('companies').select('first_claimed_at').execute()).toEqual([]);
  await updated.destroy();
  await database.drop();
});

test('removes samples of sealed columns from the planner statistics, and ANALYZE stores none', async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url, createLedger: true });
  const samples = async () =>
    (
      await sql<{ column: string }>`
        select attname as "column" from pg_stats
        where schemaname = 'tokenferry' and attname in ('sealed', 'vault_wrapped_key')`.execute(db)
    ).rows;
  await sql`
    insert into migrations (id, client, platform_key, contact, rotating, state, limits, manifest_digest, supplied_by,
      vault_wrapped_key)
    select 'm' || n, 'c', 'p', 's', false, 'open', '{}', 'd', 'Cleo', sha256(n::text::bytea)
    from generate_series(1, 50) n`.execute(db);
  await sql`
    insert into companies (migration_id, row, reference, name, platform_key, organization)
    select 'm' || n, 1, 'r', 'n', 'p', n::text from generate_series(1, 50) n`.execute(db);
  await sql`
    insert into credentials (migration_id, row, sealed, obtained_at, supplied_by)
    select id, 1, vault_wrapped_key, now(), 'Cleo' from migrations`.execute(db);

  // Undoes `0010-erasable-vaults`.
  await sql`alter table migrations drop column vault_secret_id`.execute(db);
  await sql`alter table credentials alter column sealed set statistics -1`.execute(db);
  await sql`alter table migrations alter column vault_wrapped_key set statistics -1`.execute(db);
  await sql`analyze`.execute(db);
  expect(await samples()).toHaveLength(2);

  await SCHEMA_MIGRATIONS['0010-erasable-vaults']?.up(db);
  expect(await samples()).toEqual([]);
  await sql`analyze`.execute(db);
  expect(await samples()).toEqual([]);
  const { rows } = await sql<{ intact: number }>`
    select count(*) as intact from credentials v join migrations m on m.id = v.migration_id
    where v.sealed = m.vault_wrapped_key and sha256(right(m.id, -1)::bytea) = v.sealed`.execute(db);
  expect(rows).toEqual([{ intact: 50 }]);
  await db.destroy();
  await database.drop();
});

test("the portal's role keeps its rights when a schema migration changes a function that it calls", async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url, createLedger: true });
  // Undoes `0018-replaced-applications`, with a stub of the earlier function `companies`.
  await sql`drop function tokenferry_portal.companies`.execute(db);
  await sql`
    create function tokenferry_portal.companies(session bytea, client_state text, only_exceptions boolean, search text,
      after_row integer, max integer) returns table ("row" integer) language sql as 'select 1'`.execute(db);
  await sql`revoke all on all functions in schema tokenferry_portal from public`.execute(db);
  await sql`drop function times_of_replaced_applications, depends_on_replaced`.execute(db);
  await sql`drop view company_applications, supplied_applications`.execute(db);
  await sql`drop index decisions_on_applications, companies_by_connection_time`.execute(db);
  await sql`
    alter table companies drop column authorized_at, drop column authorization_checked_at, drop column unlinked_at
    `.execute(db);
  const url = new URL(database.url);
  url.username = `portal_${url.pathname.slice(1)}`;
  url.password = 'a-password';
  const { name } = await grantPortalRole(db, new Secret(url.href));

  await SCHEMA_MIGRATIONS['0018-replaced-applications']?.up(db);

  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query('select * from tokenferry_portal.companies($1, null, true, null, 0, 500)', [
      Buffer.alloc(32),
    ]);
    expect(rows).toEqual([]);
    await expect(client.query("select tokenferry.times_of_replaced_applications('m')")).rejects.toThrow(
      /permission denied/,
    );
  } finally {
    await client.end();
  }
  const { rows: callers } = await sql<{ public: boolean }>`
    select exists (select from aclexplode(proacl) where grantee = 0) as public from pg_proc
    where pronamespace = 'tokenferry_portal'::regnamespace`.execute(db);
  expect(callers.filter((each) => each.public)).toEqual([]);
  await sql`drop owned by ${sql.ref(name)}`.execute(db);
  await sql`drop role ${sql.ref(name)}`.execute(db);
  await db.destroy();
  await database.drop();
});

test("removes the names of other clients' migrations from the texts that clients read", async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url, createLedger: true });
  await sql`
    insert into migrations (id, client, platform_key, contact, rotating, state, limits, manifest_digest, supplied_by)
    values ('a.xero', 'a', 'xero', 's', false, 'open', '{}', 'd', 'Cleo')`.execute(db);
  // Undoes `0019-held-back-details`, and stores texts as earlier versions did.
  await sql`alter table companies drop column held_back_details`.execute(db);
  const names = '"O-1" is already part of migration kite.xero.second; "O-1" is not a valid tenantId';
  await sql`
    insert into companies (migration_id, row, reference, name, platform_key, organization, held_back)
    values ('a.xero', 1, 'c1', 'n', 'xero', 'O-1', ${names}), ('a.xero', 2, 'c2', 'n', 'xero', 'O-2', 'no name'),
      ('a.xero', 3, 'c3', 'n', 'xero', 'O-3', null)`.execute(db);

  await SCHEMA_MIGRATIONS['0019-held-back-details']?.up(db);

  const { rows } = await sql`select held_back, held_back_details from companies order by row`.execute(db);
  expect(rows).toEqual([
    {
      held_back:
        '"O-1" is already part of another open migration; leave this company out, or ask support; "O-1" is not a valid tenantId',
      held_back_details: names,
    },
    { held_back: 'no name', held_back_details: null },
    { held_back: null, held_back_details: null },
  ]);
  await db.destroy();
  await database.drop();
});

test('creates tables only in its own Postgres schema', async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url, createLedger: true });
  const { rows } = await sql<{ schema: string }>`
    select distinct table_schema as schema from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  expect(rows).toEqual([{ schema: 'tokenferry' }]);
  await db.destroy();
  await database.drop();
});

test('a schema that a newer version has updated is refused, and the error says so', async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url, createLedger: true });
  await sql`insert into tokenferry.kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
  await db.destroy();
  const error = await openDatabase({ url: database.url }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      / cannot be used: a newer version of Tokenferry has updated its schema \(9999-later\)$/,
    ) as string,
    isOutage: false,
    hasNewerSchema: true,
  });
  expect(withAdvice(error, {})).toMatchObject({ advice: 'use the version of ferry that has updated this database' });
  await database.drop();
});

test('names an unreachable database in the error, but not its password', async () => {
  const opening = openDatabase({ url: 'postgres://ferry:a-password@127.0.0.1:1/ledger', connectTimeoutMs: 2_000 });
  await expect(opening).rejects.toThrow(DatabaseUnavailable);
  await expect(opening).rejects.toThrow(/127\.0\.0\.1:1\/ledger cannot be used/);
  await expect(opening).rejects.not.toThrow(/a-password/);
});
