/** The connection to Postgres, with the schema brought up to date. */
import type { MigrationProvider, RawBuilder, Transaction } from 'kysely';
import { Kysely, Migrator, PostgresDialect } from 'kysely';
import { DatabaseError, types } from 'pg';
import { openPool } from '../../postgres/pool';
import type { Tables } from './tables';
import { SCHEMA_MIGRATIONS } from './schema-migrations';

export type Database = Kysely<Tables>;
/** A database or a transaction on it: whatever a query can run on. */
export type Queryable = Database | Transaction<Tables>;

/** Everything lies in a schema of its own, so that one database can hold other things as well. */
export const SCHEMA = 'tokenferry';

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Connections at most. Default 10. */
  readonly connections?: number;
  /** Given up after this long without a connection. Default 10 seconds. */
  readonly connectTimeoutMs?: number;
}

/** Thrown when the database does not answer, or answers that the schema cannot be brought up to date. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/**
 * Opens the database and brings its schema up to date: once, under a lock, however many processes do so at the same time.
 *
 * @throws DatabaseUnavailable
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = openPool({
    connectionString: options.url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    options: `-c search_path=${SCHEMA}`,
    types: { getTypeParser: typeParser },
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await bringUpToDate(db);
  } catch (error) {
    await db.destroy();
    throw databaseUnavailable(options.url, error);
  }
  return db;
}

async function bringUpToDate(db: Database): Promise<void> {
  const provider: MigrationProvider = { getMigrations: async () => ({ ...SCHEMA_MIGRATIONS }) };
  const migrator = new Migrator({ db, provider, migrationTableSchema: SCHEMA });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('the schema could not be brought up to date');
}

/** Counts come as `bigint`, which pg hands out as text; none here comes near 2^53. */
const typeParser: typeof types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === (types.builtins.INT8 as number) ? Number : (types.getTypeParser(id, format) as (value: string) => unknown);

/** Without the password that the address holds. */
export function databaseUnavailable(url: string, error: unknown): DatabaseUnavailable {
  const message = `the database at ${withoutPassword(url)} cannot be used: ${reasonOf(error)}`;
  return new DatabaseUnavailable(message, { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message || error.name : 'it gave no reason';
}

function withoutPassword(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return '(not a URL)';
  }
}

/** Runs a query that returns exactly one row, such as an aggregate without `group by`, and returns that row. */
export async function one<Row>(db: Queryable, query: RawBuilder<Row>): Promise<Row> {
  const [row] = (await query.execute(db)).rows;
  if (row === undefined) throw new Error('a query that always returns one row returned none');
  return row;
}

/** Whether Postgres refused something because of the constraint or unique index of this name. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.constraint === constraint;
}

/** Whether an error is the database's: it refused a statement, or the connection to it broke. */
export function isDatabaseError(error: Error): boolean {
  if (error instanceof DatabaseError) return true;
  return /^Connection terminated|^Client has encountered a connection error|^timeout exceeded when trying to connect/.test(
    error.message,
  );
}
