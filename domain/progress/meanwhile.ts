/** Names what people can do for some companies while others move, or while the migration waits for another person. */
import type { Counts } from '../companies/counts';
import { isForCorrectedApplication } from '../migration/pauses';
import { isMoveStep, roleText, type Step } from '../migration/steps';
import type { Route } from '../../platforms/platforms';
import { allOf } from '../text/sentences';
import type { Progress } from './progress';
import { confirmationText, suppliesMissing, type WaitingFor } from './waiting-for';

interface ProgressFacts {
  readonly route: Route;
  readonly state: string;
  readonly step: Step;
  readonly counts: Counts;
  readonly checking: boolean;
  readonly waitingFor: WaitingFor;
}

/**
 * Returns what people can do for some companies while the migration moves other companies; null if there is nothing to
 * do. While the migration waits for a person or is paused, returns only the client's missing confirmations.
 */
export function meanwhileTask(progress: ProgressFacts): WaitingFor | null {
  const { route, state, step, counts, checking, waitingFor } = progress;
  if (!isMoveStep(step) || !OPEN.includes(state)) return null;
  const isOverdue = hasOverdueConfirmations(progress);
  if (state !== 'running' || waitingFor.roles.length > 0)
    return isOverdue ? { roles: ['client'], what: confirmationText(counts) } : null;
  return suppliesMissing({ counts, route }, checking, isOverdue);
}

/**
 * Adds that support must confirm the keys of these people, who cannot decide before that.
 *
 * @param task the result of {@link meanwhileTask}
 */
export function withKeysToConfirm(task: WaitingFor | null, people: readonly string[]): WaitingFor | null {
  const names = [...new Set(people)];
  if (names.length === 0) return task;
  const confirm = `confirm the ${people.length === 1 ? 'key' : 'keys'} of ${allOf(names)}`;
  if (task === null) return { roles: ['support'], what: confirm };
  const what = task.roles.includes('support')
    ? `${task.what}; ${confirm}`
    : `${roleText('client')} must ${task.what}; ${roleText('support')} must ${confirm}`;
  return { roles: [...new Set([...task.roles, 'support' as const])], what };
}

/**
 * Adds support to the roles that have to act, such as `client` or `nobody`, if it has to confirm keys. While the ledger
 * is behind, only support has to act: before it has reconciled the ledger, only a pause or a cancellation is accepted.
 */
export function withTasksOfSupport(
  roles: string,
  { ledgerBehind, hasKeysToConfirm }: { readonly ledgerBehind: boolean; readonly hasKeysToConfirm: boolean },
): string {
  if (ledgerBehind) return 'support';
  if (!hasKeysToConfirm || roles.includes('support')) return roles;
  return roles === 'nobody' || roles === '' ? 'support' : `${roles} and support`;
}

/** Returns a task as a clause. If both sides have to act, the task itself says whose each part is. */
export function mustText({ roles, what }: WaitingFor): string {
  const [role] = roles;
  return role === undefined || roles.length > 1 ? what : `${roleText(role)} must ${what}`;
}

const OPEN: readonly string[] = ['running', 'waiting', 'paused'];

/**
 * Returns whether companies of the first wave are not confirmed after step 4, in the managed route. Step 4 ended
 * without them, because they were added or corrected later, so they have to be confirmed now. False if the migration
 * already waits for the client.
 */
export function hasOverdueConfirmations({
  route,
  step,
  counts,
  waitingFor,
}: Pick<ProgressFacts, 'route' | 'step' | 'counts' | 'waitingFor'>): boolean {
  return (
    route === 'managed' && isMoveStep(step) && counts.unconfirmedInFirstWave > 0 && !waitingFor.roles.includes('client')
  );
}

/**
 * Returns whether the migration is paused because the platform rejects the application, and no other was supplied yet.
 */
export function shouldCorrectApplication({ route, state, pause, checking, waitingFor }: Progress): boolean {
  const isRejected = route === 'managed' && state === 'paused' && pause?.stopReason === 'application-refused';
  return isRejected && !checking && !isForCorrectedApplication(waitingFor);
}
