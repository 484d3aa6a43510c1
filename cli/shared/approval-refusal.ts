/** Finds out, before an approval is sent, whether the migration will refuse it. */
import { preconditionRefusal } from '../../domain/decisions/preconditions';
import { roleRefusal } from '../../domain/decisions/roles';
import { ROLES, STEP_RULES, type Role, type Step } from '../../domain/migration/steps';
import { decisionFactsOf } from '../../domain/progress/decision-facts';
import type { Progress } from '../../domain/progress/progress';

/**
 * Returns why the migration will refuse this approval, for example because nothing is to be approved yet; else null.
 */
export function approvalRefusal(
  progress: Progress,
  step: Step,
  actor: { readonly role: Role; readonly by: string },
): string | null {
  const approval = { kind: 'step', verdict: 'approve', step, ...actor, decisionId: '' } as const;
  return (
    roleRefusal(progress.route, approval) ??
    preconditionRefusal(approval, decisionFactsOf(progress), new Date().toISOString())
  );
}

/** Returns why neither role can approve the step now; null if one of them can. */
export function refusalForEveryRole(progress: Progress, step: Step): string | null {
  const { approvers } = STEP_RULES[step];
  const roles = approvers.length === 0 ? ROLES : approvers;
  const refusals = roles.map((role) => approvalRefusal(progress, step, { role, by: '' }));
  return refusals.includes(null) ? null : (refusals[0] ?? null);
}
