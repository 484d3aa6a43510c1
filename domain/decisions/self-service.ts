/**
 * The self-service route, where it differs from the six steps: the client is alone. It decides what support decides
 * otherwise, nobody approves anything, and the migration ends by itself.
 */
import { openCompanies } from '../companies/company-state';
import type { Decision } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import type { Role } from '../migration/steps';

/** Whether somebody in this role may decide what support decides in the managed route. */
export function actsAsSupport({ route }: Pick<MigrationState, 'route'>, role: Role): boolean {
  return role === 'support' || route === 'self-service';
}

/** Whether what was supplied is still being checked, or what the check has found is being corrected. */
export function isBeforeMoving({ route, step }: MigrationState): boolean {
  return route === 'self-service' && step === 'supply-details';
}

/** Whether there is nothing left to do in its present step. */
export function isSelfServiceStepComplete({ step, preflight, counts, unrecorded }: MigrationState): boolean {
  if (step === 'supply-details') return preflight?.problems.length === 0;
  // What was decided and has not reached the ledger may open a company again.
  return unrecorded.length === 0 && counts.total > 0 && openCompanies(counts) + counts.failed === 0;
}

/** Why there is nothing in this route that a decision could be about, or null. */
export function noSuchSubject({ kind }: Decision): string | null {
  switch (kind) {
    case 'step':
      return 'in the self-service route nothing is approved or rejected: it ends by itself';
    case 'time':
      return 'in the self-service route no start is agreed: it has begun; hours are set with: ferry adjust';
    case 'first-company':
      return 'in the self-service route no company goes first';
    case 'sync-disabled':
      return 'who started it has confirmed that for every company';
    case 'credentials-supplied':
    case 'application-supplied':
    case 'manifest-amended':
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
    case 'adjust':
    case 'pause':
    case 'resume':
    case 'cancel':
      return null;
  }
}
