/** Steps 3 and 4, which people settle. */
import { isSettled } from '../../domain/step-course';
import type { Step } from '../../domain/steps';
import type { Desk } from '../desk';
import { inLedger } from '../moving';

/** Waits, for weeks if need be, until everybody has decided whose decision ends the step. */
export async function settled(desk: Desk, step: Step): Promise<void> {
  // A confirmation that is taken back in the ledger opens the step again.
  if (await desk.until((state) => inLedger(state) && isSettled(state, step))) desk.end(step);
}
