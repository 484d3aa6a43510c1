/**
 * Guards refuse an otherwise valid decision if what its sender reviewed has changed, or if the migration requires a
 * second person.
 *
 * A change is detected by a digest: a decision can carry the digest of what its sender reviewed, and the workflow
 * compares it with the digest of the current state. `digestOf` computes both digests, in the workflow and in the code
 * in `client/` that reads the state for review.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import type { Approver } from '../migration/approvers';
import type { Decision, StepDecision } from '../migration/decision';
import type { MigrationState, Proposal, Revisions } from '../migration/migration-state';
import type { DecisionRules } from '../migration/plan';
import { canonicalJson } from '../migration/signatures';
import { REVIEW_CHANGED } from '../migration/decision-record';
import { stepText, type Step } from '../migration/steps';
import type { MigrationLimits } from '../planning/limits';

/** Returns why a decision is refused; null if no guard refuses it. */
export function guardRefusal(
  decision: Decision,
  state: MigrationState,
  { requireDigest, fourEyes }: DecisionRules,
): string | null {
  const step = reviewedStep(decision);
  if (step !== null) {
    const refusal = digestRefusal(decision, step, state, requireDigest);
    if (refusal !== null) return refusal;
  }
  const needsFourEyes = fourEyes && decision.kind === 'step' && decision.verdict === 'approve';
  return needsFourEyes ? fourEyesRefusal(decision, { ...state, suppliers: suppliersOf(state) }) : null;
}

/** Returns the people who have supplied the details or corrected them. */
export function suppliersOf({ preflight, suppliers }: Pick<MigrationState, 'preflight' | 'suppliers'>): string[] {
  return [...(preflight?.suppliedBy == null ? [] : [preflight.suppliedBy]), ...suppliers];
}

/**
 * Returns the step whose content the sender reviews: the step of an approval or a rejection, or step 4 for a
 * confirmation of all companies. Null for any other decision.
 */
function reviewedStep(decision: Decision): Step | null {
  if (decision.kind === 'step') return decision.step;
  return decision.kind === 'sync-disabled' && decision.companies === 'all' ? 'disable-syncing' : null;
}

function digestRefusal(decision: Decision, step: Step, state: MigrationState, isRequired: boolean): string | null {
  if (decision.digest === undefined) return missingDigest(decision, isRequired);
  const reviewed = { ...state, windows: state.limits.windows, revisions: state.revisions ?? {} };
  // Also accepts digests without revisions: clients of earlier versions send them, and recorded histories contain them.
  const { revisions: _, ...withoutRevisions } = reviewed;
  if ([reviewed, withoutRevisions].some((each) => decision.digest === digestOf(step, each))) return null;
  return REVIEW_CHANGED;
}

/** Returns why a decision without a digest is refused; null if it has one or needs none. */
export function missingDigest(decision: Decision, isRequired: boolean): string | null {
  const isRejection = decision.kind === 'step' && decision.verdict === 'reject';
  if (!isRequired || isRejection || reviewedStep(decision) === null || decision.digest !== undefined) return null;
  return 'this migration requires the digest of what was reviewed, but this decision has none; review the migration while a worker is running, and send the decision again';
}

/** Who has approved, proposed or supplied so far. */
export interface EarlierActors extends Pick<MigrationState, 'approvals' | 'suppliers'> {
  readonly proposal: Pick<Proposal, 'by'> | null;
}

/** Returns why someone else must approve under the four-eyes rule; null if this person can. */
export function fourEyesRefusal(
  { step, role, by }: Pick<StepDecision, 'step' | 'role' | 'by'>,
  { approvals, proposal, suppliers }: EarlierActors,
): string | null {
  const isSender = (name: string | null | undefined): boolean => name != null && isSamePerson(name, by);
  const inOtherRole = approvals.find((other) => other.role !== role && isSender(other.by));
  if (inOtherRole) {
    const { step: otherStep, role: otherRole } = inOtherRole;
    return `${by} has already approved ${stepText(otherStep)} as ${otherRole}; someone else must approve as ${role}`;
  }
  if (step === 'schedule' && isSender(proposal?.by)) {
    return `${by} proposed this time; someone else must approve it`;
  }
  if (step === 'supply-details' && suppliers.some(isSender)) {
    return `${by} has supplied or corrected details of this migration; someone else must approve them`;
  }
  return null;
}

/**
 * Returns whether the four-eyes rule excludes every approver of this role. Then a new approver is needed or, in step 2,
 * a proposal of another person.
 */
export function excludesEveryApprover(
  approvers: readonly Pick<Approver, 'role' | 'by'>[],
  { step, role }: Pick<StepDecision, 'step' | 'role'>,
  earlier: EarlierActors,
): boolean {
  const own = approvers.filter((each) => each.role === role);
  return own.length > 0 && own.every(({ by }) => fourEyesRefusal({ step, role, by }, earlier) !== null);
}

/**
 * Returns why a migration with these approvers could not pass its first two steps; null if it could. Under the
 * four-eyes rule, someone other than the supplier must accept the details in step 1, and both roles must approve a time
 * that a third person has proposed in step 2. If no approver is for the client, fewer than three people are enough,
 * because support adds the client's approvers later.
 *
 * @param suppliedBy the person who supplies the manifest; null if that is not known yet
 */
export function approversDeadlock({ fourEyes, approvers }: DecisionRules, suppliedBy: string | null): string | null {
  if (approvers === null) return null;
  if (!approvers.some(({ role }) => role === 'support'))
    return 'at least one approver must be for support, because only such an approver can decide for support or add approvers';
  if (!fourEyes) return null;
  const people = new Set(approvers.map(({ by }) => by.trim().toLowerCase()));
  if (people.size < 3 && approvers.some(({ role }) => role === 'client'))
    return 'under the four-eyes rule, a start time needs three approvers: one proposes it, and one in each role approves it';
  if (suppliedBy === null) return null;
  const accepts = approvers.some(({ role, by }) => role === 'support' && !isSamePerson(by, suppliedBy));
  return accepts
    ? null
    : `under the four-eyes rule, ${suppliedBy} supplies the details and so cannot accept them, and no other approver is for support`;
}

function isSamePerson(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** The parts of the state that people review before they decide. */
export interface ReviewedState extends Pick<MigrationState, 'preflight' | 'proposal' | 'firstCompany' | 'counts'> {
  readonly windows: MigrationLimits['windows'];
  /** Absent if a worker of an earlier version answered the query, because its digests do not include revisions. */
  readonly revisions?: Revisions | null | undefined;
}

/** For each step, a function that returns the part of the state that people review before they decide. */
const REVIEWED: Readonly<Record<Step, (state: ReviewedState) => unknown>> = {
  'supply-details': ({ preflight }) => preflight,
  schedule: ({ proposal, windows }) => ({ proposal, windows }),
  'update-application': ({ preflight }) => preflight?.callbackUrl,
  'disable-syncing': ({ preflight }) => preflight?.manifestDigest,
  'migrate-first-company': ({ firstCompany }) => firstCompany,
  // `exceptionsDigest`, one of the counts, identifies the companies that were not moved. Leaves out `relinked`, because
  // earlier versions do not count it and would compute another digest.
  'complete-migration': ({ counts: { relinked: _, ...counts } }) => counts,
};

/** Returns the digest of the part of the state that people review for a step: 32 hexadecimal digits. */
export function digestOf(step: Step, state: ReviewedState): string {
  const { revisions } = state;
  const about = REVIEWED[step](state) ?? null;
  const content = revisions ? { step, about, revision: revisions[step] ?? null } : { step, about };
  return bytesToHex(sha256(canonicalJson(content))).slice(0, 32);
}
