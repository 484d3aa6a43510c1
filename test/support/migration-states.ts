import { DEFAULT_LIMITS } from '../../domain/planning/limits';
import type { Counts } from '../../domain/companies/company-state';
import { NO_COUNTS } from '../../domain/companies/company-state';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { decide, outcomeOf } from '../../domain/decisions/decide';
import type { FirstCompany, MigrationState, Preflight } from '../../domain/migration/migration-state';
import { newMigration } from '../../domain/migration/migration-state';
import type { DecisionRules } from '../../domain/migration/plan';
import { withStepEnded, withStepOpened } from '../../domain/decisions/step-transitions';
import type { Role, Step } from '../../domain/migration/steps';
import { STEP_RULES, STEPS, stepNumber } from '../../domain/migration/steps';

export const AT = '2026-03-02T09:00:00.000Z';
export const LATER = '2026-03-02T10:00:00.000Z';
export const START_AT = '2026-03-07T20:00:00.000Z';

/** One wave, unless said otherwise. */
export const counts = (some: Partial<Counts>): Counts => ({
  ...NO_COUNTS,
  unconfirmedInFirstWave: some.unconfirmed ?? 0,
  ...some,
});

export const firstCompany = (some: Partial<FirstCompany> = {}): FirstCompany => ({
  row: 1,
  reference: 'acme-1',
  stage: 'proven',
  failure: null,
  evidence: [],
  ...some,
});

export const preflight = (some: Partial<Preflight> = {}): Preflight => ({
  companies: 10,
  manifestDigest: 'm-1',
  suppliedBy: 'Mia',
  problems: [],
  problemCodes: [],
  warnings: [],
  heldBack: 0,
  callbackUrl: 'https://service.example/callback',
  ...some,
});

/** A migration of ten companies that has come to this step, every step before it ended as it should. */
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

/** A decision before it has a name: `deciding` gives it one. */
export type Undecided = Decision extends infer Each
  ? Each extends Decision
    ? Omit<Each, 'decisionId' | 'by'> & { decisionId?: string; by?: string }
    : never
  : never;

export const approve = (step: Step, role: Role): Undecided => ({ kind: 'step', step, verdict: 'approve', role });
export const reject = (
  step: Step,
  role: Role,
  more: Pick<Decision & { kind: 'step' }, 'afterwards'> = {},
): Undecided => ({
  kind: 'step',
  step,
  verdict: 'reject',
  role,
  ...more,
});
export const proposeTime = (role: Role, startAt = START_AT): Undecided => ({ kind: 'time', role, startAt });

let named = 0;

/** What a decision changes, and what is answered. */
export function deciding(
  before: MigrationState,
  undecided: Undecided,
  rules?: DecisionRules,
): { state: MigrationState; outcome: Outcome } {
  const decisionId = undecided.decisionId ?? `decision-${(named += 1)}`;
  const decision: Decision = { by: nameOf(undecided.role), ...undecided, decisionId };
  const state = decide(before, decision, LATER, rules);
  const outcome = outcomeOf(state, decisionId);
  if (!outcome) throw new Error('every decision has an outcome');
  return { state, outcome };
}

/** The state after several decisions. */
export function decided(before: MigrationState, ...undecided: readonly Undecided[]): MigrationState {
  return undecided.reduce((state, each) => deciding(state, each).state, before);
}

/** A state without the record of decisions: what a refusal leaves as it was. */
export function substance({ outcomes: _outcomes, unrecorded: _unrecorded, ...rest }: MigrationState): object {
  return rest;
}
