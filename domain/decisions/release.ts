/**
 * The release: which companies the ledger lets a worker move. It follows from the decisions that the ledger has
 * recorded as applied, and from nothing else. Workflow input and messages never change it.
 *
 * Managed route: nothing, until the ledger has the approvals of supply-details, schedule and update-application; then
 * the first company; then all companies, once support has approved the first one. A rejection, or a new start time,
 * withdraws the release until the approvals have been given again. Self-service route: all companies from the start.
 */
import type { Decision, StepDecision } from '../migration/decision';
import type { Approval, Ending, Proposal } from '../migration/migration-state';
import type { Step } from '../migration/steps';
import { STEP_RULES, STEPS, stepNumber } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { missingApprovals } from './approvals';

/** `first-company` releases only the company that the ledger has chosen to go first. */
export type Release = 'nothing' | 'first-company' | 'all';

/** The effect of all decisions that the ledger has recorded as applied. */
export interface RecordedDecisions {
  readonly approvals: readonly Approval[];
  readonly proposal: Pick<Proposal, 'by'> | null;
  /** The people who have supplied or corrected details since the start. */
  readonly suppliers: readonly string[];
  /** Set if a decision ended the migration early. */
  readonly ended: Exclude<Ending, 'completed'> | null;
}

export const NO_DECISIONS: RecordedDecisions = { approvals: [], proposal: null, suppliers: [], ended: null };

/** Returns which companies are released. */
export function releaseOf(route: Route, recorded: RecordedDecisions): Release {
  if (route === 'self-service') return 'all';
  const isApproved = (step: Step): boolean => missingApprovals(recorded, step).length === 0;
  if (!(['supply-details', 'schedule', 'update-application'] as const).every(isApproved)) return 'nothing';
  return isApproved('migrate-first-company') ? 'all' : 'first-company';
}

/** Adds an applied decision. Decisions must be added in the order of the audit trail. */
export function withDecision(before: RecordedDecisions, decision: Decision, at: string): RecordedDecisions {
  const { role, by } = decision;
  switch (decision.kind) {
    case 'step':
      if (decision.verdict === 'reject') return withRejection(before, decision);
      return { ...before, approvals: [...before.approvals, { step: decision.step, role, by, at }] };
    case 'time':
      return { ...withReopened(before, 'schedule'), proposal: { by } };
    case 'cancel':
      return { ...before, ended: 'cancelled' };
    case 'application-supplied':
    case 'manifest-amended':
      return { ...withoutSignOff(before), suppliers: [...new Set([...before.suppliers, by])] };
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
    case 'replace-credential':
      return withoutSignOff(before);
    case 'first-company':
      return withReopened(before, 'migrate-first-company');
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'adjust':
    case 'pause':
    case 'resume':
      return before;
  }
}

function withRejection(before: RecordedDecisions, { step, afterwards }: StepDecision): RecordedDecisions {
  if (step === 'complete-migration') return withoutSignOff(before);
  const ended = step === 'migrate-first-company' && afterwards?.next === 'abandon' ? 'abandoned' : before.ended;
  return { ...withReopened(before, step), ended, ...(step === 'schedule' ? { proposal: null } : {}) };
}

/** Withdraws the approvals of a step and of later steps. Keeps approvals that state facts, as `rejections.ts` does. */
function withReopened(before: RecordedDecisions, reopened: Step): RecordedDecisions {
  const isKept = ({ step }: Approval): boolean =>
    stepNumber(step) < stepNumber(reopened) || (step !== reopened && STEP_RULES[step].approvableEarly === true);
  return { ...before, approvals: before.approvals.filter(isKept) };
}

/** Withdraws the sign-offs, because they were given for a different outcome. */
function withoutSignOff(before: RecordedDecisions): RecordedDecisions {
  return { ...before, approvals: before.approvals.filter(({ step }) => step !== 'complete-migration') };
}

/** The facts in the ledger that an approval depends on. */
export interface LedgerFacts {
  /** True if the company that was chosen to go first has been moved. */
  readonly isFirstCompanyMoved: boolean;
  /** Number of companies whose final outcome is unknown. */
  readonly openCompanies: number;
}

/** Returns why a decision is out of order; null if it is not. */
export function orderRefusal(decision: Decision, recorded: RecordedDecisions, facts: LedgerFacts): string | null {
  if (recorded.ended !== null) return `the migration is ${recorded.ended}`;
  if (decision.kind !== 'step' || decision.verdict !== 'approve') return null;
  const { step } = decision;
  if (STEP_RULES[step].approvableEarly !== true) {
    const earlier = STEPS.slice(0, stepNumber(step) - 1).find((each) => missingApprovals(recorded, each).length > 0);
    if (earlier !== undefined)
      return `${step} cannot be approved yet: the ledger has no approval of ${earlier} by ${missingApprovals(recorded, earlier).join(' and ')}`;
  }
  if (step === 'schedule' && recorded.proposal === null) return 'no start time has been proposed yet';
  if (step === 'migrate-first-company' && !facts.isFirstCompanyMoved)
    return 'no first company has been moved and verified yet';
  if (step === 'complete-migration' && facts.openCompanies > 0)
    return `companies without a final outcome: ${facts.openCompanies}`;
  return null;
}

/** Returns how the migration can be closed; null if no decision allows it yet. */
export function endingOf(route: Route, recorded: RecordedDecisions): Ending | null {
  if (recorded.ended !== null) return recorded.ended;
  const isSignedOff = route === 'self-service' || missingApprovals(recorded, 'complete-migration').length === 0;
  return isSignedOff ? 'completed' : null;
}
