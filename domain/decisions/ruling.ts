/** Rulings: the result of a decision, and what the rules of all decisions share. */
import type { Companies } from '../migration/decision';
import type { MigrationState } from '../migration/migration-state';
import type { Step } from '../migration/steps';
import { counted } from '../text/sentences';

/**
 * The state after a decision, or null: the decision is refused. `text` is the change, or the reason for the refusal.
 */
export interface Ruling {
  readonly state: MigrationState | null;
  readonly text: string;
}

export const refused = (text: string): Ruling => ({ state: null, text });
export const applied = (state: MigrationState, text: string): Ruling => ({ state, text });

/** `all companies` or `3 companies`. */
export function companiesText(companies: Companies): string {
  return companies === 'all' ? 'all companies' : counted(companies.length, 'company');
}

/** Withdraws the approvals of a step, because what they approved has changed. */
export function withoutApprovals(state: MigrationState, step: Step): MigrationState {
  return { ...state, approvals: state.approvals.filter((approval) => approval.step !== step) };
}
