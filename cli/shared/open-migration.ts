import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type { StoredMigration } from '../../store';
import { readMigration } from '../../store';
import { CommandFailed } from './command-failed';
import type { LedgerClient } from '../../client';
import { NoSuchMigration } from '../../client';

/**
 * A migration to which something can still be supplied, and its platform.
 *
 * @param onceEnded what to do then instead
 * @throws NoSuchMigration
 * @throws CommandFailed
 */
export async function openMigrationOf(
  { db }: LedgerClient,
  migrationId: string,
  onceEnded: (migration: StoredMigration) => string,
): Promise<{ readonly migration: StoredMigration; readonly platform: Platform }> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  if (migration.state === 'closed') {
    throw new CommandFailed(
      `migration ${migrationId} is ${migration.ending ?? 'over'}: nothing can be supplied`,
      onceEnded(migration),
    );
  }
  const platform = findPlatform(migration.platformKey);
  if (!platform) throw new CommandFailed(`platform ${migration.platformKey} is unknown`, 'use a newer ferry');
  return { migration, platform };
}
