/** Inspects a database for `ferry doctor` without changing it. Unlike `openDatabase`, does not update the schema. */
import { Client } from 'pg';
import { databaseUnavailable, LEDGER_TABLE } from './database';
import { SCHEMA_MIGRATIONS } from './schema-migrations';

export interface InspectedDatabase {
  /** Version of Postgres, for example `17.2`. */
  readonly version: string;
  /** The same moment on both clocks. `local` is the middle of the query's round trip. */
  readonly clock: { readonly database: Date; readonly local: Date };
  /** False if the database contains no ledger. */
  readonly hasLedger: boolean;
  /** Schema migrations that have not been applied yet. The next process that calls `openDatabase` applies them. */
  readonly pending: readonly string[];
  /** Schema migrations that a newer version has applied, and that this version does not know. */
  readonly unknown: readonly string[];
}

/**
 * Connects to the database for a few queries.
 *
 * @param timeoutMs time limit for connecting and for each query, in milliseconds
 * @throws {DatabaseUnavailable}
 */
export async function withClient<T>(url: string, timeoutMs: number, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } catch (error) {
    throw databaseUnavailable(url, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Reads the database's version, clock and schema migrations.
 *
 * @param timeoutMs time limit for connecting and for each query, in milliseconds
 * @throws {DatabaseUnavailable}
 */
export async function inspectDatabase(url: string, timeoutMs: number): Promise<InspectedDatabase> {
  return withClient(url, timeoutMs, async (client) => {
    const sentAt = Date.now();
    const { rows } = await client.query<{ version: string; now: Date; table: string | null }>(
      'select current_setting($1) as version, clock_timestamp() as now, to_regclass($2) as "table"',
      ['server_version', LEDGER_TABLE],
    );
    const local = new Date((sentAt + Date.now()) / 2);
    const [{ version, now, table } = { version: '', now: local, table: null }] = rows;
    const applied = table === null ? [] : await appliedMigrations(client);
    return {
      version,
      clock: { database: now, local },
      hasLedger: table !== null,
      pending: Object.keys(SCHEMA_MIGRATIONS).filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !(name in SCHEMA_MIGRATIONS)),
    };
  });
}

async function appliedMigrations(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`select name from ${LEDGER_TABLE}`);
  return rows.map(({ name }) => name);
}
