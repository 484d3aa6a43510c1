/** What speaks against a decision that could be applied otherwise: it is too late, out of date, or four eyes are asked for. */
import type { Decision, StepDecision } from '../migration/decision';
import { digestOf } from './digests';
import type { MigrationState } from '../migration/migration-state';
import { moment } from '../text/moments';
import type { DecisionRules } from '../migration/plan';
import type { Step } from '../migration/steps';

/** Why a decision is refused all the same, or null. */
export function guardRefusal(
  decision: Decision,
  state: MigrationState,
  at: string,
  { digestObligatory, fourEyes }: DecisionRules,
): string | null {
  if (decision.validUntil !== undefined && at > decision.validUntil) {
    return `it was valid until ${moment(decision.validUntil)} and could not be applied before`;
  }
  const step = subjectOf(decision);
  if (step !== null) {
    const objection = outOfDate(decision, step, state, digestObligatory);
    if (objection !== null) return objection;
  }
  return fourEyes && decision.kind === 'step' && decision.verdict === 'approve' ? sameEyes(decision, state) : null;
}

/** The step whose subject a decision is about; null: the decision says itself what it is about. */
function subjectOf(decision: Decision): Step | null {
  if (decision.kind === 'step') return decision.step;
  return decision.kind === 'sync-disabled' && decision.companies === 'all' ? 'disable-syncing' : null;
}

function outOfDate(decision: Decision, step: Step, state: MigrationState, obligatory: boolean): string | null {
  if (decision.digest === undefined) {
    const needsOne = obligatory && !(decision.kind === 'step' && decision.verdict === 'reject');
    return needsOne ? 'in this migration an approval carries the digest of what was seen, and this one has none' : null;
  }
  if (decision.digest === digestOf(step, { ...state, windows: state.limits.windows })) return null;
  return 'what it is about has changed since it was seen: look again, and decide anew';
}

function sameEyes({ step, role, by }: StepDecision, { approvals, proposal, preflight, suppliers }: MigrationState) {
  const isSender = (name: string | null | undefined): boolean => name != null && samePerson(name, by);
  const inOtherRole = approvals.find((other) => other.role !== role && isSender(other.by));
  if (inOtherRole) {
    return `${by} has approved ${inOtherRole.step} in the other role already, as ${inOtherRole.role}: four eyes are asked for`;
  }
  if (step === 'schedule' && isSender(proposal?.by)) {
    return `${by} has proposed this time: somebody else approves it`;
  }
  if (step === 'supply-details' && [preflight?.suppliedBy, ...suppliers].some(isSender)) {
    return `${by} has supplied these details: somebody else approves them`;
  }
  return null;
}

function samePerson(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
