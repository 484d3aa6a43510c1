/** Before a decision about companies is sent, checks that it applies to each of them. */
import { clientStateText } from '../domain/companies/company-state';
import type { Remedy } from '../domain/companies/remedies';
import { remediesFor } from '../domain/companies/remedies';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import type { Database } from '../store';
import { findUnknownReferences, readCompanies, readMigration } from '../store';

const REMEDIES = ['exclude', 'retry', 'relink', 'skip'] as const satisfies readonly Remedy[];

/** Maximum number of companies that {@link findRetryUseless} names. */
const MAX_NAMED = 6;

interface Inapplicable {
  /** References that the migration does not have. */
  readonly unknown: readonly string[];
  /** Companies whose state does not allow the decision: `R-1 (moved)`. */
  readonly wrongState: readonly string[];
}

/**
 * Finds the companies to which a decision does not apply. Without this check, the ledger would apply the decision to
 * the other companies, and its outcome could not name the companies that it left out.
 */
export async function findInapplicable(
  db: Database,
  migrationId: string,
  message: DecisionMessage,
  references: readonly string[],
): Promise<Inapplicable> {
  const remedy = REMEDIES.find((each) => each === message);
  if (remedy === undefined && message !== 'confirmSyncDisabled') return { unknown: [], wrongState: [] };
  const unknown = await findUnknownReferences(db, migrationId, references);
  const wrongState: string[] = [];
  if (remedy === undefined || unknown.length > 0) return { unknown, wrongState };
  // If the migration has ended, the decision is refused, and the refusal explains more.
  if ((await readMigration(db, migrationId))?.state === 'closed') return { unknown, wrongState };
  for await (const company of readCompanies(db, migrationId, { references })) {
    const { reference, state, failure } = company;
    if (!remediesFor(company).includes(remedy)) wrongState.push(`${reference} (${clientStateText(state, failure)})`);
  }
  return { unknown, wrongState };
}

/**
 * Finds the companies that a retry of all companies leaves out, because it cannot help them.
 *
 * @returns the first of these companies; empty if the retry applies to another company, or if there are none
 */
export async function findRetryUseless(db: Database, migrationId: string): Promise<readonly string[]> {
  if ((await readMigration(db, migrationId))?.state === 'closed') return [];
  const useless: string[] = [];
  for await (const company of readCompanies(db, migrationId, { exceptions: true })) {
    const remedies = remediesFor(company);
    if (remedies.includes('retry')) return [];
    const { reference, state, failure } = company;
    if (useless.length < MAX_NAMED && failure === 'reauthorization-required')
      useless.push(`${reference} (${clientStateText(state, failure)})`);
  }
  return useless;
}
