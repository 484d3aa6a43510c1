/** Warns of a decision that a migration will refuse, because nothing could be reviewed. */
import { sentence } from '../../domain/text/sentences';
import type { MigrationClient } from '../../client';
import { readMigration } from '../../store';
import type { Unanswered } from '../connections/unanswered';

/**
 * Returns a warning if the migration requires the digest of what was reviewed. Without an answer of a worker, there is
 * nothing to review, so the decision has no digest. Returns null if no digest is required, or if that is not known.
 */
export async function missingDigestWarning(
  { db }: MigrationClient,
  migrationId: string,
  decision: 'approval' | 'confirmation',
  { once, diagnosis }: Unanswered,
): Promise<string | null> {
  // The decision can be sent without the ledger, so an error of the ledger must not prevent that.
  const migration = db && (await readMigration(db, migrationId).catch(() => undefined));
  return migration?.rules?.requireDigest
    ? `the migration will refuse this ${decision}, because it requires the digest of what was reviewed. Decide again ${once}. ${sentence(diagnosis)}`
    : null;
}
