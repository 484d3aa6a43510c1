/** Decisions about approvers: when they are refused, and what they change. */
import {
  approverFingerprint,
  approverWithKey,
  signingRules,
  type Approver,
  type ApproverChange,
  type SigningRules,
} from '../migration/approvers';
import type { ApproverDecision, Decision } from '../migration/decision';
import type { DecisionRules } from '../migration/plan';
import type { MigrationState } from '../migration/migration-state';
import { roleText, STEPS, stepText } from '../migration/steps';
import { missingApprovals } from './approvals';
import { approversDeadlock, excludesEveryApprover, type EarlierActors } from './guards';
import { applied, type Ruling } from './ruling';

/** Returns whether a decision adds or removes an approver. */
export function isApproverDecision(decision: {
  readonly kind: Decision['kind'] | 'unreadable';
}): decision is ApproverDecision {
  return decision.kind === 'add-approver' || decision.kind === 'remove-approver';
}

/**
 * Returns why approvers cannot be changed in this way; null if they can, or if the decision is not about approvers. A
 * decision that repeats an earlier decision is accepted, and changes nothing.
 */
export function approverRefusal(decision: Decision, { approvers, mustSign }: SigningRules): string | null {
  if (!isApproverDecision(decision)) return null;
  const { role, by, publicKey } = decision.approver;
  const owner = approverWithKey(approvers, publicKey);
  if (owner && (owner.role !== role || owner.by !== by))
    return `this key belongs to ${owner.by} (${owner.role}); use this name and role, or another key`;
  if (decision.kind === 'add-approver') {
    // While support need not sign, anyone who can write to the Temporal namespace could send this decision as support,
    // add their own key, and lock support out.
    return mustSign.includes(role) || role === 'client'
      ? null
      : 'approvers for support can be added only if the migration was started with approvers';
  }
  return owner && approvers.every((each) => each === owner || each.role !== role)
    ? `this is the last key of an approver for ${roleText(role)}; add another key before you remove this key`
    : null;
}

/**
 * Returns why the remaining approvers could not decide under the four-eyes rule if this key was removed; null if they
 * could, or if they already cannot. Only the command checks this, because workflows have accepted such removals.
 */
export function removalDeadlock(
  rules: DecisionRules,
  { approvers, mustSign }: SigningRules,
  { role, publicKey }: Approver,
  earlier: EarlierActors,
): string | null {
  if (!rules.fourEyes) return null;
  const remaining = approvers.filter((each) => each.publicKey !== publicKey);
  const step = STEPS.find(
    (each) =>
      missingApprovals(earlier, each).includes(role) &&
      excludesEveryApprover(remaining, { step: each, role }, earlier) &&
      !excludesEveryApprover(approvers, { step: each, role }, earlier),
  );
  if (step !== undefined)
    return `under the four-eyes rule, no other approver for ${roleText(role)} can approve ${stepText(step)}; add another approver before you remove this key`;
  // While support need not sign, more people can decide than there are approvers. A proposed time has its proposer.
  if (!mustSign.includes('support') || earlier.proposal !== null) return null;
  const deadlockOf = (people: readonly Approver[]) => approversDeadlock({ ...rules, approvers: people }, null);
  return deadlockOf(approvers) === null ? deadlockOf(remaining) : null;
}

/**
 * Adds or removes an approver.
 *
 * @param atStart the approvers that the migration was started with; null if it was started without approvers
 */
export function changeApprovers(
  state: MigrationState,
  decision: ApproverDecision,
  atStart: readonly Approver[] | null,
  at: string,
): Ruling {
  const { kind, approver, by } = decision;
  const change: ApproverChange = { kind, approver, by, at };
  const person = `${approver.by} (${approver.role})`;
  const isApprover = approverWithKey(signingRules(atStart, state.approverChanges).approvers, approver.publicKey);
  const added = isApprover ? 'was already an approver' : 'added as an approver';
  const verb = kind === 'add-approver' ? added : 'removed as an approver';
  return applied(
    { ...state, approverChanges: [...(state.approverChanges ?? []), change] },
    `${person} ${verb}, key ${approverFingerprint(approver)}`,
  );
}
