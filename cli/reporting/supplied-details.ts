/** Prints what the check of the supplied details has found, in `ferry show`. */
import type { Preflight } from '../../domain/migration/preflight-result';
import { isOver } from '../../domain/migration/terminated';
import { stepNumber } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import { shouldSupplyApplication } from '../../presentation/wording/client-task';
import { printApplication, printPreflight } from '../shared/results';
import type { Output } from '../terminal/output';

const TO_CORRECT = 'details to correct:';

/**
 * Returns the problems to list under the text that says who must act, each with its advice; null if that text does not
 * ask for corrections.
 */
export function problemsToList({ preflight, waitingFor }: Progress): Preflight | null {
  return preflight !== null && waitingFor.what.includes(TO_CORRECT) ? { ...preflight, warnings: [] } : null;
}

/** Leaves out the problems at the end of a task, because {@link problemsToList} lists them. */
export const withoutProblems = (task: string): string => task.slice(0, task.indexOf(TO_CORRECT) + TO_CORRECT.length);

/**
 * Prints the application, the callback URL, and the problems and warnings about the supplied details. In the managed
 * route, leaves out the warnings after step 1, because support has accepted them. In step 6, leaves out the
 * application, because in the managed route the first company has proved that it works. While the client should supply
 * another application, prints neither the registered one nor the callback URL, because the screen has no room for them.
 * After the end, prints nothing, because nothing can be corrected any more. With `inFull`, prints everything.
 *
 * @param isListed true if the problems have been printed already
 */
export function printDetails(
  output: Output,
  progress: Progress,
  { inFull, isListed }: { readonly inFull: boolean; readonly isListed: boolean },
): void {
  const { route, step, state, preflight } = progress;
  if (!preflight || (isOver(state) && !inFull)) return;
  const isOpen = route === 'self-service' || step === 'supply-details';
  const shown = isOpen || inFull ? preflight : { ...preflight, warnings: [] };
  printPreflight(output, isListed ? { ...shown, problems: [] } : shown);
  // The problem or warning about the registered application names it, unless an older worker has checked the details.
  if (shouldSupplyApplication(progress) && !inFull) return;
  if (inFull || step !== 'complete-migration') printApplication(output, preflight, '');
  // Needed only before step 3 of the managed route. In step 3, the text that says who must act contains the URL. In
  // self-service, no application needs it.
  const { callbackUrl } = preflight;
  const isNeeded = route === 'managed' && stepNumber(step) < stepNumber('update-application');
  if (callbackUrl !== null && (isNeeded || inFull)) output.line(`Callback URL: ${callbackUrl}`);
}
