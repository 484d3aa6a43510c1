/** Opens the ledger's database and updates its schema. */
import { isDeepStrictEqual } from 'node:util';
import { Kysely, PostgresDialect, sql, type Transaction, type UpdateObject } from 'kysely';
import { DatabaseError, types } from 'pg';
import { databaseOf, failureText, isDatabaseOutage, openPool, type PoolUsage } from '../../postgres/pool';
import { NewerSchema, updateSchema } from '../../postgres/schema-migrations';
import type { Tables } from './tables';
import { SCHEMA_MIGRATIONS } from './schema-migrations';

export type { PoolUsage };
export type Database = Kysely<Tables>;
/** A database or a transaction. Both can run queries. */
export type Queryable = Database | Transaction<Tables>;

/** The Postgres schema of all tables. Other applications can use the same database in other schemas. */
export const SCHEMA = 'tokenferry';

/** The table of the schema migrations, which every ledger has. */
export const LEDGER_TABLE = `${SCHEMA}.kysely_migration`;

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. The password never appears in errors. */
  readonly url: string;
  /** Maximum number of connections in the pool. Additional queries wait for a free connection. Default 10. */
  readonly connections?: number;
  /** How long a query waits for a connection before it fails, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long closing waits for queries before they fail, in milliseconds. Default: without a limit. */
  readonly closeWithinMs?: number | undefined;
  /** Receives a function that returns the current usage of the pool. Optional. */
  readonly onPool?: ((usage: () => PoolUsage) => void) | undefined;
  /**
   * True to create the ledger if the database contains none. Default: false, because the address is then probably
   * wrong, and no worker would use the new ledger.
   */
  readonly createLedger?: boolean | undefined;
  /** Called if this process has created the ledger. Optional. */
  readonly onLedgerCreated?: (() => void) | undefined;
}

/** Thrown when the database cannot be reached or its schema cannot be updated. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';

  /** Returns whether waiting can help, for example because the server cannot be reached or has no free connection. */
  get isOutage(): boolean {
    return isDatabaseOutage(this.cause);
  }

  /** Returns the server's own reason, for example `sorry, too many clients already`; null if it gave none. */
  get serverReason(): string | null {
    return this.cause instanceof DatabaseError ? this.cause.message : null;
  }

  /** Returns Postgres's code for its reason, for example `3D000`; null if it gave none. */
  get serverCode(): string | null {
    return this.cause instanceof DatabaseError ? (this.cause.code ?? null) : null;
  }

  /** Returns whether a newer version of Tokenferry has updated the schema, so that this version cannot use it. */
  get hasNewerSchema(): boolean {
    return this.cause instanceof NewerSchema;
  }
}

/** Thrown when the database contains no ledger, for example because the address names another existing database. */
export class LedgerMissing extends DatabaseUnavailable {
  override readonly name = 'LedgerMissing';

  constructor(url: string) {
    super(`the database at ${databaseOf(url)} contains no ledger`);
  }
}

/**
 * Opens the database and applies missing schema migrations. A lock ensures that only one process at a time applies
 * them.
 *
 * @throws {LedgerMissing} if the database contains no ledger, unless `createLedger` is true
 * @throws {DatabaseUnavailable}
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const pool = openPool({
    connectionString: options.url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    closeWithinMs: options.closeWithinMs,
    // Without `enable_sort=off`, the planner prefers to read and sort all waiting companies for each claim, because it
    // overestimates the cost of the claim's conditions. The claim should take the first companies from its index.
    options: `-c search_path=${SCHEMA} -c enable_sort=off`,
    types: { getTypeParser: typeParser },
  });
  options.onPool?.(() => pool.usage());
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    if (!(await isSchemaCurrent(db))) {
      if (!options.createLedger && !(await hasLedger(db))) throw new LedgerMissing(options.url);
      const product = 'Tokenferry';
      const applied = await updateSchema(db, { schema: SCHEMA, migrations: SCHEMA_MIGRATIONS, product });
      if (applied.includes('0001-the-ledger')) options.onLedgerCreated?.();
    }
  } catch (error) {
    await db.destroy();
    throw error instanceof LedgerMissing ? error : databaseUnavailable(options.url, error);
  }
  return db;
}

/**
 * Creates a pool with a single connection for health checks and metrics, because they must not wait for a connection of
 * the main pool. Connects when the first query runs, and does not update the schema.
 */
export function openMonitoringDatabase(url: string): Database {
  const pool = openPool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: MONITORING_TIMEOUT_MS,
    query_timeout: MONITORING_TIMEOUT_MS,
    // The connection stays open when it is idle, because it can hold the lock that lets only one worker at a time
    // report the ledger's figures.
    idleTimeoutMillis: 0,
    statement_timeout: MONITORING_TIMEOUT_MS,
    options: `-c search_path=${SCHEMA}`,
    types: { getTypeParser: typeParser },
  });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Time limit of a monitoring query. A count of a million companies takes less time. */
const MONITORING_TIMEOUT_MS = 10_000;

/**
 * Runs a trivial query.
 *
 * @throws if the database does not answer
 */
export async function pingDatabase(db: Database): Promise<void> {
  await sql`select 1`.execute(db);
}

/**
 * Returns whether exactly the known schema migrations have been applied. Most processes find a current schema, so this
 * check uses one query. The migrator would need about ten queries for the same result.
 */
async function isSchemaCurrent(db: Database): Promise<boolean> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
    return isDeepStrictEqual(
      rows.map(({ name }) => name),
      Object.keys(SCHEMA_MIGRATIONS).sort(),
    );
  } catch (error) {
    if (error instanceof DatabaseError) return false; // No table yet, or a problem that the migrator will report.
    throw error;
  }
}

/** Returns whether the database contains a ledger, even if its schema is older or newer than this version. */
async function hasLedger(db: Database): Promise<boolean> {
  const { exists } = await oneRow<{ exists: boolean }>(db)`select to_regclass(${LEDGER_TABLE}) is not null as "exists"`;
  return exists;
}

/**
 * Parses `bigint` as a number. By default, pg returns `bigint` as text, because a number is exact only up to 2^53. No
 * value in these tables exceeds that limit.
 */
const typeParser: typeof types.getTypeParser = (id: number, format?: 'text' | 'binary') =>
  id === (types.builtins.INT8 as number) ? Number : (types.getTypeParser(id, format) as (value: string) => unknown);

/** Creates the error for a database that cannot be used. The message omits the password of the URL. */
export function databaseUnavailable(url: string, error: unknown): DatabaseUnavailable {
  const message = `the database at ${databaseOf(url)} cannot be used: ${failureText(error)}`;
  return new DatabaseUnavailable(message, { cause: error });
}

/** Changes columns of a migration's row. */
export async function updateMigration(
  db: Queryable,
  migrationId: string,
  columns: UpdateObject<Tables, 'migrations'>,
): Promise<void> {
  await db.updateTable('migrations').set(columns).where('id', '=', migrationId).execute();
}

/** Returns a template tag that runs a statement, like `sql`, and returns its rows. */
export function allRows<Row>(db: Queryable) {
  return async (...statement: Parameters<typeof sql>): Promise<Row[]> =>
    (await sql<Row>(...statement).execute(db)).rows;
}

/**
 * Returns a template tag that runs a statement, like `sql`, and returns its row. For statements that return exactly one
 * row, such as an aggregate without `group by`.
 */
export function oneRow<Row>(db: Queryable) {
  return async (...statement: Parameters<typeof sql>): Promise<Row> => {
    const [row] = await allRows<Row>(db)(...statement);
    if (row === undefined) throw new Error('the query returned no row, but it must return one row');
    return row;
  };
}

/** Returns whether a statement failed because it violated the constraint or unique index with this name. */
export function violatesConstraint(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.constraint === constraint;
}

/**
 * The system calls of connections. The code of an error does not identify a connection, because files have errors with
 * the same codes, for example ENOENT.
 */
const CONNECTION_CALLS = ['connect', 'getaddrinfo', 'read', 'write'];

/** Returns whether an error came from the database: a rejected statement, or a connection that failed or broke. */
export function isDatabaseError(error: unknown): boolean {
  if (error instanceof DatabaseError) return true;
  // Node.js tries each address of the server, and reports the failures in one error.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseError);
  if (!(error instanceof Error)) return false;
  // The message about a connection begins with the call (`write EPIPE`), the message about a file with the code.
  if ('syscall' in error)
    return CONNECTION_CALLS.some((call) => error.message.startsWith(`${call} `)) && isDatabaseOutage(error);
  return /^Connection terminated|^Client has encountered a connection error|^timeout exceeded when trying to connect/.test(
    error.message,
  );
}
