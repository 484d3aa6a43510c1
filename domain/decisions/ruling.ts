/** Rulings: the results of decisions, and the functions that the rules of all decisions share. */
import type { Companies } from '../migration/decision';
import type { Approval, MigrationState } from '../migration/migration-state';
import { STEP_RULES, stepNumber, type Step } from '../migration/steps';
import { counted } from '../text/sentences';

/**
 * The result of a decision. `state` is the new state, or null if the decision is refused. `text` describes the change
 * or gives the reason for the refusal.
 */
export interface Ruling {
  readonly state: MigrationState | null;
  readonly text: string;
}

export const refused = (text: string): Ruling => ({ state: null, text });
export const applied = (state: MigrationState, text: string): Ruling => ({ state, text });

/** Returns `all companies` or a count such as `3 companies`. */
export function companiesText(companies: Companies): string {
  return companies === 'all' ? 'all companies' : counted(companies.length, 'company');
}

/** Returns the outcome of a confirmation that syncing is off. */
export function confirmedOffText(companies: Companies): string {
  return `confirmed that syncing is off for ${companiesText(companies)}`;
}

interface Approved {
  readonly approvals: readonly Approval[];
}

/** Withdraws the approvals of a step, because the approved facts have changed. */
export function withoutApprovals<State extends Approved>(state: State, step: Step): State {
  return { ...state, approvals: state.approvals.filter((approval) => approval.step !== step) };
}

/** Withdraws the sign-offs, because they were given for a different outcome. */
export function withoutSignOff<State extends Approved>(state: State): State {
  return withoutApprovals(state, 'complete-migration');
}

/**
 * Withdraws the approvals of a step that is open again, and those of later steps. Keeps the approvals of later steps
 * that can be approved early, because they confirm facts that are still true.
 */
export function withoutLaterApprovals<State extends Approved>(state: State, reopened: Step): State {
  const isKept = ({ step }: Approval): boolean =>
    stepNumber(step) < stepNumber(reopened) || (step !== reopened && STEP_RULES[step].approvableEarly === true);
  return { ...state, approvals: state.approvals.filter(isKept) };
}

/** Adds a person who has supplied or corrected details. */
export function withSupplier<State extends { readonly suppliers: readonly string[] }>(state: State, by: string): State {
  return { ...state, suppliers: [...new Set([...state.suppliers, by])] };
}
