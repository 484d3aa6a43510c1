/**
 * The waits of a migration, and the conditions under which it continues as new.
 *
 * A migration can wait for weeks while its history grows. When the server suggests continuing as new, `awaitCondition`
 * and `awaitInStep` return early, the step returns, and `lifecycle.ts` continues with the current state and an empty
 * history. In two cases, the migration continues as new only later:
 * - A batch of decisions is being written to the ledger. Continuing now would write it twice.
 * - More decisions are waiting to be written than fit into one batch. Carrying them over would make the state too
 *   large.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { MigrationState } from '../../domain/migration/migration-state';
import { nextAuditBatch } from '../../domain/decisions/audit-trail';
import type { Timer, WaitList } from '../wait-list';

export interface Waits extends WaitList {
  /** Waits until the condition holds, the timer fires, or the migration should continue as new. */
  awaitCondition(holds: (state: MigrationState) => boolean, timer?: Timer): Promise<void>;
  /**
   * Waits until the condition holds.
   *
   * @returns false if the migration has closed, has moved to another step, or should continue as new before the
   *   condition holds
   */
  awaitInStep(holds: (state: MigrationState) => boolean): Promise<boolean>;
  /** Returns whether the migration should continue as new now. */
  shouldContinueAsNew(): boolean;
  /** Returns whether continue-as-new is in progress. Decisions that arrive meanwhile are carried over. */
  isContinuingAsNew(): boolean;
  /** Does work during which the migration must not continue as new. */
  deferContinueAsNew(work: () => Promise<void>): Promise<void>;
}

export function createWaits(state: () => MigrationState, list: WaitList): Waits {
  let openWaits = 0;
  /** True after a wait has ended at a time when the migration should continue as new. */
  let interrupted = false;
  let deferred = false;
  const isSuggested = (): boolean => workflowInfo().continueAsNewSuggested;
  const fitsInOneBatch = (): boolean => nextAuditBatch(state().unrecorded).length === state().unrecorded.length;
  const shouldContinueAsNew = (): boolean => isSuggested() && !deferred && fitsInOneBatch();

  function awaitCondition(holds: (state: MigrationState) => boolean, timer?: Timer): Promise<void> {
    openWaits += 1;
    const waiting = list.until(() => holds(state()) || shouldContinueAsNew(), timer);
    return waiting.finally(() => {
      openWaits -= 1;
      interrupted ||= shouldContinueAsNew();
    });
  }

  function awaitInStep(holds: (state: MigrationState) => boolean): Promise<boolean> {
    const { step } = state();
    const waiting = awaitCondition((now) => holds(now) || now.closed !== null || now.step !== step);
    return waiting.then(() => holds(state()) && state().step === step && state().closed === null);
  }

  return {
    ...list,
    awaitCondition,
    awaitInStep,
    shouldContinueAsNew,
    isContinuingAsNew: () =>
      state().closed === null && (interrupted || (isSuggested() && openWaits > 0)) && fitsInOneBatch(),
    deferContinueAsNew: async (work) => {
      deferred = true;
      await work();
      deferred = false;
    },
  };
}
