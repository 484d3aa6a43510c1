/** The message of Kysely's migrator if the database has a schema migration that this version does not know. */
const UNKNOWN_MIGRATION = /^corrupted migrations: previously executed migration (\S+) is missing$/;

/**
 * Returns the name of the schema migration that only a newer version knows, if Kysely's migrator has failed because of
 * it; otherwise null.
 */
export function newerMigration(error: Error): string | null {
  return UNKNOWN_MIGRATION.exec(error.message)?.[1] ?? null;
}
