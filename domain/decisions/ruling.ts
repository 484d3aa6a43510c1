/** Rulings: the results of decisions, and the functions that the rules of all decisions share. */
import type { Companies } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import type { Step } from '../migration/steps';
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

/** Withdraws the approvals of a step, because the approved facts have changed. */
export function withoutApprovals(state: MigrationState, step: Step): MigrationState {
  return { ...state, approvals: state.approvals.filter((approval) => approval.step !== step) };
}
