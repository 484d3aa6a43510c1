/** Decisions about approvers: when they are refused, and what they change. */
import { approverFingerprint, approverWithKey, type ApproverChange, type SigningRules } from '../migration/approvers';
import type { ApproverDecision, Decision } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import { roleText } from '../migration/steps';
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

/** Adds or removes an approver. */
export function changeApprovers(state: MigrationState, decision: ApproverDecision, at: string): Ruling {
  const { kind, approver, by } = decision;
  const change: ApproverChange = { kind, approver, by, at };
  const person = `${approver.by} (${approver.role})`;
  const verb = kind === 'add-approver' ? 'added as an approver' : 'removed as an approver';
  return applied(
    { ...state, approverChanges: [...(state.approverChanges ?? []), change] },
    `${person} ${verb}, key ${approverFingerprint(approver)}`,
  );
}
