/** Applies decisions on individual companies to the ledger. */
import type { Decision, Outcome } from '../../domain/migration/decision';
import { allCompaniesOutcomeText, companiesOutcomeText } from '../../domain/migration/partial-outcome';
import {
  acceptStaged,
  awaitRelink,
  countRetryUseless,
  leaveOutCompanies,
  retryWithNewCredential,
  requestFirstAgain,
  retryCompanies,
  type Queryable,
} from '../../store';

const KINDS = ['exclude', 'skip', 'retry', 'relink', 'replace-credential'] as const;
type ExceptionDecision = Extract<Decision, { readonly kind: (typeof KINDS)[number] }>;

export function isExceptionDecision(decision: Decision): decision is ExceptionDecision {
  return KINDS.some((kind) => kind === decision.kind);
}

/**
 * Applies a decision to the companies that it names.
 *
 * @returns the text of the outcome. If the decision is about all companies, or names more companies than were changed,
 *   the text says how many were changed. Companies might have changed since the decision was made, or might not exist
 */
export async function applyToCompanies(
  db: Queryable,
  migrationId: string,
  decision: ExceptionDecision,
  { at, text }: Outcome,
): Promise<string> {
  const changed = await apply(db, migrationId, decision, at);
  if (decision.companies === 'all') {
    const leftOut = decision.kind === 'retry' ? await countRetryUseless(db, migrationId) : 0;
    return allCompaniesOutcomeText(text, changed, leftOut);
  }
  return companiesOutcomeText(text, changed, new Set(decision.companies).size);
}

/** @returns the number of companies that were changed */
async function apply(db: Queryable, migrationId: string, decision: ExceptionDecision, at: string): Promise<number> {
  switch (decision.kind) {
    case 'exclude':
    case 'skip': {
      const { companies, kind, by, reason } = decision;
      return leaveOutCompanies(db, { migrationId, companies, as: kind, by, reason });
    }
    case 'retry': {
      const first = await requestFirstAgain(db, migrationId, decision.companies);
      // In step 5, a retry of all companies is a retry of the first company.
      return retryCompanies(
        db,
        migrationId,
        decision.companies === 'all' && first !== null ? [first] : decision.companies,
        first,
      );
    }
    case 'replace-credential':
      await acceptStaged(db, migrationId, { decisionId: decision.decisionId, replaces: true });
      await requestFirstAgain(db, migrationId, decision.companies);
      return retryWithNewCredential(db, migrationId, decision.companies);
    case 'relink':
      return awaitRelink(db, { migrationId, companies: decision.companies, at });
  }
}
