/**
 * Preconditions: the conditions that a migration must meet before a decision can be applied.
 *
 * The workflow checks them when a decision arrives, with the facts of its state (`factsOfState`). The ledger checks
 * them again when it records the decision, with the facts in its tables (`ledgerFacts`), because anyone who may write
 * to the Temporal namespace can claim that a workflow has applied a decision.
 *
 * Only the workflow checks what the ledger does not store: the result of the preflight, and the digest of what was
 * reviewed.
 */
import { mayHaveCrossed, countReadyOrMoving, countOpen, type Counts } from '../companies/counts';
import type { Companies, Decision, DecisionBase, StepDecision } from '../migration/decision';
import type { Approval, Ending, FirstCompany, MigrationState } from '../migration/migration-state';
import { automaticPause, isApplicationRejected, pausesByPeople } from '../migration/pauses';
import { roleText, STEP_RULES, STEPS, stepNumber, stepText, type Role, type Step } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { counted, momentText } from '../text/sentences';
import { roleRefusal } from './roles';
import { actsAsSupport, isBeforeMoving } from './self-service';

/** The facts of a migration on which the preconditions depend. */
export interface DecisionFacts {
  readonly route: Route;
  /** How the migration ended; null if it is open. */
  readonly closed: Ending | null;
  readonly step: Step;
  /** The steps that have ended. A step that is open again is not among them. */
  readonly ended: readonly Step[];
  readonly approvals: readonly Pick<Approval, 'step' | 'role' | 'by'>[];
  readonly hasProposal: boolean;
  /** True if the migration has paused itself. */
  readonly pausedItself: boolean;
  /** True if the migration has paused itself because the platform rejects the client's application. */
  readonly applicationRejected: boolean;
  /** True if a person has paused it. */
  readonly pausedByPeople: boolean;
  /** The roles that have paused it. Absent if they are not known. */
  readonly pausedBy?: readonly Role[];
  /** Null if the ledger is behind, so the states of its companies are unknown. The rules then do not depend on them. */
  readonly counts: Counts | null;
  /** The company that was chosen to go first; null if there is none, or if its move has not begun. */
  readonly firstCompany: Pick<FirstCompany, 'reference' | 'stage'> | null;
  /**
   * The rejected first company; the latest, if several were rejected. Null if none was rejected, or once step 5 has
   * ended. Absent if it is not known.
   */
  readonly rejectedFirst?: { readonly reference: string; readonly by: string } | null;
}

/** Returns the facts that the workflow's state contains. */
export function factsOfState(state: MigrationState): DecisionFacts & { readonly counts: Counts } {
  const { route, closed, step, approvals, proposal, counts, firstCompany, reopened } = state;
  return {
    ...{ route, closed, step, approvals, counts, firstCompany },
    ended: STEPS.filter((each) => state.steps[each]?.endedAt),
    hasProposal: proposal !== null,
    pausedItself: automaticPause(state) !== null,
    applicationRejected: isApplicationRejected(state),
    pausedByPeople: pausesByPeople(state).length > 0,
    pausedBy: pausesByPeople(state).flatMap(({ role }) => role ?? []),
    rejectedFirst: reopened?.company === undefined ? null : { reference: reopened.company, by: reopened.by },
  };
}

/**
 * Returns which precondition a decision does not meet, as the reason for its refusal; null if it meets all of them.
 *
 * @param at when the workflow received the decision. ISO 8601, UTC
 */
export function preconditionRefusal(decision: Decision, facts: DecisionFacts, at: string): string | null {
  if (facts.closed !== null) return `the migration is ${facts.closed}`;
  return roleRefusal(facts.route, decision) ?? kindRefusal(decision, facts, at) ?? validityRefusal(decision, at);
}

function kindRefusal(decision: Decision, facts: DecisionFacts, at: string): string | null {
  switch (decision.kind) {
    case 'step':
      return decision.verdict === 'approve' ? approvalRefusal(decision, facts) : rejectionRefusal(decision, facts);
    case 'time':
      return timeRefusal(decision.startAt, facts, at);
    case 'first-company':
      return choiceRefusal(facts);
    case 'resume':
      return resumeRefusal(decision.role, facts);
    case 'retry':
      return retryRefusal(decision.companies, facts);
    case 'skip':
    case 'relink':
      return exceptionRefusal(decision.kind, facts);
    case 'replace-credential':
      return noExceptionsRefusal(decision.kind, facts);
    case 'application-supplied':
      return applicationRefusal(facts);
    case 'manifest-supplied':
      return manifestRefusal(facts);
    case 'sync-disabled':
    case 'credentials-supplied':
    case 'manifest-amended':
    case 'exclude':
    case 'adjust':
    case 'add-approver':
    case 'remove-approver':
    case 'pause':
    case 'cancel':
      return null;
  }
}

/** The decisions with a precondition that depends on the counts of companies. */
export const DEPEND_ON_COUNTS: readonly Decision['kind'][] = [
  ...(['step', 'time', 'retry', 'skip', 'relink'] as const),
  ...(['replace-credential', 'application-supplied', 'manifest-supplied'] as const),
];

function approvalRefusal({ step, role }: StepDecision, facts: DecisionFacts): string | null {
  if (facts.ended.includes(step)) return `${stepText(step)} has already ended`;
  if (stepNumber(step) > stepNumber(facts.step) && !STEP_RULES[step].approvableEarly) {
    return `${stepText(step)} is not open yet: the migration is at ${stepText(facts.step)}`;
  }
  if (step === 'schedule' && !facts.hasProposal) return 'there is no start time to approve; propose one first';
  const noFirst = step === 'migrate-first-company' ? firstCompanyRefusal(facts) : null;
  if (noFirst !== null) return noFirst;
  const open = step === 'complete-migration' ? openText(facts) : null;
  if (open !== null) return open;
  const earlier = facts.approvals.find((approval) => approval.step === step && approval.role === role);
  return earlier ? approvedText(earlier) : null;
}

/** Says that a role has already approved a step. */
export function approvedText({ step, role, by }: Pick<Approval, 'step' | 'role' | 'by'>): string {
  return step === 'complete-migration'
    ? `${roleText(role)} (${by}) has already signed off the handover`
    : `${stepText(step)} has already been approved by ${roleText(role)} (${by})`;
}

function firstCompanyRefusal({ firstCompany, rejectedFirst }: DecisionFacts): string | null {
  switch (firstCompany?.stage) {
    case 'verified':
      return null;
    case 'failed':
      return `the first company, ${firstCompany.reference}, was not moved, so it cannot be approved; decide what to try next`;
    case 'importing':
      return `the first company, ${firstCompany.reference}, is still being moved and checked`;
    case undefined:
      return rejectedFirst
        ? `${rejectedFirst.by} has rejected the first company, ${rejectedFirst.reference}, and there is no newer result to approve yet`
        : 'the first company has no result yet';
  }
}

/** Says how many companies have no final outcome yet; null if there are none, or if they have not been counted. */
function openText({ counts }: DecisionFacts): string | null {
  const open = counts ? countOpen(counts) : 0;
  return open === 0 ? null : `${counted(open, 'company')} ${open === 1 ? 'has' : 'have'} no final outcome yet`;
}

const PAUSE_ADVICE = /; to stop further moves, pause the migration$/;

/** Returns why a step cannot be rejected; null if it can. Does not advise to pause if this role has paused. */
function rejectionRefusal(decision: StepDecision, facts: DecisionFacts): string | null {
  const refusal = lateRejectionRefusal(decision, facts);
  return facts.pausedBy?.includes(decision.role) ? (refusal?.replace(PAUSE_ADVICE, '') ?? null) : refusal;
}

function lateRejectionRefusal({ step, afterwards }: StepDecision, facts: DecisionFacts): string | null {
  if (stepNumber(step) > stepNumber(facts.step)) return `${stepText(step)} is not open yet`;
  switch (step) {
    case 'migrate-first-company':
      if (facts.counts !== null && (facts.firstCompany?.stage ?? 'importing') === 'importing')
        return 'the first company has no result yet';
      if (facts.ended.includes(step))
        return `${stepText(step)} has already ended; to stop further moves, pause the migration`;
      return afterwards === undefined
        ? 'a rejection of the first company must say what to try next: same-company, another-company or abandon'
        : null;
    case 'complete-migration': {
      const open = openText(facts);
      return open && `there is no handover to reject yet: ${open}; to stop further moves, pause the migration`;
    }
    case 'supply-details':
    case 'schedule':
    case 'update-application':
    case 'disable-syncing':
      return hasCrossed(facts)
        ? 'the move of the first company has already begun, so this step cannot be reopened; to stop further moves, pause the migration'
        : null;
  }
}

/**
 * Refuses to replace the application after support has accepted the details: they name the application, and step 3 sets
 * its callback URL, so steps 1 and 3 must be approved again. Once the move of the first company has begun, a wrong
 * application can be replaced without new approvals, because there is no other way to correct it. An application
 * that the platform rejects can also be replaced while this pauses the migration, because support must resume it. With
 * unknown counts, the ledger cannot tell, and takes over what the workflow has applied.
 */
function applicationRefusal(facts: DecisionFacts): string | null {
  if (facts.counts === null) return null;
  const isAccepted = facts.route === 'managed' && facts.ended.includes('supply-details');
  return isAccepted && !hasCrossed(facts) && !facts.applicationRejected ? ACCEPTED : null;
}

const ACCEPTED =
  'the details have been accepted; to change them, support or the client must first reject step 1, and support must approve it again after the change';

/** Refuses to replace all companies once a move might have begun, details were accepted, or one was left out. */
function manifestRefusal(facts: DecisionFacts): string | null {
  if (hasCrossed(facts))
    return 'the move of the first company has already begun, so the manifest cannot be replaced; support can amend it';
  if (facts.ended.includes('supply-details')) return ACCEPTED;
  return facts.counts !== null && facts.counts.excluded > 0
    ? 'companies have been left out, so the manifest cannot be replaced; support can amend it'
    : null;
}

/** A proposed start can be this far in the past, because typing and delivering the message takes time. */
const PAST_TOLERANCE_MS = 15 * 60_000;

function timeRefusal(startAt: string, facts: DecisionFacts, at: string): string | null {
  if (Date.parse(startAt) < Date.parse(at) - PAST_TOLERANCE_MS)
    return `${momentText(startAt)} is in the past; to start at once, propose the current time`;
  // A workflow that was reset must pass step 2 again, even if companies have moved.
  return facts.ended.includes('schedule') && hasCrossed(facts)
    ? 'the move of the first company has already begun, so the start time cannot be changed'
    : null;
}

/**
 * Returns whether a credential might have been handed over; false if the counts are unknown. The existence of a first
 * company is enough, because the counts can lag.
 */
function hasCrossed({ counts, firstCompany }: DecisionFacts): boolean {
  return counts !== null && (firstCompany !== null || mayHaveCrossed(counts));
}

const FIRST = 'migrate-first-company';

function choiceRefusal({ ended, firstCompany }: DecisionFacts): string | null {
  if (ended.includes(FIRST)) return `${stepText(FIRST)} has already ended`;
  return firstCompany?.stage === 'importing'
    ? `another first company cannot be chosen while ${firstCompany.reference} is being moved and checked`
    : null;
}

function resumeRefusal(role: Role, facts: DecisionFacts): string | null {
  // The client can still lift the pauses of people. The automatic pause stays.
  return facts.pausedItself && !facts.pausedByPeople && !actsAsSupport(facts, role)
    ? 'only support can resume a migration that paused itself'
    : null;
}

const NO_EXCEPTIONS = 'no company has failed or has an unknown outcome';
const ONLY_HELD_BACK =
  'no company has failed or has an unknown outcome; companies that are held back must be corrected or left out instead, unless they are still being checked';

function retryRefusal(companies: Companies, facts: DecisionFacts): string | null {
  const isOfFirst =
    isFirstCompanyRetry(companies, facts) || (facts.counts === null && facts.step === 'migrate-first-company');
  return isOfFirst || isBeforeMoving(facts) ? null : exceptionRefusal('retry', facts);
}

/** Returns whether the migration is at step 5, and its first company has failed and is one of these companies. */
export function isFirstCompanyRetry(
  companies: Companies,
  { step, firstCompany }: Pick<DecisionFacts, 'step' | 'firstCompany'>,
): boolean {
  if (step !== 'migrate-first-company' || firstCompany?.stage !== 'failed') return false;
  return companies === 'all' || companies.includes(firstCompany.reference);
}

function exceptionRefusal(kind: Decision['kind'], facts: DecisionFacts): string | null {
  if (facts.step !== 'complete-migration') {
    return facts.route === 'self-service'
      ? 'companies can be skipped or relinked only after a check of the details has found no errors'
      : 'companies can be retried, relinked or skipped only in step 6; before that, only a first company that was not moved can be retried';
  }
  return noExceptionsRefusal(kind, facts);
}

/**
 * Refuses a decision if it is certain that no company has failed or has an unknown outcome. In step 6, this is not
 * certain while companies are moving or can be moved, because the counts can then lag behind the ledger.
 */
function noExceptionsRefusal(kind: Decision['kind'], { step, counts }: DecisionFacts): string | null {
  if (counts === null) return null;
  const countsMayLag = step === 'complete-migration' && countReadyOrMoving(counts) > 0;
  if (counts.failed + counts.outcomeUnknown > 0 || countsMayLag) return null;
  // A company that is held back has nothing to reconnect.
  return counts.heldBack > 0 && kind !== 'relink' ? ONLY_HELD_BACK : NO_EXCEPTIONS;
}

function validityRefusal({ validUntil }: DecisionBase, at: string): string | null {
  return validUntil !== undefined && at > validUntil
    ? `this decision expired at ${momentText(validUntil)}, before a worker could apply it`
    : null;
}
