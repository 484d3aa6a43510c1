/** Roles: which role can make which decision. The workflow and the ledger apply the same rules. */
import type { Decision } from '../migration/decision';
import type { Role } from '../migration/steps';
import { roleText, STEP_RULES, stepText } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { actsAsSupport, selfServiceRefusal } from './self-service';

/** Returns why this role cannot make this decision in this route; null if it can. */
export function roleRefusal(route: Route, decision: Decision): string | null {
  if (route === 'self-service') {
    const refusal = selfServiceRefusal(decision);
    if (refusal !== null) return refusal;
  }
  const { role } = decision;
  switch (decision.kind) {
    case 'step':
      return decision.verdict === 'approve' ? approvalRefusal(decision) : rejectionRefusal(decision);
    case 'sync-disabled':
      return role === 'client'
        ? null
        : 'only the client can confirm that its own application no longer uses the tokens';
    case 'first-company':
      return role === 'support' ? null : 'only support can choose the first company';
    case 'skip':
    case 'retry':
    case 'relink':
      return supportOnly(route, role, 'only support can decide what happens to companies that were not moved');
    case 'adjust':
      return supportOnly(route, role, 'only support can change the limits');
    case 'add-approver':
    case 'remove-approver':
      return role === 'support' ? null : 'only support can add or remove approvers';
    case 'time':
    case 'credentials-supplied':
    case 'replace-credential':
    case 'application-supplied':
    case 'manifest-supplied':
    case 'manifest-amended':
    case 'exclude':
    case 'pause':
    case 'resume':
    case 'cancel':
      return null;
  }
}

type StepDecision = Extract<Decision, { readonly kind: 'step' }>;

function approvalRefusal({ step, role }: StepDecision): string | null {
  const { approvers } = STEP_RULES[step];
  if (approvers.length === 0)
    return `${stepText(step)} needs no approval: it ends when every company of the first wave is confirmed, left out or held back`;
  return approvers.includes(role)
    ? null
    : `${stepText(step)} is approved by ${approvers.map(roleText).join(' and ')}, not by ${roleText(role)}`;
}

function rejectionRefusal({ step, role }: StepDecision): string | null {
  const { approvers, actors } = STEP_RULES[step];
  return [...approvers, ...actors].includes(role) ? null : `${roleText(role)} cannot reject ${stepText(step)}`;
}

function supportOnly(route: Route, role: Role, refusal: string): string | null {
  return actsAsSupport({ route }, role) ? null : refusal;
}
