/** Checks, before a decision is sent, that it applies to each of its companies. */
import { clientStateText } from '../domain/companies/company-state';
import { remediesFor, type Remedy } from '../domain/companies/remedies';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import {
  findUnknownReferences,
  readCompanies,
  readMigration,
  type Database,
  type LedgerCompany,
  type StoredMigration,
} from '../store';

const REMEDIES = ['exclude', 'retry', 'relink', 'skip'] as const satisfies readonly Remedy[];

interface Inapplicable {
  /** References that the migration does not have. */
  readonly unknown: readonly string[];
  /** Companies whose state does not allow the decision: `R-1 (moved)`. */
  readonly wrongState: readonly string[];
}

/**
 * Finds the companies to which a decision does not apply. Without this check, the ledger would apply the decision to
 * the other companies, and the decision's outcome could not name the companies that it left out.
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
  const migration = await readMigration(db, migrationId);
  // If the migration has ended, the decision is refused, and the refusal explains more.
  if (migration?.state === 'closed') return { unknown, wrongState };
  for await (const company of readCompanies(db, migrationId, { references })) {
    const { reference, state, failure } = company;
    if (remediesFor(company).includes(remedy) || (remedy === 'retry' && isFirst(migration, company))) continue;
    // Every waiting company can be left out, also one whose row is not checked yet and that has no remedies.
    if (remedy === 'exclude' && state === 'waiting') continue;
    wrongState.push(`${reference} (${clientStateText(state, failure)})`);
  }
  return { unknown, wrongState };
}

/**
 * Finds out whether a retry of all companies would try none, because companies must reconnect first.
 *
 * @returns the companies that must reconnect, with their states; empty if the retry would try at least one company, or
 *   if the migration has ended
 */
export async function findRetryUseless(db: Database, migrationId: string): Promise<readonly string[]> {
  const migration = await readMigration(db, migrationId);
  if (migration?.state === 'closed') return [];
  const useless: string[] = [];
  for await (const company of readCompanies(db, migrationId, { exceptions: true })) {
    if (remediesFor(company).includes('retry') || isFirst(migration, company)) return [];
    const { reference, state, failure } = company;
    if (failure === 'reauthorization-required') useless.push(`${reference} (${clientStateText(state, failure)})`);
  }
  return useless;
}

/**
 * Returns whether the company is the first company of a migration that has released no other. The migration accepts no
 * `relink` yet, so only a retry finds out whether the company's end customer has reconnected.
 */
function isFirst(
  migration: Pick<StoredMigration, 'released' | 'firstRow'> | undefined,
  { row }: Pick<LedgerCompany, 'row'>,
): boolean {
  return migration?.released === 'first-company' && migration.firstRow === row;
}
