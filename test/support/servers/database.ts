import { randomBytes } from 'node:crypto';
import { Client, type QueryResult } from 'pg';
import { sharedPostgres, sharedSchema, type Schema } from './shared-servers';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/**
 * Creates an empty database in the Postgres of this run. Each test file has its own, so that files can run in parallel.
 *
 * @param schema the schema of the new database. Default: none. To copy a schema takes about a tenth of the time that
 *   its schema migrations take
 */
export async function createTestDatabase(schema?: Schema): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = schema === undefined ? 'template1' : await sharedSchema(schema);
  // Postgres's other strategy writes each page into the log, which takes longer.
  await asSuperuser(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(await sharedPostgres());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asSuperuser(`drop database ${name} with (force)`) };
}

async function asSuperuser(statement: string): Promise<void> {
  await execute(await sharedPostgres(), statement);
}

/** Connects to a database, executes a statement, and disconnects. */
export async function execute<Row extends object>(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<QueryResult<Row>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<Row>(statement, values);
  } finally {
    await client.end();
  }
}
