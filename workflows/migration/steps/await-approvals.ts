/** Steps 3 and 4, which people settle. */
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import type { Step } from '../../../domain/migration/steps';
import type { MigrationContext } from '../context';
import { isRecorded } from '../ledger';

/** Waits, for weeks if need be, until everybody has decided whose decision ends the step. */
export async function awaitApprovals(desk: MigrationContext, step: Step): Promise<void> {
  // A confirmation that is taken back in the ledger opens the step again.
  if (await desk.until((state) => isRecorded(state) && isStepComplete(state, step))) desk.end(step);
}
