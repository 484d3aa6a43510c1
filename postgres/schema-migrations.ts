/** Updates the schemas of the orchestrator and of the Company Data Service with Kysely's migrator. */
import { Migrator, type Kysely, type Migration, type RawBuilder } from 'kysely';

/** Creates a schema migration that executes statements one after another. */
export function executing(...statements: readonly RawBuilder<unknown>[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await statement.execute(db);
    },
  };
}

/**
 * Thrown if the schema has a migration that this version does not know. The message contains the name of that schema
 * migration.
 */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';
}

/** The message of Kysely's migrator if the schema has a migration that is not among the given ones. */
const UNKNOWN_MIGRATION = /^corrupted migrations: previously executed migration (\S+) is missing$/;

/**
 * Runs the schema migrations that the database has not run yet. Several processes can do this at the same time, because
 * the migrator takes a lock.
 *
 * @param product whose schema it is, for the message of the error
 * @returns the names of the schema migrations that this process has run
 * @throws {NewerSchema}
 * @throws the database's error
 */
export async function updateSchema<Tables>(
  db: Kysely<Tables>,
  { schema, migrations, product }: { schema: string; migrations: Record<string, Migration>; product: string },
): Promise<readonly string[]> {
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const { error, results = [] } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  if (!(error instanceof Error)) throw new Error('the schema could not be updated');
  const unknown = UNKNOWN_MIGRATION.exec(error.message)?.[1];
  if (unknown === undefined) throw error;
  throw new NewerSchema(`a newer version of ${product} has updated its schema (${unknown})`, { cause: error });
}
