/** Conditions on a migration's state that several steps wait for. */
import { isStepComplete } from '../../domain/decisions/step-transitions';
import { isPaused } from '../../domain/migration/pauses';
import type { Step } from '../../domain/migration/steps';
import type { MigrationState } from '../../domain/migration/migration-state';

/** Returns whether every decision has reached the ledger. */
export function isRecorded({ unrecorded }: MigrationState): boolean {
  return unrecorded.length === 0;
}

/** Returns whether a recorded decision, or the last step, has closed the migration. */
export function isClosed(state: MigrationState): boolean {
  return state.closed !== null && isRecorded(state);
}

/** Returns whether a step can end. All decisions must be recorded, because the ledger can refuse a decision. */
export function mayEndStep(state: MigrationState, step: Step): boolean {
  return isRecorded(state) && isStepComplete(state, step);
}

/**
 * Returns whether companies may be moved. All decisions must have reached the ledger, because after a pause the ledger
 * refuses every claim until it has recorded the resume.
 */
export function mayMove(state: MigrationState): boolean {
  return !isPaused(state) && isRecorded(state);
}

/**
 * Returns a predicate that tells whether something has changed since this call: a decision has reached the ledger, a
 * window has opened, end customers have reconnected, or a wake signal has arrived. The predicate is false while a
 * decision is unrecorded. Call this function before reading the ledger, so that no change is missed.
 */
export function changedSince(before: MigrationState): (state: MigrationState) => boolean {
  const { outcomes, openedWindow, wakes, unrecorded } = before;
  return (state) =>
    isRecorded(state) &&
    (unrecorded.length > 0 ||
      state.outcomes !== outcomes ||
      state.openedWindow !== openedWindow ||
      state.wakes !== wakes);
}
