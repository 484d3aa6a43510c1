import type { Migration, RawBuilder } from 'kysely';

/** Returns a schema migration that runs these statements in their order. */
export const migrationOf = (...statements: readonly RawBuilder<unknown>[]): Migration => ({
  up: async (db) => {
    for (const statement of statements) await statement.execute(db);
  },
});
