/**
 * Decisions: who may decide what, when, and what a decision changes.
 *
 * Pure: `decide` takes the state and a message and gives the state after it. A refusal is an answer, not an error: it
 * is recorded with its reason and changes nothing else.
 */
import { anythingCrossed, movableCompanies, openCompanies } from './company-state';
import type {
  Companies,
  CredentialsReplaced,
  Decision,
  FirstCompanyChosen,
  LeftOut,
  Outcome,
  StepDecision,
  SyncDisabled,
  TimeProposal,
  TriedAgain,
  Unreadable,
} from './decision';
import type { Approval, MigrationState } from './migration-state';
import { moment } from './moment';
import { objectionTo } from './objections';
import type { DecisionRules } from './plan';
import { DEFAULT_DECISION_RULES } from './plan';
import type { Role, Step } from './steps';
import { STEP_RULES, stepNumber } from './steps';

/** A migration answers for so many decisions by itself; the audit trail answers for all. */
const OUTCOMES_KEPT = 200;

/** A start that a person typed as now, or a message that was long under way, is not in the past. */
const STILL_NOW_MS = 15 * 60_000;

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
): MigrationState {
  const earlier = outcomeOf(state, decision.decisionId);
  if (earlier && !earlier.malformed) return state;
  const judged = judgeWhole(state, decision, at, rules);
  const outcome: Outcome = { decisionId: decision.decisionId, applied: judged.state !== null, text: judged.text, at };
  return {
    ...(judged.state ?? state),
    outcomes: withOutcome(state.outcomes, outcome),
    unrecorded: [...state.unrecorded, { decision, outcome }],
  };
}

/** The state after it, and what was changed; no state: refused, and why. */
interface Judged {
  readonly state: MigrationState | null;
  readonly text: string;
}

const refused = (text: string): Judged => ({ state: null, text });
const applied = (state: MigrationState, text: string): Judged => ({ state, text });

function judgeWhole(state: MigrationState, decision: Decision, at: string, rules: DecisionRules): Judged {
  const judged = judge(state, decision, at);
  if (judged.state === null) return judged;
  const objection = objectionTo(decision, state, at, rules);
  return objection === null ? judged : refused(objection);
}

function judge(state: MigrationState, decision: Decision, at: string): Judged {
  if (state.closed) return refused(`the migration is ${state.closed}`);
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
      return applied(state, `${decision.companies} credentials supplied`);
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
      return detailsChanged(state, decision.by, `the application is ${decision.clientId} (${decision.environment})`);
    case 'manifest-amended':
      return detailsChanged(state, decision.by, `${decision.added} companies added, ${decision.corrected} corrected`);
    case 'exclude':
      return applied(
        state.step === 'supply-details' ? toBeChecked(state) : state,
        `${counted(decision.companies)} left out: ${decision.reason}`,
      );
    case 'skip':
    case 'retry':
    case 'relink':
      return settleExceptions(state, decision);
    case 'replace-credential':
      return replaceCredentials(state, decision);
    case 'adjust':
      if (decision.role !== 'support') return refused('the limits are set by support');
      return applied(
        { ...state, limits: { ...state.limits, ...decision.limits } },
        `changed: ${Object.keys(decision.limits).join(', ')}`,
      );
  }
}

function resume(state: MigrationState, role: Role): Judged {
  if (!state.pause) return refused('the migration is not paused');
  if (state.pause.stop && role !== 'support') return refused('what stopped by itself goes on when support says so');
  return applied({ ...state, pause: null }, 'goes on');
}

function detailsChanged(state: MigrationState, by: string, text: string): Judged {
  return applied({ ...toBeChecked(state), suppliers: [...new Set([...state.suppliers, by])] }, text);
}

/** What is new is checked, and whoever has accepted or signed off what was there before does so again. */
function toBeChecked(state: MigrationState): MigrationState {
  const accepting = state.step === 'supply-details';
  return {
    ...state,
    changes: state.changes + 1,
    approvals: without(state.approvals, accepting ? 'supply-details' : 'complete-migration'),
    ...(accepting ? { preflight: null } : {}),
  };
}

/** While the rest is on its way, some may have failed since they were counted: then the ledger knows. */
function nothingFailed({ step, counts }: MigrationState): boolean {
  const countsAreOld = step === 'complete-migration' && movableCompanies(counts) > 0;
  return counts.failed + counts.outcomeUnknown === 0 && !countsAreOld;
}

function settleExceptions(state: MigrationState, decision: LeftOut | TriedAgain): Judged {
  if (decision.role !== 'support')
    return refused('what becomes of companies that were not moved is settled by support');
  const firstAgain = decision.kind === 'retry' ? withFirstAgain(state, decision.companies) : null;
  if (firstAgain) return applied(firstAgain, `${counted(decision.companies)} tried again`);
  if (state.step !== 'complete-migration') {
    return refused('exceptions are settled while the remaining companies are moved');
  }
  if (nothingFailed(state)) return refused('no company is left that was not moved');
  const companies = counted(decision.companies);
  switch (decision.kind) {
    case 'retry':
      return applied(state, `${companies} tried again`);
    case 'relink':
      return applied(
        { ...state, relinking: state.relinking + 1 },
        `${companies} checked again as soon as the end customer has connected`,
      );
    case 'exclude':
    case 'skip':
      return applied(state, `${companies} given up: ${decision.reason}`);
  }
}

function replaceCredentials(state: MigrationState, { role, companies }: CredentialsReplaced): Judged {
  if (role !== 'support') return refused('that a credential is replaced is decided by support');
  if (nothingFailed(state)) return refused('no company is left that was not moved');
  const text = `${counted(companies)} moved again with a new credential`;
  return applied(withFirstAgain(state, companies) ?? state, text);
}

function counted(companies: Companies): string {
  if (companies === 'all') return 'all companies';
  return companies.length === 1 ? '1 company' : `${companies.length} companies`;
}

function approve(state: MigrationState, decision: StepDecision, at: string): Judged {
  const { step, role } = decision;
  const rules = STEP_RULES[step];
  if (step === 'disable-syncing') return refused('this step ends when every company is confirmed, not by an approval');
  if (!rules.approvers.includes(role)) {
    return refused(`${step} is approved by ${rules.approvers.join(' and ')}, not by ${role}`);
  }
  if (state.steps[step]?.endedAt) return refused(`${step} has ended already`);
  if (stepNumber(step) > stepNumber(state.step) && !rules.mayComeEarly) {
    return refused(`${step} is not open yet: the migration is at step ${stepNumber(state.step)}, ${state.step}`);
  }
  const missing = missingSubject(state, step);
  if (missing) return refused(missing);
  const earlier = state.approvals.find((approval) => approval.step === step && approval.role === role);
  if (earlier) return refused(`${role} has approved ${step} already, by ${earlier.by}`);
  const approval: Approval = { step, role, by: decision.by, at };
  return applied({ ...state, approvals: [...state.approvals, approval] }, `${step} approved by ${role}`);
}

/** Why there is nothing yet to approve, or null. */
function missingSubject(state: MigrationState, step: Step): string | null {
  switch (step) {
    case 'supply-details':
      if (!state.preflight) return 'the details are still being checked';
      if (state.preflight.problems.length > 0) {
        return `the check of the details found ${state.preflight.problems.length} problems: ${state.preflight.problems.join('; ')}`;
      }
      return null;
    case 'schedule':
      return state.proposal ? null : 'no time has been proposed yet';
    case 'migrate-first-company':
      return state.firstCompany?.stage === 'proven' ? null : 'no first company has been moved and proven yet';
    case 'complete-migration': {
      const open = openCompanies(state.counts);
      return open === 0 ? null : `${open === 1 ? '1 company is' : `${open} companies are`} still open`;
    }
    case 'update-application':
    case 'disable-syncing':
      return null;
  }
}

function reject(state: MigrationState, decision: StepDecision): Judged {
  const { step, role } = decision;
  const rules = STEP_RULES[step];
  if (stepNumber(step) > stepNumber(state.step)) return refused(`${step} is not open yet`);
  if (![...rules.approvers, ...rules.actors].includes(role)) return refused(`${role} has no say in ${step}`);
  switch (step) {
    case 'migrate-first-company':
      return rejectFirstCompany(state, decision);
    case 'complete-migration':
      return applied({ ...state, approvals: without(state.approvals, step) }, 'the handover is not accepted');
    case 'supply-details':
    case 'schedule':
    case 'update-application':
    case 'disable-syncing':
      if (hasCrossed(state)) return refused('a company is being moved already: this cannot be taken back');
      return applied(reopened(state, step), `${step} is open again`);
  }
}

function rejectFirstCompany(state: MigrationState, decision: StepDecision): Judged {
  const { firstCompany } = state;
  if (!firstCompany || firstCompany.stage === 'importing') return refused('there is no result of a first company yet');
  if (state.steps['migrate-first-company']?.endedAt) return refused('migrate-first-company has ended already');
  const { afterwards } = decision;
  switch (afterwards?.next) {
    case undefined:
      return refused('a rejection says what is next: same-company, another-company or abandon');
    case 'abandon':
      return applied({ ...state, closed: 'abandoned' }, 'the migration is abandoned');
    case 'same-company':
      return applied(withFirst(state, firstCompany.reference), `${firstCompany.reference} again`);
    case 'another-company':
      return applied(withFirst(state, afterwards.reference), `${afterwards.reference} goes first`);
  }
}

/** Before a company is moved it is chosen freely; afterwards a choice of another is a rejection of that one. */
function chooseFirstCompany(state: MigrationState, { role, reference }: FirstCompanyChosen): Judged {
  if (role !== 'support') return refused('which company goes first is chosen by support');
  if (state.steps['migrate-first-company']?.endedAt) return refused('migrate-first-company has ended already');
  const { firstCompany } = state;
  if (firstCompany?.stage === 'importing') return refused(`${firstCompany.reference} is being moved already`);
  const instead = firstCompany ? ` after ${firstCompany.reference}, which was ${firstCompany.stage}` : '';
  return applied(withFirst(state, reference), `${reference} goes first${instead}`);
}

/** In step 5 a company that is tried again is the first one; null: it is not, or another step is open. */
function withFirstAgain(state: MigrationState, companies: Companies): MigrationState | null {
  const { step, firstCompany } = state;
  if (step !== 'migrate-first-company' || firstCompany?.stage !== 'failed') return null;
  const { reference } = firstCompany;
  return companies === 'all' || companies.includes(reference) ? withFirst(state, reference) : null;
}

function withFirst(state: MigrationState, reference: string): MigrationState {
  return { ...state, firstCompany: null, wantedFirst: { reference, heldUp: false } };
}

function proposeTime(state: MigrationState, decision: TimeProposal, at: string): Judged {
  if (Date.parse(decision.startAt) < Date.parse(at) - STILL_NOW_MS) {
    return refused(`${moment(decision.startAt)} has passed; to start at once, propose now`);
  }
  if (hasCrossed(state)) return refused('companies are being moved already');
  const proposal = { startAt: decision.startAt, role: decision.role, by: decision.by, at };
  const open = stepNumber(state.step) > stepNumber('schedule') ? reopened(state, 'schedule') : state;
  const limits = decision.windows ? { ...open.limits, windows: decision.windows } : open.limits;
  // Whoever approved the older proposal approved another time.
  return applied(
    { ...open, limits, proposal, approvals: without(open.approvals, 'schedule') },
    `start proposed for ${moment(decision.startAt)}`,
  );
}

function confirmSyncDisabled(state: MigrationState, decision: SyncDisabled): Judged {
  if (decision.role !== 'client') {
    return refused('only the client can say that its own application no longer uses the tokens');
  }
  return applied(state, `${counted(decision.companies)} confirmed as disabled`);
}

/** Counts follow the ledger a little later, so that the first company may be crossing while they do not show it. */
function hasCrossed({ counts, firstCompany }: MigrationState): boolean {
  return firstCompany !== null || anythingCrossed(counts);
}

/** The step open again: it and every later one lose their approvals, except facts stated early. */
function reopened(state: MigrationState, step: Step): MigrationState {
  const later = (other: Step): boolean => stepNumber(other) >= stepNumber(step);
  const openedAt = state.steps[step]?.openedAt ?? null;
  return {
    ...state,
    step,
    steps: {
      ...Object.fromEntries(Object.entries(state.steps).filter(([name]) => !later(name as Step))),
      [step]: { openedAt, endedAt: null },
    },
    approvals: state.approvals.filter((approval) => !later(approval.step) || keepsFact(approval.step, step)),
    ...(step === 'schedule' ? { proposal: null } : {}),
    ...(step === 'supply-details' ? { preflight: null } : {}),
  };
}

function keepsFact(approved: Step, opened: Step): boolean {
  return approved !== opened && STEP_RULES[approved].mayComeEarly;
}

function without(approvals: readonly Approval[], step: Step): readonly Approval[] {
  return approvals.filter((approval) => approval.step !== step);
}

/** The roles whose approval a step still lacks. */
export function missingApprovals(state: MigrationState, step: Step): readonly Role[] {
  return STEP_RULES[step].approvers.filter(
    (role) => !state.approvals.some((approval) => approval.step === step && approval.role === role),
  );
}
