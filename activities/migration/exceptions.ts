/** Applies decisions on individual companies, and records them with their effect on the ledger. */
import type { Decision } from '../../domain/migration/decision';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import {
  awaitRelink,
  leaveOutCompanies,
  retryWithNewCredential,
  readOutcome,
  recordDecisions,
  retryCompanies,
} from '../../store';
import type { Database } from '../../store';

type ExceptionDecision = Extract<
  Decision,
  { readonly kind: 'exclude' | 'skip' | 'retry' | 'relink' | 'replace-credential' }
>;

export function isExceptionDecision(decision: DecisionRecord['decision']): decision is ExceptionDecision {
  switch (decision.kind) {
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
      return true;
    default:
      return false;
  }
}

/**
 * Applies a decision and records it in one transaction. A second call therefore neither applies it again nor records
 * that it had no effect. If fewer companies were changed than the decision names, the recorded outcome says how many.
 * Some may have changed since the decision was made, and some may not exist.
 */
export async function applyAndRecord(
  db: Database,
  migrationId: string,
  { decision, outcome }: DecisionRecord & { readonly decision: ExceptionDecision },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (await readOutcome(tx, migrationId, decision.decisionId)) return;
    const changed = await apply(tx, migrationId, decision, outcome.at);
    const requested = decision.companies === 'all' ? changed : new Set(decision.companies).size;
    const text =
      changed === requested
        ? outcome.text
        : `${outcome.text}; applied to ${changed} of ${requested} companies: ${WHY_NOT_ALL}`;
    await recordDecisions(tx, migrationId, [{ decision, outcome: { ...outcome, text } }]);
  });
}

const WHY_NOT_ALL = 'the others do not exist, or their state does not allow it';

/** @returns the number of companies that were changed */
async function apply(db: Database, migrationId: string, decision: ExceptionDecision, at: string): Promise<number> {
  switch (decision.kind) {
    case 'exclude':
    case 'skip': {
      const { companies, kind, by, reason } = decision;
      return leaveOutCompanies(db, { migrationId, companies, as: kind, by, reason });
    }
    case 'retry':
      return retryCompanies(db, migrationId, decision.companies);
    case 'replace-credential':
      return retryWithNewCredential(db, migrationId, decision.companies);
    case 'relink':
      return awaitRelink(db, { migrationId, companies: decision.companies, at });
  }
}
