/** Finds out which migrations are open, for commands that need only the ledger. */
import { openMigrationClient, readStage, Unreachable, type MigrationClient } from '../../client';
import { ConfigurationError, loadConfig } from '../../config';
import { readMigration, type Database } from '../../store';

/**
 * Returns which of the migrations are open. A migration whose workflow was terminated in Temporal is not
 * open. If Temporal is not configured or does not answer, only the ledger counts.
 *
 * @param migrationIds ids, which can contain duplicates
 */
export async function readOpenMigrations(
  env: NodeJS.ProcessEnv,
  db: Database,
  migrationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  if (migrationIds.length === 0) return open;
  const ferry = await connectIfPossible(env);
  try {
    for (const id of new Set(migrationIds)) {
      const migration = await readMigration(db, id);
      if (migration && (await readStage(ferry ?? {}, migration)) === 'open') open.add(id);
    }
    return open;
  } finally {
    await ferry?.close();
  }
}

async function connectIfPossible(env: NodeJS.ProcessEnv): Promise<MigrationClient | null> {
  try {
    return await openMigrationClient(loadConfig(['temporal', 'payloadKeys'], env));
  } catch (error) {
    if (error instanceof ConfigurationError || error instanceof Unreachable) return null;
    throw error;
  }
}
