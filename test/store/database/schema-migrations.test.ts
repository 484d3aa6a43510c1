import { SCHEMA_MIGRATIONS } from '../../../store/database/schema-migrations';
import { sql } from 'kysely';
import { DatabaseUnavailable, openDatabase } from '../../../store';
import { createTestDatabase } from '../../support/database';

test('applies the schema migrations once when five processes open an empty database concurrently', async () => {
  const database = await createTestDatabase();
  try {
    const opened = await Promise.all([1, 2, 3, 4, 5].map(() => openDatabase({ url: database.url, connections: 2 })));
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

test('creates tables only in its own Postgres schema', async () => {
  const database = await createTestDatabase();
  const db = await openDatabase({ url: database.url });
  const { rows } = await sql<{ schema: string }>`
    select distinct table_schema as schema from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  expect(rows).toEqual([{ schema: 'tokenferry' }]);
  await db.destroy();
  await database.drop();
});

test('names an unreachable database in the error, but not its password', async () => {
  const opening = openDatabase({ url: 'postgres://ferry:a-password@127.0.0.1:1/ledger', connectTimeoutMs: 2_000 });
  await expect(opening).rejects.toThrow(DatabaseUnavailable);
  await expect(opening).rejects.toThrow(/127\.0\.0\.1:1\/ledger cannot be used/);
  await expect(opening).rejects.not.toThrow(/a-password/);
});
