/** The parts of a migration's state that histories of earlier versions do not contain. */
import { patched } from '@temporalio/workflow';
import { automaticPause } from '../../domain/migration/pauses';
import type { MigrationState } from '../../domain/migration/migration-state';
import { countUndecided } from '../../domain/progress/undecided';
import { isRecordingDecisions, waitingForOf } from '../../domain/progress/waiting-for';

/** Records in the state which changes of this version apply. Histories of earlier versions do not contain them. */
export function withPatches(state: MigrationState): MigrationState {
  return state.closed === null ? keepingWait(replacingRejected(askingWhileDeferred(countingRelinked(state)))) : state;
}

/**
 * Sets `countsRelinked` once the count of relinked companies changes what people are asked to do. The presence of the
 * count is not enough: a worker of this version can have counted the companies while a worker of an earlier version,
 * which does not use the count, ran the workflow.
 */
function countingRelinked(state: MigrationState): MigrationState {
  if (state.countsRelinked || state.counts.relinked === undefined) return state;
  const asked = (each: MigrationState): string => waitingForOf({ ...each, asksWhileDeferred: true }).what;
  const counting = { ...state, countsRelinked: true } as const;
  return asked(counting) !== asked(state) && patched('count-relinked') ? counting : state;
}

/**
 * Sets `asksWhileDeferred` once people can decide about companies while only deferred companies are left to move. The
 * migration then waits for these decisions. The wait starts timers and updates search attributes, which histories of
 * earlier versions do not contain. Queries cannot call `patched`, so they read the state.
 */
function askingWhileDeferred(state: MigrationState): MigrationState {
  if (state.asksWhileDeferred || countUndecided(state) === 0) return state;
  return patched('ask-while-deferred') ? { ...state, asksWhileDeferred: true } : state;
}

/**
 * Sets `replacesRejected` once the platform has rejected the application of the first company. The migration then
 * accepts a corrected application, which earlier versions refused, and checks the details again. In step 6, every
 * version accepts another application.
 */
function replacingRejected(state: MigrationState): MigrationState {
  if (state.replacesRejected || state.firstCompany !== null || state.route !== 'managed') return state;
  if (automaticPause(state)?.stopReason !== 'application-refused') return state;
  return patched('replace-rejected-application') ? { ...state, replacesRejected: true } : state;
}

/**
 * Sets `keepsWait` once a decision has to be recorded while a self-service migration waits for the client. The wait
 * then goes on, and with it the timer of the next reminder, which earlier versions cancelled.
 */
function keepingWait(state: MigrationState): MigrationState {
  if (state.keepsWait || state.wait === null || !isRecordingDecisions(waitingForOf(state))) return state;
  return patched('keep-wait') ? { ...state, keepsWait: true } : state;
}

/**
 * Returns the state of a continued run. Drops the parts of the previous run that depend on its markers, because the
 * history of this run has no markers yet: a worker of an earlier version can have begun this run.
 */
export function continuedState({
  asksWhileDeferred: _,
  countsRelinked: __,
  replacesRejected: ___,
  keepsWait: ____,
  ...carried
}: MigrationState): MigrationState {
  return withPatches(carried);
}
