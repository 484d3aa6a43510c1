/**
 * Texts that several pages for the client share: its page in the Temporal UI, the portal and the handover report. They
 * are plain text, in which times have the form `2026-11-20 23:55 UTC` unless the caller formats them.
 */
import { countOpen, type Counts } from '../../domain/companies/counts';
import type { StopReason } from '../../domain/companies/failures';
import { isEnding } from '../../domain/migration/migration-state';
import { isOver } from '../../domain/migration/terminated';
import { isBeforeSyncIsOff } from '../../domain/migration/steps';
import type { Estimate } from '../../domain/planning/estimate';
import { firstOpenings, openingAfterStart } from '../../domain/progress/first-opening';
import { exceptDeferred, isStaleFromStart, longestStaleText, type Forecast } from '../../domain/progress/forecast';
import { knownForecast } from '../../domain/progress/paused-forecast';
import { detailProblems } from '../../domain/migration/preflight-result';
import type { Progress } from '../../domain/progress/progress';
import { problemsByRole, tasksOfBothSides } from '../../domain/progress/acting-roles';
import { CHANGE_DETAILS, currentTask } from '../../domain/progress/waiting-for';
import { counted, momentText, namedCompanies, sentence } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import { otherApprover } from './other-approver';

/** Returns the name of a migration's platform. */
export function platformOf({ platformKey }: Pick<Progress, 'platformKey'>): string {
  return findPlatform(platformKey)?.name ?? platformKey;
}

/** The task of the people that a migration waits for. */
export interface Task {
  readonly what: string;
  /** The preflight's errors, without names of other clients, if the task is to solve them; otherwise empty. */
  readonly problems: readonly string[];
  /** The findings that only support can solve, if the client has a task too; otherwise absent. */
  readonly forSupport?: readonly string[];
  /** Support's part of a task of both sides, if `what` is only the client's part; otherwise absent. */
  readonly ofSupport?: string;
}

/** @param now ISO 8601, UTC */
export function taskOf(progress: Progress, now: string): Task {
  const { route, step, state, pause, preflight } = progress;
  // A person has paused the migration, and only that person knows when the pause is no longer needed.
  if (state === 'paused' && pause?.stopReason === null) {
    const resume = 'resume the migration once the pause is no longer needed';
    return task(route === 'managed' ? `${resume}, or ask support to do so` : resume);
  }
  // The status line gives the reason in the client's words.
  if (state === 'paused' && route === 'managed' && pause !== null && isOfOperators(pause.stopReason))
    return task('solve the problem, and then resume the migration');
  if (step !== 'supply-details' || state === 'paused' || preflight === null) return currentTaskOf(progress, now);
  const { isManifestMissing } = detailProblems(preflight);
  const { client, support } = problemsByRole(route, preflight);
  if (client.length === 0 && !isManifestMissing) {
    if (support.length === 0) return currentTaskOf(progress, now);
    return progress.reopened?.asksForChanges
      ? { ...task(CHANGE_DETAILS), forSupport: support }
      : { what: RESOLVE, problems: support };
  }
  const parts = [...(isManifestMissing ? [SUPPLY] : []), ...(client.length > 0 ? [CORRECT] : [])];
  return { what: parts.join(', and '), problems: client, ...(support.length > 0 && { forSupport: support }) };
}

/** Returns whether the text of a pause names settings that only the people who run the workers know. */
function isOfOperators(reason: StopReason | null): boolean {
  return reason === 'key-refused' || reason === 'ledger-behind';
}

const SUPPLY = 'supply the manifest, which lists the companies to move';
const CORRECT = 'correct these details';

/** The task of support, if only support can solve the problems, for example with the account. */
export const RESOLVE = 'resolve these problems';

const task = (what: string): Task => ({ what, problems: [] });

/** Returns the current task. If both sides have one, separates them, because the client is addressed as "you". */
function currentTaskOf(progress: Progress, now: string): Task {
  const what = currentTask(progress, now);
  const other = otherApprover(progress, now);
  if (other !== null)
    return other.ask === null
      ? task(`${what}. ${sentence(other.must)}`)
      : {
          ...task(`${other.ask}. ${sentence(other.must)}`),
          ...(progress.waitingFor.roles.includes('support') && { ofSupport: what }),
        };
  const { ofClient, ofSupport } = tasksOfBothSides(what) ?? {};
  return ofClient === undefined || ofSupport === undefined ? task(what) : { ...task(ofClient), ofSupport };
}

/** The time by which people must act, and the consequence if they act later. */
export interface Deadline {
  /** When the window closes. ISO 8601, UTC */
  readonly at: string;
  readonly ifLate: string;
}

/**
 * Returns the deadline of the people who must act: the closing of a window; null if there is none. Pages must show the
 * consequence beforehand, because they are not updated when the window closes.
 *
 * @param now ISO 8601, UTC
 */
export function deadlineOf(progress: Progress, now: string): Deadline | null {
  const [window, next] = isOver(progress.state) ? [] : firstOpenings(progress, now);
  if (!window || !next) return null;
  const ifLate = `If anything is still missing at that time, moves cannot begin before the next window, at ${momentText(next.opensAt)}. If syncing of a company is off, its data is out of date until the company has moved.`;
  return { at: window.closesAt, ifLate };
}

/**
 * Returns the deadline of {@link deadlineOf} in words; null if there is none.
 *
 * @param now ISO 8601, UTC
 */
export function deadlineText(progress: Progress, now: string): string | null {
  const deadline = deadlineOf(progress, now);
  return deadline && `the window closes at ${momentText(deadline.at)}. ${deadline.ifLate}`;
}

/**
 * Returns when the next window opens, if none is open at the start. The start is the proposed start or, if that has
 * passed, the current time. Null if a window is open at the start, or once the moves have begun.
 *
 * @param now ISO 8601, UTC
 */
export function openingText(progress: Progress, now: string): { readonly why: string; readonly text: string } | null {
  const { state, step, proposal, firstCompany } = progress;
  const hasBegun = isOver(state) || step === 'complete-migration' || firstCompany !== null;
  const opening = hasBegun ? null : openingAfterStart(progress, now);
  if (proposal === null || opening === null) return null;
  return {
    why: proposal.startAt > now ? 'The start is outside the windows' : 'No window is open',
    text: `no move begins before ${momentText(opening.opensAt)}, when the next window opens. If syncing of a company is turned off before that time, its data is out of date until the company has moved${longestText(progress, now, ', for')}.`,
  };
}

/**
 * Returns how long the data of a company can be out of date; empty if this is not known. Until the client has confirmed
 * a company, the time is counted from the proposed start, although the client can turn off syncing earlier.
 *
 * @param before the words before a time that is not counted from the start
 */
function longestText(progress: Progress, now: string, before: string): string {
  const staleMs = knownForecast(progress, null, now)?.staleMs ?? null;
  if (staleMs === null) return '';
  return `${isStaleFromStart(progress, now) ? ',' : before} ${longestStaleText(progress, staleMs, now)}`;
}

/** Returns which measurements an estimate is based on. */
export function estimateBasisText({ basis, measuredOn }: Estimate): string {
  const companies = counted(measuredOn, 'company');
  switch (basis) {
    case 'assumed':
      return 'at a cautiously assumed speed, because no measured speed is known for this platform';
    case 'platform':
      return `at the speed measured on ${companies} in an earlier migration on this platform`;
    case 'migration':
      return `at the speed measured on ${companies} of this migration`;
  }
}

/** Returns the speed on which a forecast is based. */
export function forecastBasisText({ basis }: Forecast, estimate: Estimate | null): string {
  return basis === 'throughput' || !estimate ? 'at the current rate' : estimateBasisText(estimate);
}

/** Names the companies that a forecast covers. If others are deferred or wait for people, the migration ends later. */
export function coveredText({ companies, isComplete }: Forecast, counts: Counts): string {
  const what = counted(companies, 'company');
  if (isComplete) return what;
  return `${what} that ${companies === 1 ? 'is' : 'are'} moving or can be moved${exceptDeferred(counts)}`;
}

/** Which companies the client may switch back on after the end. The pages and the handover report use these words. */
export const AFTER_THE_END = {
  never: 'companies whose access was handed over to us',
  askFirst: 'companies for which we do not know yet whether the token was used',
  yes: 'companies whose access was not handed over to us',
} as const;

/** Returns which companies the client may switch back on in its own application. */
export function switchOnText({ route, step, state, counts }: Progress): string {
  if (state === 'completed') {
    if (counts.moved === counts.total) return 'no company: every company was moved, and its syncing must stay off.';
    return 'look up each company in the handover report. Syncing of the companies that were moved must stay off.';
  }
  if (state === 'abandoned' || state === 'cancelled') {
    const isUnknown = counts.importing + counts.outcomeUnknown + (counts.waitingAgain ?? 0) > 0;
    const askFirst = isUnknown ? ` Ask your contact first about ${AFTER_THE_END.askFirst}.` : '';
    return `you may switch syncing back on for ${AFTER_THE_END.yes}.${askFirst} Never switch syncing back on for ${AFTER_THE_END.never}. The handover report says which of these applies to each company.`;
  }
  if (state === 'terminated')
    return 'ask your contact first, because syncing of the companies that were moved must stay off.';
  // The client can confirm before step 4, and an earlier step can open again.
  const isOff = counts.unconfirmed + counts.heldBack + counts.excluded < counts.total;
  if (route !== 'self-service' && isBeforeSyncIsOff(step) && !isOff)
    return 'no company for now, because you do not have to switch anything off before step 4.';
  return 'no company for now: leave syncing off wherever you have switched it off. Never switch it back on in your own application for a company that is moving or has been moved.';
}

/**
 * Does not say that the data is up to date: the service has read the data of every company that was moved, but then
 * syncs some companies only on request, and can no longer sync companies whose application was replaced.
 */
const BROUGHT_UP_TO_DATE =
  'the data of all companies that were moved was brought up to date when they moved. The handover report says how often the service syncs each company.';

/** Returns how long the data of a company is out of date. */
export function outOfDateText(progress: Progress, now: string): string {
  const { route, step, state, counts } = progress;
  if (state === 'completed') return BROUGHT_UP_TO_DATE;
  if (state === 'terminated')
    return 'if syncing is off for a company that was not moved, its data stays out of date. Ask your contact before you switch any syncing back on.';
  if (isOver(state))
    return 'if syncing is off for a company that was not moved, its data stays out of date until you switch syncing back on in your own application, or until its end customer reconnects. The handover report says for which companies you may switch syncing back on.';
  if (route === 'self-service')
    return 'for each company, from the moment its syncing is disabled until it has been moved.';
  if (counts.total > 0 && countOpen(counts) === 0) return BROUGHT_UP_TO_DATE;
  if (!progress.estimate)
    return 'for each company, from the moment syncing is disabled until it has been moved. How long that takes will be estimated in step 2.';
  const from = isBeforeSyncIsOff(step) ? 'is' : 'was';
  return `for each company, from the moment syncing ${from} disabled until it has been moved${longestText(progress, now, ':')}.`;
}

/**
 * Says what happens to the data of moved companies whose application was replaced, and what helps; null if there are
 * none. The workflow knows only their number.
 */
export function replacedNumberText({ replacedApplication = 0 }: Progress): string | null {
  if (replacedApplication === 0) return null;
  const [they, them] = replacedApplication === 1 ? ['it', 'it'] : ['they', 'them'];
  return `The data of ${counted(replacedApplication, 'company')} goes out of date, because the application with which ${they} ${replacedApplication === 1 ? 'was' : 'were'} connected was replaced. The handover report names ${them}, and says what to do.`;
}

/** Returns what the client should know before it signs off the handover; null if it does not have to sign off now. */
export function beforeSignOff(progress: Progress): string | null {
  const { route, state, step, counts, waitingFor } = progress;
  const isSignOff = step === 'complete-migration' && state === 'waiting' && countOpen(counts) === 0;
  if (route !== 'managed' || !isSignOff || !waitingFor.roles.includes('client')) return null;
  const notMoved = counts.total - counts.moved;
  const named = `${namedCompanies(notMoved, counts.firstNotMoved ?? [])} ${outcomeText(counts)}.`;
  const replaced = replacedNumberText(progress);
  return [
    'read the handover report. Create it in the portal, or ask support for it.',
    ...(notMoved === 0 ? [] : [`${named} The report says why, and what to do about each company.`]),
    ...(replaced === null ? [] : [replaced]),
    'Once both sides have signed off, no more companies can be moved, and the stored credentials are destroyed.',
  ].join(' ');
}

/** Returns what happened to companies that did not move, to follow their names: `were not moved, or were left out`. */
function outcomeText({ total, moved, failed }: Counts): string {
  const were = total - moved === 1 ? 'was' : 'were';
  if (failed === 0) return `${were} left out`;
  return failed === total - moved ? `${were} not moved` : `${were} not moved, or ${were} left out`;
}

/**
 * Says when the service was last asked whether end customers have reconnected. The time matters because end customers
 * can reconnect at any time, but the service is asked only at intervals.
 *
 * @param checkedAt when the service was asked last, as text; null if it never was
 */
export function reconnectionsText(checkedAt: string | null): string {
  return checkedAt === null
    ? 'Reconnections have not been checked yet'
    : `Reconnections were last checked at ${checkedAt}`;
}

/**
 * Says that reconnections are not checked after the end of a migration, and when they were checked last. Null if the
 * migration has not ended, or if no company must reconnect.
 *
 * @param timeText formats a time; by default with its time zone
 */
export function reconnectionsAfterEnd(
  { state, counts, reconnections }: Pick<Progress, 'state' | 'counts' | 'reconnections'>,
  timeText: (iso: string) => string = momentText,
): string | null {
  if (!isEnding(state) || counts.mustReconnect === 0) return null;
  const checkedAt = reconnections?.checkedAt ?? null;
  const last = checkedAt === null ? '' : `, and were last checked at ${timeText(checkedAt)}`;
  const companies = counted(counts.mustReconnect, 'company');
  const [count, have] = counts.mustReconnect === 1 ? ['counts', 'it has'] : ['count', 'they have'];
  return `Reconnections are not checked after the end of the migration${last}. ${companies} still ${count} as "must reconnect", even if ${have} reconnected since.`;
}
