/**
 * Decisions: who can decide what and when, and what a decision changes.
 *
 * `decide` is pure: it returns the state after a decision. A refusal is not an error: it is recorded with its reason.
 * Apart from this record, a refused decision changes only the time of its signer's latest signature. The preconditions
 * that the ledger also checks are in `preconditions`. The effects of the more complex kinds of decision are in
 * `approvals`, `rejections`, `first-company`, `exceptions`, `supplied-details`, `pauses` and `approver-changes`.
 * `guards` contains the digest check and the four-eyes rule.
 */
import { withoutEnds } from '../planning/estimate';
import { changedLimitsText } from '../planning/limit-texts';
import { signingRules } from '../migration/approvers';
import type { Decision, Outcome, Unreadable } from '../migration/decision';
import type { MigrationState, UnrecordedDecision } from '../migration/migration-state';
import { DEFAULT_DECISION_RULES, type DecisionRules } from '../migration/plan';
import {
  recordedSignature,
  signatureRefusal,
  signingOf,
  withLastSigned,
  type SignedMessage,
} from '../migration/signatures';
import { counted } from '../text/sentences';
import { approve } from './approvals';
import { approverRefusal, changeApprovers } from './approver-changes';
import { decideExceptions, leaveOut, replaceCredentials } from './exceptions';
import { chooseFirstCompany } from './first-company';
import { guardRefusal } from './guards';
import { withNextWindow } from './next-window';
import { pause, resume } from './pauses';
import { factsOfState, preconditionRefusal } from './preconditions';
import { endedBy, proposeTime, reject } from './rejections';
import { withRevisions } from './revisions';
import { applied, confirmedOffText, refused, type Ruling } from './ruling';
import { applicationSupplied, manifestAmended, manifestSupplied } from './supplied-details';
import { withWithdrawals } from './withdrawals';

/** The number of outcomes that the state keeps. The audit trail keeps all of them. */
const OUTCOMES_KEPT = 200;

/** Returns the outcome of a decision; undefined if the decision is unknown or its outcome is no longer kept. */
export function outcomeOf(state: MigrationState, decisionId: string): Outcome | undefined {
  return state.outcomes.find((outcome) => outcome.decisionId === decisionId);
}

function withOutcome(outcomes: readonly Outcome[], outcome: Outcome): readonly Outcome[] {
  return [...outcomes.filter(({ decisionId }) => decisionId !== outcome.decisionId), outcome].slice(-OUTCOMES_KEPT);
}

/**
 * Refuses a message that could not be parsed.
 *
 * @param unreadable the record for the audit trail, with a new id
 * @param ownId the id in the message, with which the sender queries the outcome; null if it has none
 */
export function refuseUnreadable(
  state: MigrationState,
  unreadable: Unreadable,
  ownId: string | null,
  why: string,
  at: string,
): { readonly state: MigrationState; readonly outcome: Outcome } {
  const recorded: Outcome = { decisionId: unreadable.decisionId, applied: false, text: why, at };
  const earlier = ownId === null ? undefined : outcomeOf(state, ownId);
  // An unreadable message must not replace the outcome of a decision with the same id.
  const isFree = ownId !== null && (!earlier || earlier.malformed === true);
  const outcome: Outcome = { ...recorded, ...(isFree ? { decisionId: ownId } : {}), malformed: true };
  return {
    outcome,
    state: {
      ...state,
      outcomes: withOutcome(state.outcomes, outcome),
      unrecorded: [...state.unrecorded, { decision: unreadable, outcome: recorded }],
    },
  };
}

/** The migration that received a decision, and the signed message. */
export interface DecisionSource {
  readonly migrationId: string;
  /** Null if the decision was not signed. */
  readonly signed: SignedMessage | null;
}

const UNSIGNED: DecisionSource = { migrationId: '', signed: null };

/**
 * Returns the state after a decision, with the outcome recorded. A decision whose id already has an outcome changes
 * nothing, unless the earlier message could not be parsed.
 */
export function decide(
  state: MigrationState,
  decision: Decision,
  at: string,
  rules: DecisionRules = DEFAULT_DECISION_RULES,
  source: DecisionSource = UNSIGNED,
): MigrationState {
  const earlier = outcomeOf(state, decision.decisionId);
  if (earlier && !earlier.malformed) return state;
  const signing = signingOf(source.migrationId, rules.approvers, state.approverChanges ?? null);
  const signed = recordedSignature(signing, decision.role, source.signed);
  const badSignature = signatureRefusal(signing, decision.role, signed, state.lastSigned);
  const ruling = badSignature ? refused(badSignature) : ruleWithGuards(state, decision, at, rules);
  const outcome: Outcome = { decisionId: decision.decisionId, applied: ruling.state !== null, text: ruling.text, at };
  return {
    ...(ruling.state ?? state),
    ...(badSignature === null && signed ? { lastSigned: withLastSigned(state.lastSigned, signed) } : {}),
    outcomes: withOutcome(state.outcomes, outcome),
    unrecorded: [
      ...state.unrecorded,
      {
        decision,
        outcome,
        ...(signed ? { signed } : {}),
        ...(ruling.state ? { undo: changedFields(state, ruling.state) } : {}),
      },
    ],
  };
}

/** Returns the earlier values of changed fields. Absent fields are null, because JSON omits undefined. */
function changedFields(before: MigrationState, after: MigrationState): Partial<MigrationState> {
  const fields = Object.keys(after) as (keyof MigrationState)[];
  return Object.fromEntries(
    fields.filter((field) => before[field] !== after[field]).map((field) => [field, before[field] ?? null]),
  );
}

/**
 * Adopts the ledger's outcomes of the oldest unrecorded decisions. They usually equal the workflow's own outcomes, but
 * the ledger can refuse a decision that the workflow has applied, for example because the workflow was started with
 * other approvers than the ledger has. Such a decision is undone, and the decisions after it are applied again.
 *
 * @param outcomes one outcome for each of the oldest unrecorded decisions, in their order
 */
export function withLedgerOutcomes(
  state: MigrationState,
  outcomes: readonly Outcome[],
  rules: DecisionRules,
): MigrationState {
  const recorded = state.unrecorded.slice(0, outcomes.length);
  const kept: MigrationState = {
    ...state,
    outcomes: state.outcomes.map((known) => ledgerOutcome(known, outcomes)),
    unrecorded: state.unrecorded.slice(outcomes.length),
  };
  const refusedAt = recorded.findIndex(({ outcome }, index) => outcome.applied && outcomes[index]?.applied === false);
  if (refusedAt < 0) return kept;
  const undone = state.unrecorded.slice(refusedAt).reduceRight((after, { undo }) => ({ ...after, ...undo }), kept);
  const stillApplied = recorded.filter((_, index) => index > refusedAt && outcomes[index]?.applied === true);
  const reapplied = stillApplied.reduce((before, { decision, outcome }) => {
    if (decision.kind === 'unreadable') return before;
    return ruleWithGuards(before, decision, outcome.at, rules).state ?? before;
  }, undone);
  const before = recorded.some(refusesFirstCompany(outcomes)) ? withFirstCompanyRechecked(reapplied) : reapplied;
  return kept.unrecorded.reduce(reapplyUnrecorded(rules), { ...before, unrecorded: [] });
}

/** Returns a predicate: the workflow, but not the ledger, has applied the approval of the first company. */
function refusesFirstCompany(outcomes: readonly Outcome[]) {
  return ({ decision, outcome }: UnrecordedDecision, index: number): boolean =>
    decision.kind === 'step' &&
    decision.step === 'migrate-first-company' &&
    decision.verdict === 'approve' &&
    outcome.applied &&
    outcomes[index]?.applied === false;
}

/**
 * Lets step 5 check the first company again. The ledger might have refused the approval because the company was not
 * moved. The result of the check in the workflow is then wrong, for example forged.
 */
function withFirstCompanyRechecked(state: MigrationState): MigrationState {
  const { firstCompany } = state;
  return firstCompany === null
    ? state
    : { ...state, firstCompany: { ...firstCompany, stage: 'importing', failure: null, evidence: [] } };
}

/**
 * Returns the ledger's outcome with the same id; if there is none, `known`. A malformed message that has its own id
 * keeps the workflow's outcome, because its record in the ledger has another id.
 */
function ledgerOutcome(known: Outcome, outcomes: readonly Outcome[]): Outcome {
  return outcomes.find(({ decisionId }) => decisionId === known.decisionId) ?? known;
}

function reapplyUnrecorded(rules: DecisionRules) {
  return (before: MigrationState, record: UnrecordedDecision): MigrationState => {
    const { decision, outcome } = record;
    if (!outcome.applied || decision.kind === 'unreadable')
      return { ...before, unrecorded: [...before.unrecorded, record] };
    const ruling = ruleWithGuards(before, decision, outcome.at, rules);
    const renewed: Outcome = { ...outcome, applied: ruling.state !== null, text: ruling.text };
    return {
      ...(ruling.state ?? before),
      outcomes: before.outcomes.map((known) => ledgerOutcome(known, [renewed])),
      unrecorded: [
        ...before.unrecorded,
        { ...record, outcome: renewed, undo: ruling.state ? changedFields(before, ruling.state) : {} },
      ],
    };
  };
}

function ruleWithGuards(state: MigrationState, decision: Decision, at: string, rules: DecisionRules): Ruling {
  // Adds the next window last. The reason of a withdrawal must not mention it, because the state keeps that reason
  // after the window has opened.
  const ruling = withNextWindow(withWithdrawals(state, rule(state, decision, at, rules), decision, at), decision, at);
  if (ruling.state === null) return ruling;
  const refusal =
    approverRefusal(decision, signingRules(rules.approvers, state.approverChanges)) ??
    guardRefusal(decision, state, rules);
  return refusal === null ? { ...ruling, state: withRevisions(state, ruling.state, decision) } : refused(refusal);
}

function rule(state: MigrationState, decision: Decision, at: string, { approvers }: DecisionRules): Ruling {
  const refusal = preconditionRefusal(decision, factsOfState(state), at);
  if (refusal !== null) return refused(refusal);
  switch (decision.kind) {
    case 'step':
      return decision.verdict === 'approve' ? approve(state, decision, at) : reject(state, decision, at);
    case 'time':
      return proposeTime(state, decision, at);
    case 'first-company':
      return chooseFirstCompany(state, decision);
    case 'sync-disabled':
      return applied(state, confirmedOffText(decision.companies));
    case 'credentials-supplied':
      return applied(state, `${counted(decision.companies, 'credential')} supplied`);
    case 'pause':
      return pause(state, decision, at);
    case 'resume':
      return resume(state, decision);
    case 'cancel':
      return applied(
        { ...state, closed: 'cancelled', reopened: null, endedBy: endedBy(decision, at) },
        'cancelled: no more moves will begin',
      );
    case 'application-supplied':
      return applicationSupplied(state, decision);
    case 'manifest-supplied':
      return manifestSupplied(state, decision);
    case 'manifest-amended':
      return manifestAmended(state, decision);
    case 'exclude':
      return leaveOut(state, decision);
    case 'skip':
    case 'retry':
    case 'relink':
      return decideExceptions(state, decision);
    case 'replace-credential':
      return replaceCredentials(state, decision);
    case 'add-approver':
    case 'remove-approver':
      return changeApprovers(state, decision, approvers, at);
    case 'adjust':
      return applied(
        { ...state, limits: { ...state.limits, ...decision.limits }, estimate: withoutEnds(state.estimate) },
        changedLimitsText(state.limits, decision.limits, state.route),
      );
  }
}
