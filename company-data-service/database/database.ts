import { Kysely, PostgresDialect, type Migration } from 'kysely';
import { failureText, openPool } from '../../postgres/pool';
import { NewerSchema, updateSchema } from '../../postgres/schema-migrations';
import {
  encryptedCredentials,
  expectedOrganization,
  lastAuthorization,
  tokenExchanges,
} from './migrations/authorizations';
import { firstSchema } from './migrations/first-schema';
import { namesOfOfficialClients } from './migrations/names-of-official-clients';
import { pushedRecords, settingsPushesQuotas, sharedRateLimit } from './migrations/settings-pushes-quotas';
import { lastSync, scheduledSyncs } from './migrations/sync-times';
import type { Tables } from './tables';

/** The service's own schema, so that it can share a database with other programs. */
const SCHEMA = 'company_data_service';

const MIGRATIONS: Record<string, Migration> = {
  '001-first-schema': firstSchema,
  '002-settings-pushes-quotas': settingsPushesQuotas,
  '003-shared-rate-limit': sharedRateLimit,
  '004-pushed-records': pushedRecords,
  '005-last-sync': lastSync,
  '006-scheduled-syncs': scheduledSyncs,
  '007-encrypted-credentials': encryptedCredentials,
  '008-token-exchanges': tokenExchanges,
  '009-names-of-official-clients': namesOfOfficialClients,
  '010-expected-organization': expectedOrganization,
  '011-last-authorization': lastAuthorization,
};

export type Database = Kysely<Tables>;

/**
 * Opens a pool of connections to the service's schema.
 *
 * @param connections maximum size of the pool; when all connections are taken, callers wait
 */
export function openDatabase(databaseUrl: string, connections: number): Database {
  const pool = openPool({
    connectionString: databaseUrl,
    max: connections,
    // Data is in memory or on an SSD, so reading an index is cheaper than sorting a list for each page of results.
    // Sequential scans are off, because every frequent query has an index, and a plan that was cached while its table
    // was small would not use the index. JIT compilation of a statement takes longer than running the statement, even
    // for a large page.
    options: `-c search_path=${SCHEMA} -c random_page_cost=1.1 -c enable_seqscan=off -c jit=off`,
    application_name: 'company-data-service',
  });
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * Updates the schema. Several processes can do this at the same time, because Kysely's migrator takes a lock.
 *
 * @throws {NewerSchema}
 * @throws an Error with the database's error as its cause
 */
export async function prepareSchema(db: Database): Promise<void> {
  try {
    await updateSchema(db, { schema: SCHEMA, migrations: MIGRATIONS, product: 'the Company Data Service' });
  } catch (error) {
    if (error instanceof NewerSchema) throw error;
    throw new Error(`Could not update the schema of the Company Data Service: ${failureText(error)}`, { cause: error });
  }
}

/** Opens the database for work outside a running service, updates its schema, and closes it after the work. */
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

/**
 * Returns the parts of a thrown value that may be logged. Omits the details that Postgres adds to an error, because
 * they contain the values of a row, including credentials and customers' data.
 */
export function failureForLog(failure: unknown): Record<string, unknown> {
  if (!(failure instanceof Error)) return { type: typeof failure };
  const { name, stack } = failure;
  const cause = failure.cause === undefined ? {} : { cause: failureForLog(failure.cause) };
  return {
    type: name,
    message: failureText(failure),
    stack,
    ...('code' in failure && { code: failure.code }),
    ...cause,
  };
}
