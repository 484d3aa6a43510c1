/**
 * The differences between the self-service route and the six steps: the client makes the decisions that support makes
 * in the managed route, there are no approvals, and the migration ends automatically.
 */
import { countOpen } from '../companies/counts';
import type { MigrationState } from '../migration/migration-state';
import type { Role } from '../migration/steps';

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
