/** Warns of a decision that a migration will refuse, because nothing could be reviewed. */
import type { MigrationClient } from '../../client';
import { readMigration } from '../../store';
import type { Unanswered } from './unanswered';

/**
 * Returns a warning if the migration requires the digest of what was reviewed: without an answer of a worker, nobody
 * could review anything. Returns null if it does not require the digest, or if the ledger cannot say so.
 */
export async function missingDigestWarning(
  { db }: MigrationClient,
  migrationId: string,
  decision: 'approval' | 'confirmation',
  { remedy }: Unanswered,
): Promise<string | null> {
  // The decision can be sent without the ledger, so an error of the ledger must not prevent that.
  const migration = db && (await readMigration(db, migrationId).catch(() => undefined));
  return migration?.rules?.requireDigest
    ? `this migration requires the digest of what was reviewed, so it will refuse this ${decision}; ${remedy}; then decide again`
    : null;
}
