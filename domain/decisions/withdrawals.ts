/** Withdrawals: approvals that decisions withdraw, because facts have changed. The texts say why to approve again. */
import type { Decision } from '../migration/decision';
import type { Approval, MigrationState, Reopened } from '../migration/migration-state';
import { WITHDRAWS } from '../migration/partial-outcome';
import { stepText, type Role } from '../migration/steps';
import { allOf, oneLine } from '../text/sentences';
import type { Ruling } from './ruling';

const SIGN_OFF = 'complete-migration';

/**
 * Names the withdrawn approvals in the text of an applied ruling. If a sign-off is among them, also stores in the state
 * why the sign-off no longer counts, unless the state contains a rejection of the handover.
 */
export function withWithdrawals(before: MigrationState, ruling: Ruling, decision: Decision, at: string): Ruling {
  // A rejection already says that the step has to be approved again.
  if (ruling.state === null || decision.kind === 'step') return ruling;
  const { approvals } = ruling.state;
  const withdrawn = before.approvals.filter((approval) => !approvals.includes(approval));
  if (withdrawn.length === 0) return ruling;
  const text = `${ruling.text}${WITHDRAWS}${withdrawalText(withdrawn)}`;
  const roles = withdrawn.filter(({ step }) => step === SIGN_OFF).map(({ role }) => role);
  // People should still see why the handover was rejected.
  if (roles.length === 0 || isHandoverRejected(ruling.state)) return { ...ruling, text };
  const { role, by } = decision;
  const reason = `${ruling.text}${named(decision)}`;
  return { state: { ...ruling.state, reopened: { step: SIGN_OFF, by, role, reason, at, withdrawn: roles } }, text };
}

/** Returns whether a role has rejected the handover and has not signed it off since. */
export function isHandoverRejected({ reopened }: { readonly reopened?: Reopened | null }): boolean {
  return reopened?.step === SIGN_OFF && !reopened.withdrawn;
}

/** Returns whose approvals are withdrawn: `the sign-off of Cleo (client)`. */
export function withdrawalText(withdrawn: readonly Pick<Approval, 'step' | 'role' | 'by'>[]): string {
  const whose = withdrawn.map(({ step, role, by }) => {
    const what = step === SIGN_OFF ? 'the sign-off' : `the approval of ${stepText(step)}`;
    return `${what} ${step === SIGN_OFF ? 'of' : 'by'} ${oneLine(by, MAX_NAME_LENGTH)} (${role})`;
  });
  return allOf(whose);
}

const MAX_NAME_LENGTH = 100;

const MAX_NAMED = 3;

function named(decision: Decision): string {
  if (!('companies' in decision) || !Array.isArray(decision.companies)) return '';
  const references = decision.companies as readonly string[];
  return references.length > MAX_NAMED ? '' : ` (${references.join(', ')})`;
}

/**
 * Returns the notice that remains after a role has signed off; null if none remains. A rejection remains until the role
 * that has rejected the handover signs it off, so that each person of that role sees the rejection before signing off.
 */
export function noticeAfterSignOff(reopened: Reopened, role: Role): Reopened | null {
  if (reopened.step !== SIGN_OFF) return reopened;
  if (!reopened.withdrawn) return reopened.role === role ? null : reopened;
  const withdrawn = reopened.withdrawn.filter((each) => each !== role);
  return withdrawn.length === 0 ? null : { ...reopened, withdrawn };
}
