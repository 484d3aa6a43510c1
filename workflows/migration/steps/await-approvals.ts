/** Steps 3 and 4, which people settle. */
import { isSettled } from '../../../domain/decisions/step-transitions';
import type { Step } from '../../../domain/migration/steps';
import type { Desk } from '../context';
import { inLedger } from '../ledger';

/** Waits, for weeks if need be, until everybody has decided whose decision ends the step. */
export async function settled(desk: Desk, step: Step): Promise<void> {
  // A confirmation that is taken back in the ledger opens the step again.
  if (await desk.until((state) => inLedger(state) && isSettled(state, step))) desk.end(step);
}
