/**
 * The first line of the client's page in the Temporal UI, and of the portal: what is happening, and what the reader has
 * to do. The reader is the client, who is "you".
 *
 * The line contains no errors, no ids of the service, and no time that has passed.
 */
import type { Counts } from '../../domain/companies/company-state';
import {
  countOpen,
  countReadyOrMoving,
  isConfirmationDue,
  onlyDeferredLeft,
} from '../../domain/companies/company-state';
import { withoutCredentialText } from '../../domain/companies/credential-state';
import { nextWaveText, soonStartText } from '../../domain/progress/waiting-for';
import type { StopReason } from '../../domain/companies/failures';
import { endedInTemporalText, isOver } from '../../domain/migration/terminated';
import type { Outage } from '../../domain/migration/outage';
import { counted, momentText, outOf } from '../../domain/text/sentences';
import { firstOpening, openingAfterStart } from '../../domain/progress/first-opening';
import { isHandoverRejected } from '../../domain/decisions/withdrawals';
import { detailProblems } from '../../domain/migration/preflight-result';
import type { Progress } from '../../domain/progress/progress';
import { approvedSince, pausesIn } from '../../domain/progress/progress';

/**
 * Returns what is happening, without what companies still need, for a page that shows the client's task beside it.
 *
 * @param now ISO 8601, UTC
 */
export function headlineText(progress: Progress, platform: string, now: string): string {
  const isLacking = hasClientTask(progress) && lacksSupplies(progress) && canLackSupplies(progress);
  if (isLacking) return `${sentence(movedText(progress.counts))}. The migration is waiting for you.`;
  if (meanwhileText(progress) === null) return statusLine(progress, platform, now);
  const text = statusText(progress, platform, now);
  return isPausedByPerson(progress) ? `${text} ${RESUMABLE}` : text;
}

/** Returns whether the migration is running in step 5 or 6, where it can wait for what companies lack. */
function canLackSupplies({ state, step, firstCompany }: Progress): boolean {
  return (
    (state === 'running' || state === 'waiting') &&
    (step === 'complete-migration' || (step === 'migrate-first-company' && firstCompany === null))
  );
}

/** @param now ISO 8601, UTC */
export function statusLine(progress: Progress, platform: string, now: string): string {
  const text = statusText(progress, platform, now);
  const isFree = !isOver(progress.state) && !progress.waitingFor.roles.includes('client');
  if (!isFree) return text;
  const meanwhile = meanwhileText(progress);
  if (!isPausedByPerson(progress)) return `${text} ${meanwhile ?? nothingText(progress)}`;
  return [text, ...(meanwhile === null ? [] : [meanwhile]), RESUMABLE].join(' ');
}

const RESUMABLE = 'You or support can resume the migration.';

/** Says that there is nothing to do now, and what the client has to do later. */
function nothingText(progress: Progress): string {
  const later = laterText(progress);
  return later === null ? 'Nothing for you to do.' : `Nothing for you to do now. ${later}`;
}

/**
 * Returns what the client has to do later, once no other company can be moved; null if there is nothing. Companies of a
 * later wave keep syncing until then.
 */
export function laterText({ route, step, counts }: Progress): string | null {
  const isMoving = step === 'migrate-first-company' || step === 'complete-migration';
  if (route !== 'managed' || !isMoving || counts.unconfirmed === 0) return null;
  return `Later, turn off syncing for ${nextWaveText(counts)}, confirm that it is off, and supply credentials.`;
}

/**
 * Returns whether only people have paused the migration, so that support or the client can resume it. False if the
 * migration has also paused itself.
 */
export function isPausedByPerson({ state, pause }: Progress): boolean {
  return state === 'paused' && pause?.stopReason === null;
}

/**
 * Returns what the client can do while other companies are moving or wait for support, even while the migration is
 * paused; null if there is nothing. Leaves unconfirmed companies to `laterText`, because companies of a later wave
 * should keep syncing until it is their turn.
 */
export function meanwhileText(progress: Progress): string | null {
  const { state, step, counts, checking, waitingFor } = progress;
  const isMoving = step === 'migrate-first-company' || step === 'complete-migration';
  if (isOver(state) || !isMoving || waitingFor.roles.includes('client')) return null;
  const { withoutCredential, heldBack } = counts;
  if (withoutCredential > 0) return `Please supply credentials for ${withoutCredentialText(counts)}.`;
  if (heldBack > 0 && !checking) return correctionText(heldBack);
  return null;
}

function correctionText(heldBack: number): string {
  const asTheyAre = heldBack === 1 ? 'as it is' : 'as they are';
  return `Please correct or leave out ${counted(heldBack, 'company')} that cannot be moved ${asTheyAre}.`;
}

function statusText(progress: Progress, platform: string, now: string): string {
  const { state, step, counts } = progress;
  switch (state) {
    case 'completed':
      return `Completed: ${movedText(counts)}. ${afterCompletion(counts)}`;
    case 'abandoned':
      return `Ended after the first company: ${movedText(counts)}.`;
    case 'cancelled':
      return `Cancelled: ${movedText(counts)}.`;
    case 'terminated':
      return terminatedText(progress);
    case 'paused':
      return `Paused${pauseText(progress, platform)}. ${sentence(movedText(counts))}.`;
    case 'running':
    case 'waiting':
      break;
  }
  switch (step) {
    case 'supply-details':
      return detailsText(progress, platform);
    case 'schedule':
      return scheduleText(progress, now);
    case 'update-application':
      return hasClientTask(progress)
        ? `Please add the callback URL to your ${platform} application, then confirm it.`
        : `Support is checking the callback URL of your ${platform} application.`;
    case 'disable-syncing':
      return `Please turn off syncing for ${firstWaveText(counts)} in your own application, then confirm that it is off.`;
    case 'migrate-first-company':
      return firstCompanyText(progress, platform, now);
    case 'complete-migration':
      return completionText(progress, platform, now);
  }
}

const hasClientTask = ({ waitingFor }: Progress): boolean => waitingFor.roles.includes('client');

function terminatedText({ endedInTemporal, counts }: Progress): string {
  const how = endedInTemporalText(endedInTemporal ?? { status: 'terminated', at: null });
  return `${sentence(how)}: ${movedText(counts)}. No other company moves.`;
}

function afterCompletion({ mustReconnect }: Counts): string {
  if (mustReconnect === 0) return 'Please do what the handover report asks of you.';
  return mustReconnect === 1
    ? '1 company must reconnect: please send its owner the link.'
    : `${counted(mustReconnect, 'company')} must reconnect: please send each owner the link.`;
}

function pauseText(progress: Progress, platform: string): string {
  const { route, pause, counts } = progress;
  const names = pausesIn(progress).flatMap(({ by, stopReason }) => (stopReason === null && by !== null ? [by] : []));
  const people = names.length === 0 ? '' : ` by ${names.join(' and ')}`;
  if (pause === null || pause.stopReason === null) return people;
  const who =
    route === 'self-service' ? 'you can resume the migration when this problem is solved' : 'support is looking at it';
  const also = people === '' ? '' : `. Also paused${people}`;
  return `: ${stopText(pause.stopReason, platform, counts)}; ${who}${also}`;
}

/**
 * Returns why the migration paused itself.
 *
 * @param counts if none has failed, the text contains no number
 */
export function stopText(reason: StopReason, platform: string, { failed }: Pick<Counts, 'failed'>): string {
  switch (reason) {
    case 'key-refused':
      return 'the Company Data Service refuses access';
    case 'account-limit':
      return 'the account at the Company Data Service has reached a limit or has expired';
    case 'application-refused':
      return `${platform} refuses your application`;
    case 'wrong-organization':
      return 'a credential does not belong to the company that the manifest names';
    case 'too-many-failures':
      return failed === 0
        ? 'too many companies could not be moved'
        : `${counted(failed, 'company')} could not be moved`;
    case 'ledger-behind':
      return 'the records of this migration are out of date';
  }
}

function detailsText({ route, preflight, reopened }: Progress, platform: string): string {
  if (preflight === null) return 'Your details are being checked.';
  const {
    isManifestMissing,
    problems: { length },
  } = detailProblems(preflight);
  const isApplicationMissing = length === 1 && preflight.problemCodes.includes('application-missing');
  if (isManifestMissing && isApplicationMissing) return `Please supply the manifest and your ${platform} application.`;
  if (isApplicationMissing) return `Please supply your ${platform} application.`;
  if (isManifestMissing)
    return `Please supply the manifest, which lists the companies to move${length > 0 ? `, and correct ${counted(length, 'other problem')}` : ''}.`;
  if (length > 0) return `The check of the details found ${counted(length, 'problem')}. Please resolve what you can.`;
  if (reopened?.asksForChanges) return 'Support has asked you to change the details that you supplied.';
  return route === 'self-service'
    ? 'Your details have been checked, and the companies will be moved now.'
    : 'Support is reviewing your details.';
}

function scheduleText(progress: Progress, now: string): string {
  const { proposal } = progress;
  const opening = openingAfterStart(progress, now);
  if (proposal === null) return 'Please propose a start time, or ask support to propose one.';
  const start = proposal.startAt > now ? ` at ${momentText(proposal.startAt)}` : '';
  if (!hasClientTask(progress)) return `You have approved the start${start}. Support has to approve it too.`;
  if (start === '') return `Please ${soonStartText(opening)}.`;
  const moves = opening === null ? '' : `; moves begin at ${momentText(opening.opensAt)}, when a window opens`;
  return `Please approve the start${start}${moves}.`;
}

/** Describes the companies of the first wave, for which step 4 waits. Later waves are confirmed later. */
function firstWaveText({ unconfirmed, unconfirmedInFirstWave }: Counts): string {
  const companies = counted(unconfirmedInFirstWave, 'company');
  return unconfirmedInFirstWave === unconfirmed ? companies : `${companies} of the first wave`;
}

function firstCompanyText(progress: Progress, platform: string, now: string): string {
  const { firstCompany, requestedFirst, proposal, window, outage, waitingFor } = progress;
  const opening = firstOpening(progress, now);
  const first = firstCompany && `The first company, ${firstCompany.reference},`;
  switch (firstCompany?.stage) {
    case 'importing':
      if (outage) return `${first} is waiting ${outageText(outage, platform, now)}.`;
      return `${first} is being moved and checked.`;
    case 'verified':
      return `${first} has moved. Support is checking this company before the other companies follow.`;
    case 'failed':
      return `${first} was not moved. Support is deciding what to try next.`;
    case undefined: {
      if (requestedFirst?.notReady) {
        return `Please supply what ${requestedFirst.reference} needs before it can move first, or ask support to choose another company.`;
      }
      if (waitingFor.roles.length > 0) return needsText(progress);
      const from = [proposal?.startAt, window?.opensAt, opening?.opensAt]
        .map((each) => each ?? now)
        .reduce((one, other) => (one > other ? one : other));
      return `The first company will be moved ${from > now ? `at ${momentText(from)}` : 'now'}.`;
    }
  }
}

function completionText(progress: Progress, platform: string, now: string): string {
  const { route, counts, waitingFor, outage, window } = progress;
  const moved = sentence(movedText(counts));
  const ready = countReadyOrMoving(counts);
  if (countOpen(counts) === 0) {
    if (route === 'self-service') return selfServiceEnd(counts);
    if (waitingFor.roles.length === 0) return `${moved}.`;
    const { reopened } = progress;
    const task = reopened?.withdrawn?.includes('client')
      ? `Your sign-off no longer counts, because ${reopened.role === 'client' ? 'you' : 'support'} made changes to companies afterwards. Please review the handover, and sign it off again.`
      : isHandoverRejected(progress)
        ? rejectedText(progress)
        : 'Please sign off the handover.';
    return hasClientTask(progress)
      ? `${moved}. ${task}`
      : `${moved}, and you have signed off. Support has to sign off too.`;
  }
  if (ready === 0 || (onlyDeferredLeft(counts) && lacksSupplies(progress))) {
    return counts.moved === 0 ? needsText(progress) : `${moved}. ${needsText(progress)}`;
  }
  if (waitingFor.roles.length > 0) return `${moved}. The windows are paused, so no other company moves.`;
  if (outage) {
    const others =
      counts.moved > 0 && counts.moved === counts.total - ready ? 'all others have moved' : movedText(counts);
    const verb = ready === 1 ? 'is' : 'are';
    return `${counted(ready, 'company')} ${verb} waiting ${outageText(outage, platform, now)}; ${others}.`;
  }
  if (window && window.opensAt > now && counts.importing + counts.syncing === 0) {
    return `${moved}. The next ${ready === 1 ? 'company moves' : 'companies move'} at ${momentText(window.opensAt)}.`;
  }
  return `${moved}, ${ready.toLocaleString('en-US')} to go.`;
}

function rejectedText(progress: Progress): string {
  return approvedSince(progress).length === 0
    ? 'The handover was rejected. Please resolve the problem with support, and then sign off the handover.'
    : 'The handover was rejected, and support has signed off since. Please check that the problem has been resolved, and then sign off the handover.';
}

/** Returns whether companies lack something that a person can supply or decide now. */
function lacksSupplies({ counts, checking }: Progress): boolean {
  const { withoutCredential, heldBack, outcomeUnknown } = counts;
  return isConfirmationDue(counts) || withoutCredential + outcomeUnknown > 0 || (heldBack > 0 && !checking);
}

function selfServiceEnd({ failed }: Counts): string {
  if (failed === 0) return 'Every company has been moved or left out, and the migration is ending.';
  return `Please decide what to do about ${counted(failed, 'company')} that ${failed === 1 ? 'was' : 'were'} not moved.`;
}

/**
 * Returns the end of a clause that begins with "is waiting" or "are waiting": the cause, and the time of the next
 * attempt if it has not passed.
 */
function outageText({ source, until }: Outage, platform: string, now: string): string {
  const what = {
    platform: `for ${platform}`,
    service: 'for the Company Data Service',
    none: 'because of a technical problem',
  }[source ?? 'none'];
  if (until <= now) return what;
  const at = until.slice(0, 10) === now.slice(0, 10) ? `${until.slice(11, 16)} UTC` : momentText(until);
  return `${what}; next attempt ${at}`;
}

/**
 * Returns what is needed before another company can be moved: the missing credentials, and then the confirmation of
 * later companies. If neither is missing, returns only the first other obstacle, because the page lists all obstacles
 * below this line.
 */
function needsText(progress: Progress): string {
  const { counts, checking, route } = progress;
  const { unconfirmed, withoutCredential, heldBack, outcomeUnknown } = counts;
  const needed = [
    ...(withoutCredential > 0 ? [`supply credentials for ${withoutCredentialText(counts)}`] : []),
    ...(unconfirmed > 0
      ? [`turn off syncing for ${nextWaveText(counts)}, confirm that it is off, and supply credentials`]
      : []),
  ];
  if (needed.length > 0) return `Please ${needed.join('; then ')}.`;
  if (checking) return 'Your changes are being checked.';
  if (heldBack > 0) return correctionText(heldBack);
  const who = route === 'self-service' ? 'Please find out' : 'Support is finding out';
  if (outcomeUnknown > 0) return `${who} what happened to ${counted(outcomeUnknown, 'company')}.`;
  return route === 'self-service'
    ? 'No company is left to move: please add companies, or cancel the migration.'
    : 'No company is left to move. Support is deciding how to continue.';
}

/** Returns how many companies have moved, as a clause: `41 of 60 companies have moved`. */
export function movedText({ moved, total }: Counts): string {
  if (moved === 0) return 'no company has moved';
  if (moved === total) return total === 1 ? 'the company has moved' : `all ${counted(total, 'company')} have moved`;
  return `${outOf(moved, total, 'company')} ${moved === 1 ? 'has' : 'have'} moved`;
}

export function sentence(clause: string): string {
  return `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}`;
}
