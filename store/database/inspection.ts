/** A look at a database that changes nothing in it: `openDatabase` would bring its schema up to date. */
import { Client } from 'pg';
import { databaseUnavailable, SCHEMA } from './database';
import { SCHEMA_MIGRATIONS } from './schema-migrations';

export interface InspectedDatabase {
  /** As Postgres says it: `17.2`. */
  readonly version: string;
  /** What its clock showed, and when by ours: the middle of the question. */
  readonly clock: { readonly theirs: Date; readonly ours: Date };
  /** Steps of the schema that it lacks: the next worker or command makes them. */
  readonly pending: readonly string[];
  /** Steps that this version does not know: a newer one has made them. */
  readonly unknown: readonly string[];
}

/** @throws DatabaseUnavailable */
export async function inspectDatabase(url: string, timeoutMs: number): Promise<InspectedDatabase> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const asked = Date.now();
    const { rows } = await client.query<{ version: string; now: Date; table: string | null }>(
      'select current_setting($1) as version, clock_timestamp() as now, to_regclass($2) as "table"',
      ['server_version', `${SCHEMA}.kysely_migration`],
    );
    const ours = new Date((asked + Date.now()) / 2);
    const [{ version, now, table } = { version: '', now: ours, table: null }] = rows;
    const applied = table === null ? [] : await namesOf(client);
    return {
      version,
      clock: { theirs: now, ours },
      pending: Object.keys(SCHEMA_MIGRATIONS).filter((name) => !applied.includes(name)),
      unknown: applied.filter((name) => !(name in SCHEMA_MIGRATIONS)),
    };
  } catch (error) {
    throw databaseUnavailable(url, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function namesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(`select name from ${SCHEMA}.kysely_migration`);
  return rows.map(({ name }) => name);
}
