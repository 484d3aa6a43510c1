/**
 * Says what the client has to do or can do: whether the migration waits for it, what it can do while other companies
 * are moving, and what it has to do later.
 */
import { isOfApplication } from '../../domain/companies/finding';
import { withoutCredentialText } from '../../domain/companies/credential-state';
import { hasOverdueConfirmations, shouldCorrectApplication } from '../../domain/progress/meanwhile';
import { isOfSupport } from '../../domain/progress/acting-roles';
import { confirmationText, isRecordingDecisions } from '../../domain/progress/waiting-for';
import { isApplicationOfOtherClient } from '../../domain/preflight/dependents';
import { isOver } from '../../domain/migration/terminated';
import { counted } from '../../domain/text/sentences';
import type { Progress } from '../../domain/progress/progress';
import { isMoveStep } from '../../domain/migration/steps';

/**
 * Returns what the client has to do later, once no other company can be moved; null if there is nothing. Companies of a
 * later wave keep syncing until then.
 */
export function laterText(progress: Progress): string | null {
  const { route, step, counts } = progress;
  if (route !== 'managed' || !isMoveStep(step) || counts.unconfirmed === 0) return null;
  // The client has to confirm companies now, not later.
  if (hasOverdueConfirmations(progress)) return null;
  return `Later, ${confirmationText(counts)}.`;
}

/** Returns whether only people have paused the migration, so that either side can resume it. */
export function isPausedByPerson({ state, pause }: Progress): boolean {
  return state === 'paused' && pause?.stopReason === null;
}

/**
 * Returns what the client can do although the migration does not wait for it, even while the migration is paused; null
 * if there is nothing. Leaves unconfirmed companies of a later wave to `laterText`, because they should keep syncing
 * until it is their turn.
 */
export function meanwhileText(progress: Progress): string | null {
  if (shouldSupplyApplication(progress))
    return 'Please supply the application that obtained your tokens, or tell support which application it is.';
  const { state, step, counts, checking, waitingFor } = progress;
  const isMoving = isMoveStep(step);
  const isRejected = shouldCorrectApplication(progress);
  const isFree = !isOver(state) && !hasClientTask(progress) && !isRecordingDecisions(waitingFor);
  if (!isFree || (!isMoving && !isRejected)) return null;
  const { withoutCredential, heldBack } = counts;
  const supplies = [
    ...(isRejected
      ? ['correct the client id, client secret or environment of your application, and supply it again']
      : []),
    ...(isMoving && withoutCredential > 0 ? [`supply credentials for ${withoutCredentialText(counts)}`] : []),
    ...(hasOverdueConfirmations(progress) ? [confirmationText(counts)] : []),
  ];
  if (supplies.length > 0) return `Please ${supplies.join('; ')}.`;
  if (isMoving && heldBack > 0 && !checking) return correctionText(heldBack);
  return null;
}

/** Returns whether the client should supply its application although the migration does not wait for it. */
export function shouldSupplyApplication(progress: Progress): boolean {
  const { route, state, step, checking, preflight } = progress;
  if (isOver(state) || route !== 'managed' || step !== 'supply-details' || checking) return false;
  return preflight !== null && !hasClientTask(progress) && isApplicationOfOtherClient(preflight);
}

/** Returns whether the client has to supply its application: for the first time, again or another one. */
export function needsApplication(progress: Progress): boolean {
  const codes = progress.preflight?.problemCodes ?? [];
  return shouldSupplyApplication(progress) || codes.some((code) => isOfApplication(code) && !isOfSupport(code));
}

/** Asks the client to correct the companies that are held back, or to leave them out. */
export function correctionText(heldBack: number): string {
  const asTheyAre = heldBack === 1 ? 'as it is' : 'as they are';
  return `Please correct or leave out ${counted(heldBack, 'company')} that cannot be moved ${asTheyAre}.`;
}

/** Returns whether the migration waits for the client. */
export const hasClientTask = ({ waitingFor }: Progress): boolean => waitingFor.roles.includes('client');

/** Says that a self-service migration ends without a sign-off once it has no company left, as a clause. */
export function automaticEndText({ state, preflight }: Pick<Progress, 'state' | 'preflight'>): string {
  // In step 1, errors about the account or the platform keep the migration open.
  const hasErrors = (preflight?.problems.length ?? 0) > 0;
  const unless = hasErrors ? ' as soon as the check of the details finds no error' : '';
  const whilePaused = state === 'paused' ? ', even while it is paused' : '';
  return `the migration ends automatically${unless}${whilePaused}, and the stored credentials are destroyed`;
}

/** Warns that a self-service migration ends after the decision about its last company. */
export function lastDecisionText(progress: Pick<Progress, 'state' | 'preflight'>): string {
  return `Once every company has moved or been left out, ${automaticEndText(progress)}.`;
}
