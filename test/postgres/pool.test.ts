import { Kysely, PostgresDialect, sql, type RawBuilder } from 'kysely';
import { openPool, type PoolOptions } from '../../postgres/pool';
import { until } from '../support/async';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';

/** More executions than are needed for a statement to be prepared. */
const OFTEN = 50;

let database: TestDatabase;
/** Has only one connection, because statements are prepared per connection. */
let db: Kysely<unknown>;
/** Acts as another process. */
let other: Kysely<unknown>;

const open = (options: PoolOptions = {}) =>
  new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: openPool({ connectionString: database.url, max: 1, ...options }) }),
  });

beforeAll(async () => {
  database = await createTestDatabase();
  other = open();
});
beforeEach(async () => {
  db = open();
  await sql`create table things (id integer primary key, name text)`.execute(other);
  await sql`insert into things values (1, 'one'), (2, 'two')`.execute(other);
});
afterEach(async () => {
  await db.destroy();
  await sql`drop table things`.execute(other);
});
afterAll(async () => {
  await other.destroy();
  await database.drop();
});

async function rowsOf<Row>(statement: RawBuilder<Row>): Promise<Row[]> {
  return (await statement.execute(db)).rows;
}

const selectThing = (id: number) => rowsOf(sql`select * from things where id = ${id}`);
const preparedStatements = () => rowsOf(sql<{ statement: string }>`select statement from pg_prepared_statements`);

async function repeat(work: (time: number) => Promise<unknown>): Promise<void> {
  for (let time = 1; time <= OFTEN; time += 1) await work(time);
}

test('prepares a frequent statement and runs it with other values', async () => {
  await repeat(() => selectThing(1));
  expect(await preparedStatements()).toEqual([{ statement: 'select * from things where id = $1' }]);
  expect(await selectThing(2)).toEqual([{ id: 2, name: 'two' }]);
  expect(await selectThing(3)).toEqual([]);
});

test('does not prepare statements that differ every time', async () => {
  await repeat((time) => rowsOf(sql`select ${1}::integer as ${sql.ref(`name_${time}`)}`));
  expect(await preparedStatements()).toEqual([]);
});

test('fails a prepared statement once after its table was changed, then prepares it again', async () => {
  await repeat(() => selectThing(1));
  await sql`alter table things add column size integer default 7`.execute(other);
  await expect(selectThing(1)).rejects.toThrow(/cached plan must not change result type/);
  expect(await selectThing(1)).toEqual([{ id: 1, name: 'one', size: 7 }]);
  await repeat(() => selectThing(2));
  expect(await selectThing(2)).toEqual([{ id: 2, name: 'two', size: 7 }]);
});

test('replaces an idle connection that was lost, and prepares its statements again', async () => {
  await repeat(() => selectThing(1));
  const [connection] = await rowsOf(sql<{ pid: number }>`select pg_backend_pid() as pid`);
  await sql`select pg_terminate_backend(${connection?.pid}, 5000)`.execute(other);
  await until(async () => (await selectThing(2).catch(() => [])).length === 1);
  expect(await preparedStatements()).toHaveLength(1);
});

test('the end of a pool waits only for its time limit if a statement does not end', async () => {
  const closing = open({ closeWithinMs: 200 });
  const hung = sql`select pg_sleep(60)`.execute(closing).catch((error: Error) => error.message);
  await until(
    async () => (await rowsOf(sql`select 1 from pg_stat_activity where query = 'select pg_sleep(60)'`)).length > 0,
  );
  const startedAt = Date.now();
  await closing.destroy();
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  expect(await hung).toMatch(/Connection terminated/);
});

test('prepares at most 300 statements on a connection', async () => {
  const MANY = 320;
  for (let number = 0; number < MANY; number += 1) {
    await repeat(() => rowsOf(sql`select ${1}::integer as ${sql.ref(`name_${number}`)}`));
  }
  expect(await preparedStatements()).toHaveLength(300);
});
