/** Decisions about companies that are not moved, carried out in the ledger: recorded with what became of them there. */
import type { Decision } from '../../domain/migration/decision';
import type { Recorded } from '../../domain/migration/migration-state';
import {
  awaitRelink,
  leaveOutCompanies,
  retryWithNewCredential,
  readOutcome,
  recordDecisions,
  retryCompanies,
} from '../../store';
import type { Database } from '../../store';

type Settling = Extract<Decision, { readonly kind: 'exclude' | 'skip' | 'retry' | 'relink' | 'replace-credential' }>;

export function isExceptionDecision(decision: Recorded['decision']): decision is Settling {
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
 * Whoever decided has named companies as they saw them; some may have gone on since, or may never have been there. The
 * ledger and the trail are written together, so that telling it twice neither does it twice nor records that nothing was done.
 */
export async function applyAndRecord(
  db: Database,
  migrationId: string,
  { decision, outcome }: Recorded & { readonly decision: Settling },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (await readOutcome(tx, migrationId, decision.decisionId)) return;
    const settled = await settle(tx, migrationId, decision, outcome.at);
    const named = decision.companies === 'all' ? settled : new Set(decision.companies).size;
    const text = settled === named ? outcome.text : `${outcome.text}; done for ${settled} of ${named}: ${WHY_NOT}`;
    await recordDecisions(tx, migrationId, [{ decision, outcome: { ...outcome, text } }]);
  });
}

const WHY_NOT = 'the others are unknown, or are not where this can be done';

/** @returns of how many companies it was done */
async function settle(db: Database, migrationId: string, decision: Settling, at: string): Promise<number> {
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
