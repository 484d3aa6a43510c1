/** The parts of a migration's state that histories of earlier versions do not contain. */
import { patched } from '@temporalio/workflow';
import type { MigrationState } from '../../domain/migration/migration-state';
import { countUndecided } from '../../domain/progress/undecided';

/**
 * Records in the state that the migration waits for decisions while only deferred companies are left, once there are
 * such decisions. The wait starts timers and updates search attributes, which histories of earlier versions do not
 * contain. Queries cannot call `patched`, so they read the state.
 */
export function withPatches(state: MigrationState): MigrationState {
  if (state.asksWhileDeferred || state.closed !== null || countUndecided(state) === 0) return state;
  return patched('ask-while-deferred') ? { ...state, asksWhileDeferred: true } : state;
}

/**
 * Returns the state of a continued run. Drops what the run before recorded, because the history of this run has no
 * marker for it yet: a worker of an earlier version can have begun this run.
 */
export function continuedState({ asksWhileDeferred: _, ...carried }: MigrationState): MigrationState {
  return withPatches(carried);
}
