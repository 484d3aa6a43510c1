/**
 * Decisions: who may decide what, when, and what a decision changes.
 *
 * Pure: `decide` takes the state and a message and gives the state after it. A refusal is an answer, not an error: it
 * is recorded with its reason and changes nothing else. Each kind has its rule beside its like: `approvals`,
 * `rejections`, `first-company`, `settling`, `details-changed`; what speaks against any of them is in `objections`.
 */
import { approve } from './approvals';
import type { Decision, Outcome, SyncDisabled, Unreadable } from '../migration/decision';
import { applicationSupplied, manifestAmended } from './supplied-details';
import { chooseFirstCompany } from './first-company';
import type { Ruling } from './ruling';
import { applied, howMany, refused } from './ruling';
import type { MigrationState } from '../migration/migration-state';
import { guardRefusal } from './guards';
import type { DecisionRules } from '../migration/plan';
import { DEFAULT_DECISION_RULES } from '../migration/plan';
import { proposeTime, reject } from './rejections';
import { actsAsSupport, noSuchSubject } from './self-service';
import { leaveOut, replaceCredentials, decideExceptions } from './exceptions';
import type { SignedMessage } from '../migration/signatures';
import { signatureObjection, withSigned } from '../migration/signatures';
import type { Role } from '../migration/steps';
import { counted } from '../text/sentences';

/** A migration answers for so many decisions by itself; the audit trail answers for all. */
const OUTCOMES_KEPT = 200;

/** The outcome of a decision that the migration still remembers. */
export function outcomeOf(state: MigrationState, decisionId: string): Outcome | undefined {
  return state.outcomes.find((outcome) => outcome.decisionId === decisionId);
}

/** The outcomes with one more; the oldest are forgotten. */
function withOutcome(outcomes: readonly Outcome[], outcome: Outcome): readonly Outcome[] {
  return [...outcomes.filter(({ decisionId }) => decisionId !== outcome.decisionId), outcome].slice(-OUTCOMES_KEPT);
}

/** A message that could not be read: answered under its own id where it has one that is free, recorded under a fresh one. */
export function refuseUnreadable(
  state: MigrationState,
  unreadable: Unreadable,
  ownId: string | null,
  why: string,
  at: string,
): { readonly state: MigrationState; readonly outcome: Outcome } {
  const recorded: Outcome = { decisionId: unreadable.decisionId, applied: false, text: why, at };
  const earlier = ownId === null ? undefined : outcomeOf(state, ownId);
  const free = ownId !== null && (!earlier || earlier.malformed === true);
  const outcome: Outcome = { ...recorded, ...(free ? { decisionId: ownId } : {}), malformed: true };
  return {
    outcome,
    state: {
      ...state,
      outcomes: withOutcome(state.outcomes, outcome),
      unrecorded: [...state.unrecorded, { decision: unreadable, outcome: recorded }],
    },
  };
}

/** The state after a decision: changed by it, or with its refusal on record. The same decision again changes nothing. */
export function decide(
  state: MigrationState,
  decision: Decision,
  at: string,
  rules: DecisionRules = DEFAULT_DECISION_RULES,
  came: DecisionSource = UNSIGNED,
): MigrationState {
  const earlier = outcomeOf(state, decision.decisionId);
  if (earlier && !earlier.malformed) return state;
  const { approvers } = rules;
  const signed = approvers && came.signed;
  const unproven = approvers && signatureObjection({ ...came, approvers }, signed, state.lastSigned);
  const judged = unproven ? refused(unproven) : judgeWhole(state, decision, at, rules);
  const outcome: Outcome = { decisionId: decision.decisionId, applied: judged.state !== null, text: judged.text, at };
  return {
    ...(judged.state ?? state),
    ...(unproven === null && signed ? { lastSigned: withSigned(state.lastSigned, signed) } : {}),
    outcomes: withOutcome(state.outcomes, outcome),
    unrecorded: [...state.unrecorded, { decision, outcome, ...(signed ? { signed } : {}) }],
  };
}

/** Where a decision came to, and as what. */
export interface DecisionSource {
  readonly migrationId: string;
  /** Null: without a signature. */
  readonly signed: SignedMessage | null;
}

const UNSIGNED: DecisionSource = { migrationId: '', signed: null };

function judgeWhole(state: MigrationState, decision: Decision, at: string, rules: DecisionRules): Ruling {
  const judged = judge(state, decision, at);
  if (judged.state === null) return judged;
  const objection = guardRefusal(decision, state, at, rules);
  return objection === null ? judged : refused(objection);
}

function judge(state: MigrationState, decision: Decision, at: string): Ruling {
  if (state.closed) return refused(`the migration is ${state.closed}`);
  const without = state.route === 'self-service' ? noSuchSubject(decision) : null;
  if (without !== null) return refused(without);
  switch (decision.kind) {
    case 'step':
      return decision.verdict === 'approve' ? approve(state, decision, at) : reject(state, decision);
    case 'time':
      return proposeTime(state, decision, at);
    case 'first-company':
      return chooseFirstCompany(state, decision);
    case 'sync-disabled':
      return confirmSyncDisabled(state, decision);
    case 'credentials-supplied':
      return applied(state, `${counted(decision.companies, 'credential')} supplied`);
    case 'pause':
      if (state.pause) return refused('the migration is paused already');
      return applied(
        { ...state, pause: { reason: decision.reason ?? 'no reason given', by: decision.by, stop: null, at } },
        'paused',
      );
    case 'resume':
      return resume(state, decision.role);
    case 'cancel':
      return applied({ ...state, closed: 'cancelled' }, 'cancelled: no further company is started');
    case 'application-supplied':
      return applicationSupplied(state, decision);
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
    case 'adjust':
      if (!actsAsSupport(state, decision.role)) return refused('the limits are set by support');
      return applied(
        { ...state, limits: { ...state.limits, ...decision.limits } },
        `changed: ${Object.keys(decision.limits).join(', ')}`,
      );
  }
}

function resume(state: MigrationState, role: Role): Ruling {
  if (!state.pause) return refused('the migration is not paused');
  if (state.pause.stop && !actsAsSupport(state, role))
    return refused('what stopped by itself goes on when support says so');
  return applied({ ...state, pause: null }, 'goes on');
}

function confirmSyncDisabled(state: MigrationState, { role, companies }: SyncDisabled): Ruling {
  if (role !== 'client') {
    return refused('only the client can say that its own application no longer uses the tokens');
  }
  return applied(state, `${howMany(companies)} confirmed as disabled`);
}
