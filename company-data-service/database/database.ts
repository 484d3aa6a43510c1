import { Kysely, Migrator, PostgresDialect, type Migration } from 'kysely';
import { openPool } from '../../postgres/pool';
import { firstSchema } from './migrations/001-first-schema';
import { settingsPushesQuotas } from './migrations/002-settings-pushes-quotas';
import { sharedRateLimit } from './migrations/003-shared-rate-limit';
import { pushedRecords } from './migrations/004-pushed-records';
import { lastSync } from './migrations/005-last-sync';
import { scheduledSyncs } from './migrations/006-scheduled-syncs';
import type { Tables } from './tables';

/** The service's own schema: it shares a database, but no table, with whatever else lives there. */
const SCHEMA = 'company_data_service';

const MIGRATIONS: Record<string, Migration> = {
  '001-first-schema': firstSchema,
  '002-settings-pushes-quotas': settingsPushesQuotas,
  '003-shared-rate-limit': sharedRateLimit,
  '004-pushed-records': pushedRecords,
  '005-last-sync': lastSync,
  '006-scheduled-syncs': scheduledSyncs,
};

export type Database = Kysely<Tables>;

/**
 * Opens a pool of connections to the service's schema.
 *
 * @param connections how many connections the pool may hold; further callers wait
 */
export function openDatabase(databaseUrl: string, connections: number): Database {
  const pool = openPool({
    connectionString: databaseUrl,
    max: connections,
    // Lists are read from memory or a solid disk: following their index is cheaper than sorting them for each page. Every
    // question has its index, also where a plan that is kept was made while the table was small. And compiling the
    // statement of a large page takes longer than running it.
    options: `-c search_path=${SCHEMA} -c random_page_cost=1.1 -c enable_seqscan=off -c jit=off`,
    application_name: 'company-data-service',
  });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * Brings the schema up to date. Any number of processes may do so at once: Kysely's migrator takes a lock.
 *
 * @throws an Error whose cause is what the database answered
 */
export async function prepareSchema(db: Database): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableSchema: SCHEMA,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const reason = error instanceof Error ? error.message : 'no reason given';
  throw new Error(`The schema of the Company Data Service could not be prepared: ${reason}`, { cause: error });
}

/** Opens the database for one piece of work outside a running service, and brings its schema up to date. */
export async function withDatabase<Result>(
  databaseUrl: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = openDatabase(databaseUrl, 1);
  try {
    await prepareSchema(db);
    return await work(db);
  } finally {
    await db.destroy();
  }
}
