/** How a migration goes from step to step. Pure: times are given. */
import { openCompanies } from '../companies/company-state';
import { missingApprovals } from './approvals';
import type { MigrationState } from '../migration/migration-state';
import { isSelfServiceStepComplete } from './self-service';
import type { Step } from '../migration/steps';
import { stepsOf } from '../migration/steps';

/** Whether everything that ends a step is there. */
export function isStepComplete(state: MigrationState, step: Step): boolean {
  if (state.route === 'self-service') return step === state.step && isSelfServiceStepComplete(state);
  if (step === 'disable-syncing') return state.counts.total > 0 && state.counts.unconfirmedInFirstWave === 0;
  // A company may be opened again between two signatures.
  if (step === 'complete-migration' && openCompanies(state.counts) > 0) return false;
  return missingApprovals(state, step).length === 0;
}

export function withStepOpened(state: MigrationState, step: Step, at: string): MigrationState {
  if (state.steps[step]?.openedAt) return state;
  return { ...state, steps: { ...state.steps, [step]: { openedAt: at, endedAt: null } } };
}

/** The step ended and the next one current; the last one ends the migration. One that has ended otherwise stays so. */
export function withStepEnded(state: MigrationState, step: Step, at: string): MigrationState {
  if (state.closed) return state;
  const steps = { ...state.steps, [step]: { openedAt: state.steps[step]?.openedAt ?? at, endedAt: at } };
  const ofRoute = stepsOf(state.route);
  const next = ofRoute[ofRoute.indexOf(step) + 1];
  return next ? { ...state, steps, step: next } : { ...state, steps, closed: 'completed' };
}
