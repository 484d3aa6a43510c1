/**
 * The differences between the self-service route and the six steps: the client makes the decisions that support makes
 * in the managed route, there are no approvals, and the migration ends automatically.
 */
import { countOpen } from '../companies/counts';
import type { Decision } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import type { Role } from '../migration/steps';
import type { Route } from '../../platforms/platforms';

/** Returns whether this role may make the decisions that support makes in the managed route. */
export function actsAsSupport({ route }: Pick<MigrationState, 'route'>, role: Role): boolean {
  return role === 'support' || route === 'self-service';
}

/** Returns whether the supplied details of a self-service migration are still being checked or corrected. */
export function isBeforeMoving({ route, step }: Pick<MigrationState, 'route' | 'step'>): boolean {
  return route === 'self-service' && step === 'supply-details';
}

/** Returns whether nothing is left to do in the current step. */
export function isSelfServiceStepComplete({ step, preflight, counts, unrecorded }: MigrationState): boolean {
  if (step === 'supply-details') return preflight?.problems.length === 0;
  // A decision that has not reached the ledger yet can reopen a company.
  return unrecorded.length === 0 && counts.total > 0 && countOpen(counts) + counts.failed === 0;
}

/** Returns why a decision does not apply in this route; null if it applies. */
export function selfServiceRefusal({ kind }: Decision): string | null {
  switch (kind) {
    case 'step':
      return 'a self-service migration has no approvals or rejections: it ends automatically';
    case 'time':
      return 'a self-service migration starts at once, so no start time can be proposed; adjust its windows instead';
    case 'first-company':
      return 'a self-service migration has no first company';
    case 'sync-disabled':
      return 'the start of a self-service migration confirms that syncing is off for every company, so no confirmation is needed';
    case 'manifest-supplied':
      return 'the manifest of a self-service migration is supplied at the start; amend the manifest instead';
    case 'credentials-supplied':
    case 'application-supplied':
    case 'manifest-amended':
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
    case 'adjust':
    case 'add-approver':
    case 'remove-approver':
    case 'pause':
    case 'resume':
    case 'cancel':
      return null;
  }
}

/**
 * Returns why support cannot make this decision in self-service, where the client decides about its companies and
 * limits; null if it can. Support can still supply data. It can also pause, resume and cancel, because it must be able
 * to stop a migration at any time.
 *
 * Only the ledger and the commands apply this rule. The workflow does not, because it must be able to replay histories
 * in which it applied such decisions; it adopts the ledger's outcome.
 */
export function clientOnlyRefusal(route: Route, { kind, role }: Decision): string | null {
  if (route !== 'self-service' || role === 'client') return null;
  switch (kind) {
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
      return 'in self-service, only the client can decide what happens to companies (with ferry: add --as client, and --by with the name of the person who decides)';
    case 'adjust':
      return 'in self-service, only the client can change the limits (with ferry: add --as client, and --by with the name of the person who decides)';
    case 'step':
    case 'time':
    case 'first-company':
    case 'sync-disabled':
    case 'manifest-supplied':
    case 'manifest-amended':
    case 'credentials-supplied':
    case 'application-supplied':
    case 'add-approver':
    case 'remove-approver':
    case 'pause':
    case 'resume':
    case 'cancel':
      return null;
  }
}
