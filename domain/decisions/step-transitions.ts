/** Step transitions: when a step is complete, and how the migration enters the next one. */
import { countOpen } from '../companies/counts';
import { missingApprovals } from './approvals';
import type { MigrationState } from '../migration/migration-state';
import { isSelfServiceStepComplete } from './self-service';
import { stepsOf, type Step } from '../migration/steps';

/** Returns whether a step's end conditions are met. */
export function isStepComplete(state: MigrationState, step: Step): boolean {
  if (state.route === 'self-service') return step === state.step && isSelfServiceStepComplete(state);
  if (step === 'disable-syncing') return state.counts.total > 0 && state.counts.unconfirmedInFirstWave === 0;
  // After the first sign-off, a company is open again if its end customer reconnects.
  if (step === 'complete-migration' && countOpen(state.counts) > 0) return false;
  return missingApprovals(state, step).length === 0;
}

export function withStepOpened(state: MigrationState, step: Step, at: string): MigrationState {
  if (state.steps[step]?.openedAt) return state;
  return { ...state, steps: { ...state.steps, [step]: { openedAt: at, endedAt: null } } };
}

/** Ends a step and enters the next step. The last step completes the migration. A closed migration does not change. */
export function withStepEnded(state: MigrationState, step: Step, at: string): MigrationState {
  if (state.closed) return state;
  const steps = { ...state.steps, [step]: { openedAt: state.steps[step]?.openedAt ?? at, endedAt: at } };
  const routeSteps = stepsOf(state.route);
  const next = routeSteps[routeSteps.indexOf(step) + 1];
  const reopened = state.reopened?.step === step ? null : (state.reopened ?? null);
  return next ? { ...state, reopened, steps, step: next } : { ...state, reopened: null, steps, closed: 'completed' };
}
