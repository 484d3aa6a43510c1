import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { NO_COUNTS, type Counts } from '../../../domain/companies/counts';
import type { Decision, Outcome } from '../../../domain/migration/decision';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import { newMigration, type FirstCompany, type MigrationState } from '../../../domain/migration/migration-state';
import type { Preflight } from '../../../domain/migration/preflight-result';
import { DEFAULT_DECISION_RULES, type DecisionRules, type MigrationPlan } from '../../../domain/migration/plan';
import { withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { STEP_RULES, STEPS, stepNumber, type Role, type Step } from '../../../domain/migration/steps';

export const AT = '2026-03-02T09:00:00.000Z';
export const LATER = '2026-03-02T10:00:00.000Z';
export const START_AT = '2026-03-07T20:00:00.000Z';

/** Returns the plan of a managed migration with default limits and rules. */
export const migrationPlan = (changes: Partial<MigrationPlan> = {}): MigrationPlan => ({
  migrationId: 'acme.quickbooks-online',
  route: 'managed',
  client: 'acme',
  platformKey: 'qhyg',
  contact: 'solutions team',
  firstCompany: null,
  limits: DEFAULT_LIMITS,
  decisions: DEFAULT_DECISION_RULES,
  ...changes,
});

/**
 * Returns counts that are zero except for `changes`. Unless `changes` sets `unconfirmedInFirstWave`, all unconfirmed
 * companies are in the first wave.
 */
export const counts = (changes: Partial<Counts>): Counts => ({
  ...NO_COUNTS,
  unconfirmedInFirstWave: changes.unconfirmed ?? 0,
  ...changes,
});

export const firstCompany = (changes: Partial<FirstCompany> = {}): FirstCompany => ({
  row: 1,
  reference: 'acme-1',
  stage: 'verified',
  failure: null,
  evidence: [],
  ...changes,
});

export const preflight = (changes: Partial<Preflight> = {}): Preflight => ({
  companies: 10,
  manifestDigest: 'm-1',
  suppliedBy: 'Mia',
  problems: [],
  problemCodes: [],
  warnings: [],
  heldBack: 0,
  callbackUrl: 'https://service.example/callback',
  ...changes,
});

/** Returns the state of a migration of ten companies at this step, with all earlier steps approved and ended. */
export function stateAt(step: Step, changes: Partial<MigrationState> = {}): MigrationState {
  let state: MigrationState = {
    ...newMigration({ firstCompany: null, limits: DEFAULT_LIMITS }),
    preflight: preflight(),
    counts: counts({ total: 10, waiting: 10, unconfirmed: stepNumber(step) > stepNumber('disable-syncing') ? 0 : 10 }),
  };
  for (const earlier of STEPS.slice(0, stepNumber(step) - 1)) {
    if (earlier === 'schedule') {
      state = { ...state, proposal: { startAt: START_AT, role: 'support', by: 'Sam', at: AT } };
    }
    const approvals = STEP_RULES[earlier].approvers.map((role) => ({ step: earlier, role, by: nameOf(role), at: AT }));
    state = withStepEnded({ ...state, approvals: [...state.approvals, ...approvals] }, earlier, AT);
  }
  return { ...withStepOpened(state, step, AT), ...changes };
}

export const nameOf = (role: Role): string => (role === 'client' ? 'Cleo' : 'Sam');

/** A decision whose id and person are optional, because `decideOne` adds them. */
export type DecisionDraft = Decision extends infer Each
  ? Each extends Decision
    ? Omit<Each, 'decisionId' | 'by'> & { decisionId?: string; by?: string }
    : never
  : never;

export const approve = (step: Step, role: Role): DecisionDraft => ({ kind: 'step', step, verdict: 'approve', role });
export const reject = (
  step: Step,
  role: Role,
  more: Pick<Decision & { kind: 'step' }, 'afterwards'> = {},
): DecisionDraft => ({
  kind: 'step',
  step,
  verdict: 'reject',
  role,
  ...more,
});
export const proposeTime = (role: Role, startAt = START_AT): DecisionDraft => ({ kind: 'time', role, startAt });

let lastId = 0;

/** Applies one decision, and returns the new state and the outcome. */
export function decideOne(
  before: MigrationState,
  draft: DecisionDraft,
  rules?: DecisionRules,
): { state: MigrationState; outcome: Outcome } {
  const decisionId = draft.decisionId ?? `decision-${(lastId += 1)}`;
  const decision: Decision = { by: nameOf(draft.role), ...draft, decisionId };
  const state = decide(before, decision, LATER, rules);
  const outcome = outcomeOf(state, decisionId);
  if (!outcome) throw new Error('the decision has no outcome');
  return { state, outcome };
}

/** Applies decisions in order, and returns the last state. */
export function decideAll(before: MigrationState, ...drafts: readonly DecisionDraft[]): MigrationState {
  return drafts.reduce((state, draft) => decideOne(state, draft).state, before);
}

/** Returns `applied`, or why the decision is refused. A refusal must change nothing but the record of decisions. */
export function answerTo(before: MigrationState, draft: DecisionDraft, rules?: DecisionRules): string {
  const { state, outcome } = decideOne(before, draft, rules);
  if (outcome.applied) return 'applied';
  expect(withoutRecord(state)).toEqual(withoutRecord(before));
  return outcome.text;
}

/** Returns the state without its record of decisions. A refused decision leaves the returned part unchanged. */
export function withoutRecord({
  outcomes: _outcomes,
  unrecorded: _unrecorded,
  revisions: _revisions,
  ...rest
}: MigrationState): object {
  return rest;
}
