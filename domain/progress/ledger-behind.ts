/** Says that a ledger was restored to an older state, and what to do. No company moves before it is reconciled. */
import { shownStopText } from '../companies/failures';
import type { Pause } from '../migration/migration-state';
import { pauseText } from '../migration/pauses';
import { isOver } from '../migration/terminated';
import type { Progress } from './progress';
import type { WaitingFor } from './waiting-for';

/** Returns the task of support as a clause that ends with a command. */
export const ledgerBehindTask = (migrationId: string): string =>
  `the ledger is out of date, so no company can move; to repair it, run: ferry reconcile ${migrationId}`;

/** Returns who has to act. While the ledger is out of date, this is only support, whoever the workflow waits for. */
export function actualWaitingFor(
  { migrationId, state, waitingFor }: Pick<Progress, 'migrationId' | 'state' | 'waitingFor'>,
  ledgerBehind: boolean,
): WaitingFor {
  return ledgerBehind && !isOver(state) ? { roles: ['support'], what: ledgerBehindTask(migrationId) } : waitingFor;
}

/** The last part of a sentence about a migration whose ledger is out of date. */
export const NONE_BEFORE_RECONCILED = 'no company can move before the ledger is reconciled';

const RECONCILED = 'the ledger was out of date, but has been reconciled; resume the migration';

/**
 * Returns the progress for a ledger that is known not to be behind any more. If the migration has paused itself because
 * of the ledger, the task is only to resume it. The workflow cannot know this, because it does not read the ledger.
 */
export function withReconciledLedger(progress: Progress): Progress {
  const { waitingFor } = progress;
  const what = waitingFor.what.replace(shownStopText('ledger-behind'), RECONCILED);
  return { ...progress, waitingFor: { ...waitingFor, what } };
}

/** Returns whether a migration has paused itself because of a ledger that has been reconciled since. */
export const isForReconciledLedger = ({ what }: WaitingFor): boolean => what.startsWith(RECONCILED);

/** Returns the text of `pauseText`, but without the advice to reconcile a ledger that has been reconciled since. */
export function reviewedPauseText({ waitingFor }: Pick<Progress, 'waitingFor'>, pause: Pause): string {
  const text = pauseText(pause);
  return isForReconciledLedger(waitingFor) ? text.replace(shownStopText('ledger-behind'), RECONCILED) : text;
}
