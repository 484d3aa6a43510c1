import { randomBytes } from 'node:crypto';
import { Client, DatabaseError } from 'pg';
import { withDatabase as withServiceDatabase } from '../../../company-data-service/database/database';
import { openDatabase as openLedger } from '../../../store';
import { sharedPostgres } from './shared-servers';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** The database with the current schemas of the ledger and of the service. Test databases are copies of it. */
const TEMPLATE = 'current_schemas';
/** The SQLSTATE of a database that does not exist. */
const MISSING_DATABASE = '3D000';

/**
 * Creates a database in the Postgres of this run, with the current schemas of the ledger and of the service. Each test
 * file has its own, so that files can run in parallel. It is a copy, because a copy needs a third of the CPU time that
 * the schema migrations need.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(` template ${TEMPLATE}`);
}

/** Creates a database without any schema, for tests of the schema migrations and of missing schemas. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('');
}

async function create(options: string): Promise<TestDatabase> {
  const superuserUrl = await sharedPostgres();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await inSession(superuserUrl, async (session) => {
    const statement = `create database ${name}${options}`;
    try {
      await session.query(statement);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== MISSING_DATABASE) throw error;
      await createTemplate(session, superuserUrl);
      await session.query(statement);
    }
  });
  const drop = () => inSession(superuserUrl, (session) => session.query(`drop database ${name} with (force)`));
  return { url: urlOf(superuserUrl, name), drop: async () => void (await drop()) };
}

/** Creates the template, unless another test file of this run creates it at the same time. */
async function createTemplate(session: Client, superuserUrl: string): Promise<void> {
  await session.query('select pg_advisory_lock(1)');
  const { rowCount } = await session.query('select from pg_database where datname = $1', [TEMPLATE]);
  if (rowCount === 0) {
    const draft = `${TEMPLATE}_draft`;
    await session.query(`create database ${draft}`);
    const ledger = await openLedger({ url: urlOf(superuserUrl, draft), connections: 1 });
    await ledger.destroy();
    await withServiceDatabase(urlOf(superuserUrl, draft), () => Promise.resolve());
    await session.query(`alter database ${draft} rename to ${TEMPLATE}`);
  }
  await session.query('select pg_advisory_unlock(1)');
}

function urlOf(superuserUrl: string, database: string): string {
  const url = new URL(superuserUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function inSession<Result>(url: string, work: (session: Client) => Promise<Result>): Promise<Result> {
  const session = new Client({ connectionString: url });
  await session.connect();
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}
