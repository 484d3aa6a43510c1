/**
 * The release: which companies the ledger lets a worker move. It follows only from the route and from the decisions
 * that the ledger has recorded as applied. Nothing else in the input or the messages of a workflow changes it.
 *
 * Managed route: nothing, until the ledger has the approvals of supply-details, schedule and update-application; then
 * the first company; then all companies, once support has approved the first company. A new start time, a supplied
 * manifest, or a rejection of one of steps 1 to 3 withdraws the release. A rejection of step 4 or 5, or the choice of
 * another first company, withdraws the release of all companies but the first. New approvals restore the release.
 * Self-service route: all companies from the start.
 */
import type { ApproverChange } from '../migration/approvers';
import type { Decision, Outcome, StepDecision } from '../migration/decision';
import type { Approval, Ending, Proposal } from '../migration/migration-state';
import { STEPS, type Step } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { missingApprovals } from './approvals';
import { withoutApprovals, withoutLaterApprovals, withoutSignOff, withSupplier } from './ruling';

/** `first-company` releases only the company that the ledger has chosen to go first. */
export type Release = 'nothing' | 'first-company' | 'all';

/** The effect of all decisions that the ledger has recorded as applied. */
export interface RecordedDecisions {
  readonly approvals: readonly Approval[];
  readonly proposal: Pick<Proposal, 'by'> | null;
  /** The people who have supplied or corrected details since the start. */
  readonly suppliers: readonly string[];
  /** True if details have changed and support has not accepted them since. An approval of step 1 might be needed. */
  readonly detailsChanged: boolean;
  /** Set if a decision ended the migration early. */
  readonly ended: Exclude<Ending, 'completed'> | null;
  /** The decisions about approvers, oldest first. */
  readonly approverChanges: readonly ApproverChange[];
}

export const NO_DECISIONS: RecordedDecisions = {
  approvals: [],
  proposal: null,
  suppliers: [],
  detailsChanged: false,
  ended: null,
  approverChanges: [],
};

/** Returns which companies are released. */
export function releaseOf(route: Route, recorded: RecordedDecisions): Release {
  if (route === 'self-service') return 'all';
  const isApproved = (step: Step): boolean => missingApprovals(recorded, step).length === 0;
  if (!(['supply-details', 'schedule', 'update-application'] as const).every(isApproved)) return 'nothing';
  return isApproved('migrate-first-company') ? 'all' : 'first-company';
}

/**
 * Returns the first step that has not ended; step 6 if all have ended, or in the self-service route. No decision ends
 * step 4, so the caller must know whether it has ended.
 *
 * @param isSyncingDisabled whether step 4 has ended
 */
export function stepByDecisions(route: Route, recorded: RecordedDecisions, isSyncingDisabled: boolean): Step {
  if (route === 'self-service') return 'complete-migration';
  const hasEnded = (step: Step): boolean =>
    step === 'disable-syncing' ? isSyncingDisabled : missingApprovals(recorded, step).length === 0;
  return STEPS.find((step) => !hasEnded(step)) ?? 'complete-migration';
}

/** Adds an applied decision. Decisions must be added in the order of the audit trail. */
export function withDecision(before: RecordedDecisions, decision: Decision, at: string): RecordedDecisions {
  const { role, by } = decision;
  switch (decision.kind) {
    case 'step':
      if (decision.verdict === 'reject') return withRejection(before, decision);
      return {
        ...before,
        approvals: [...before.approvals, { step: decision.step, role, by, at }],
        detailsChanged: before.detailsChanged && decision.step !== 'supply-details',
      };
    case 'time':
      return { ...withoutLaterApprovals(before, 'schedule'), proposal: { by } };
    case 'cancel':
      return { ...before, ended: 'cancelled' };
    case 'application-supplied':
      return withSupplier(withDetailsChanged(withoutApplicationApprovals(before)), by);
    // A supplied manifest replaces all companies, so approvals of the earlier companies must not release the new
    // companies.
    case 'manifest-supplied':
      return withSupplier(withDetailsChanged(withoutLaterApprovals(before, 'supply-details')), by);
    case 'manifest-amended':
      return withSupplier(withDetailsChanged(before), by);
    case 'exclude':
      return withDetailsChanged(before);
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
      return withoutSignOff(before);
    case 'first-company':
      return withoutLaterApprovals(before, 'migrate-first-company');
    case 'add-approver':
    case 'remove-approver': {
      const { kind, approver } = decision;
      return { ...before, approverChanges: [...before.approverChanges, { kind, approver, by, at }] };
    }
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'adjust':
    case 'pause':
    case 'resume':
      return before;
  }
}

/** In step 1, withdraws the approvals of step 3, because they were given for another application. */
function withoutApplicationApprovals(before: RecordedDecisions): RecordedDecisions {
  return missingApprovals(before, 'supply-details').length === 0
    ? before
    : withoutApprovals(before, 'update-application');
}

function withRejection(before: RecordedDecisions, { step, afterwards }: StepDecision): RecordedDecisions {
  if (step === 'complete-migration') return withoutSignOff(before);
  const ended = step === 'migrate-first-company' && afterwards?.next === 'abandon' ? 'abandoned' : before.ended;
  return { ...withoutLaterApprovals(before, step), ended, ...(step === 'schedule' ? { proposal: null } : {}) };
}

function withDetailsChanged(before: RecordedDecisions): RecordedDecisions {
  return { ...withoutSignOff(before), detailsChanged: true };
}

/** Returns how decisions have ended the migration: early, or with both sign-offs; null if they have not. */
export function endingByDecisions(route: Route, recorded: RecordedDecisions): Ending | null {
  if (recorded.ended !== null) return recorded.ended;
  const isSignedOff = route === 'managed' && missingApprovals(recorded, 'complete-migration').length === 0;
  return isSignedOff ? 'completed' : null;
}

/**
 * Returns how the migration can be closed; null if no decision allows it yet. A self-service migration needs no
 * decision to be completed, so the caller must check that nothing is left to move.
 */
export function possibleEnding(route: Route, recorded: RecordedDecisions): Ending | null {
  return endingByDecisions(route, recorded) ?? (route === 'self-service' ? 'completed' : null);
}

/** All decisions, in the order of the audit trail. */
type Trail = readonly { readonly decision: Decision; readonly outcome: Pick<Outcome, 'applied' | 'at'> }[];

/**
 * Finds the approvals that later decisions have withdrawn.
 *
 * @returns the index of the decision that withdrew the approval, by the index of the approval
 */
export function withdrawnApprovals(decisions: Trail): ReadonlyMap<number, number> {
  const withdrawn = new Map<number, number>();
  const given = new Map<Approval, number>();
  let recorded = NO_DECISIONS;
  for (const [index, { decision, outcome }] of decisions.entries()) {
    if (!outcome.applied) continue;
    recorded = withDecision(recorded, decision, outcome.at);
    for (const [approval, givenAt] of given) {
      if (recorded.approvals.includes(approval)) continue;
      withdrawn.set(givenAt, index);
      given.delete(approval);
    }
    const last = recorded.approvals.at(-1);
    if (last !== undefined && decision.kind === 'step' && decision.verdict === 'approve') given.set(last, index);
  }
  return withdrawn;
}

/**
 * Finds the confirmations that syncing is off which later decisions have withdrawn: a rejection of step 4, or a
 * manifest, which replaces all companies. A rejection withdraws them only for companies that are waiting to be moved.
 *
 * @returns the index of the decision that withdrew the confirmation, by the index of the confirmation
 */
export function withdrawnConfirmations(decisions: Trail): ReadonlyMap<number, number> {
  const withdrawn = new Map<number, number>();
  for (const [index, { decision, outcome }] of decisions.entries()) {
    if (!outcome.applied || !withdrawsConfirmations(decision)) continue;
    for (const [given, earlier] of decisions.slice(0, index).entries())
      if (earlier.decision.kind === 'sync-disabled' && earlier.outcome.applied && !withdrawn.has(given))
        withdrawn.set(given, index);
  }
  return withdrawn;
}

function withdrawsConfirmations(decision: Decision): boolean {
  if (decision.kind !== 'step') return decision.kind === 'manifest-supplied';
  return decision.verdict === 'reject' && decision.step === 'disable-syncing';
}
