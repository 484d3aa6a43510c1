/** Checks that a decision applies to the companies that it names, before it is sent. */
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { findInapplicable, findRetryUseless, NoSuchMigration } from '../../client';
import { readMigration, type Database } from '../../store';
import { CommandFailed } from './errors';
import { referenceList } from './results';

const MAX_REFERENCES = 5;

/**
 * Checks that the decision applies to each of the named companies. For all companies, checks only that a retry would
 * not be useless ({@link findRetryUseless}). Without the ledger, the caller skips this check, and the outcome reports
 * the number of companies that the decision was applied to.
 *
 * @param decision `name` is the name of its command
 * @throws CommandFailed if the decision does not apply; it is then sent for none of the companies
 * @throws NoSuchMigration
 */
export async function assertApplicable(
  db: Database,
  migrationId: string,
  { name, message }: { readonly name: string; readonly message: DecisionMessage },
  companies: 'all' | readonly string[],
): Promise<void> {
  const { unknown, wrongState } =
    companies === 'all'
      ? { unknown: [], wrongState: message === 'retry' ? await findRetryUseless(db, migrationId) : [] }
      : await findInapplicable(db, migrationId, message, companies);
  if (unknown.length > 0) {
    if ((await readMigration(db, migrationId)) === undefined) throw new NoSuchMigration(migrationId);
    throw new CommandFailed(
      `${migrationId} has no company with ${unknown.length === 1 ? 'this reference' : 'these references'}: ${referenceList(unknown, MAX_REFERENCES)}`,
      `nothing was decided; list the companies with: ferry companies ${migrationId}`,
    );
  }
  if (wrongState.length === 0) return;
  throw new CommandFailed(
    `${name} does not apply to ${referenceList(wrongState, MAX_REFERENCES)}`,
    `nothing was decided; to see which commands resolve problems of companies, run: ferry exceptions ${migrationId}`,
  );
}
