/** The status line of steps 5 and 6: which companies move, and what is needed before another company can be moved. */
import {
  countOpen,
  countReadyOrMoving,
  isConfirmationDue,
  onlyDeferredLeft,
  waitsForDeferred,
  type Counts,
} from '../../domain/companies/counts';
import { CLIENT_STATES, type ClientState } from '../../domain/companies/company-state';
import { withoutCredentialText } from '../../domain/companies/credential-state';
import { companiesNotMoved, countUndecided, decideText, finalDecisionText } from '../../domain/progress/undecided';
import { areClosedUntilResumed, windowAt } from '../../domain/progress/remaining-moves';
import { confirmationText, isForPausedWindows } from '../../domain/progress/waiting-for';
import type { Outage } from '../../domain/migration/outage';
import { counted, momentText, outOf, sentence, numberText } from '../../domain/text/sentences';
import { firstOpening } from '../../domain/progress/first-opening';
import { isHandoverRejected } from '../../domain/decisions/withdrawals';
import { approvedSince, type Progress } from '../../domain/progress/progress';
import { correctionText, hasClientTask } from './client-task';
import { askForApproval } from './other-approver';

/** Returns the status line of step 5. */
export function firstCompanyText(progress: Progress, platform: string, now: string): string {
  const { firstCompany, requestedFirst, proposal, window, outage, waitingFor, counts } = progress;
  const opening = firstOpening(progress, now);
  const first = firstCompany && `The first company, ${firstCompany.reference},`;
  switch (firstCompany?.stage) {
    case 'importing':
      if (outage) return `${first} is waiting ${outageText(outage, platform, now)}.`;
      return `${first} is being moved and checked.`;
    case 'verified':
      return othersFollow(progress)
        ? `${first} has moved. Support is checking this company before the other companies follow.`
        : `${first} has moved. Support is checking this company.`;
    case 'failed':
      return `${first} ${FAILED_WORDS[stateOfFailed(firstCompany)]}. Support is deciding what to try next.`;
    case undefined: {
      if (requestedFirst?.notReady) {
        return `${requestedFirst.reference} was chosen to move first but is not ready. Please confirm that its syncing is off, supply its credential or correct its row, or ask support to choose another company. If ${requestedFirst.reference} was left out or is not in the manifest, only another company can move first.`;
      }
      // No person has to act while the preflight checks corrections, but no company can be moved either.
      if (waitingFor.roles.length > 0 || (requestedFirst === null && countReadyOrMoving(counts) === 0))
        return needsText(progress);
      const from = [proposal?.startAt, window?.opensAt, opening?.opensAt]
        .map((each) => each ?? now)
        .reduce((one, other) => (one > other ? one : other));
      return `The first company will be moved ${from > now ? `at ${momentText(from)}` : 'now'}.`;
    }
  }
}

const FAILED_WORDS = {
  'must-reconnect': 'must reconnect',
  'left-out': 'was left out',
  'not-moved': 'was not moved',
} as const satisfies Partial<Record<ClientState, string>>;

/**
 * Returns the state of a first company in the stage `failed`. A company that was left out keeps its last failure, so
 * only its evidence shows its state.
 */
export function stateOfFailed({
  failure,
  evidence,
}: Pick<NonNullable<Progress['firstCompany']>, 'failure' | 'evidence'>): keyof typeof FAILED_WORDS {
  const isLeftOut = evidence.some(
    ({ code, detail }) => code === 'moved' && detail.startsWith(CLIENT_STATES['left-out']),
  );
  if (isLeftOut) return 'left-out';
  return failure === 'reauthorization-required' ? 'must-reconnect' : 'not-moved';
}

/** Returns whether other companies follow once the first company is approved; null if that is not known. */
export function othersFollow({ firstCompany, requestedFirst, counts }: Progress): boolean | null {
  const open = countOpen(counts);
  switch (firstCompany?.stage) {
    case 'importing':
      return open > 1;
    case 'failed':
      // Only the first company can have an unknown outcome in step 5.
      return open > counts.outcomeUnknown;
    case 'verified':
      return open > 0;
    case undefined:
      // A requested company that was tried before is not open yet: it is reset when it is chosen.
      return requestedFirst !== null && counts.moved + counts.failed + counts.outcomeUnknown > 0 ? null : open > 1;
  }
}

/** Returns the status line of step 6. */
export function completionText(progress: Progress, platform: string, now: string): string {
  const { route, counts, waitingFor, outage } = progress;
  const moved = sentence(movedText(counts));
  const ready = countReadyOrMoving(counts);
  if (countOpen(counts) === 0) {
    if (route === 'self-service') return selfServiceEnd(counts);
    if (waitingFor.roles.length === 0) return `${moved}.`;
    if (hasClientTask(progress)) return `${moved}. ${askForApproval(progress, signOffTask(progress), now)}`;
    // `waitingFor` can be older than the counts, and then says nothing about the sign-off.
    return hasClientSignedOff(progress)
      ? `${moved}, and you have signed off. Support has to sign off too.`
      : `${moved}.`;
  }
  if (ready === 0 || (onlyDeferredLeft(counts) && lacksSupplies(progress))) {
    return counts.moved === 0 ? needsText(progress) : `${moved}. ${needsText(progress)}`;
  }
  const moving = counts.importing + counts.syncing;
  const untilResumed = route === 'self-service' ? 'they are resumed' : 'support resumes them';
  if (isForPausedWindows(waitingFor) || (ready > moving && areClosedUntilResumed(progress, now)))
    return `${moved}. The windows are paused, so no move begins until ${untilResumed}.`;
  const undecided = waitingFor.roles.length > 0 ? undecidedText(progress) : null;
  if (undecided !== null) return `${moved}. ${undecided}`;
  if (outage) {
    const others =
      counts.moved > 0 && counts.moved === counts.total - ready ? 'all others have moved' : movedText(counts);
    const verb = ready === 1 ? 'is' : 'are';
    return `${counted(ready, 'company')} ${verb} waiting ${outageText(outage, platform, now)}; ${others}.`;
  }
  const window = windowAt(progress, now);
  if (window && window.opensAt > now && moving === 0) {
    return `${moved}. The next ${ready === 1 ? 'company moves' : 'companies move'} at ${momentText(window.opensAt)}.`;
  }
  // Includes companies that lack something, because the numbers below the line also count them as not moved yet.
  const left = waitsForDeferred(counts)
    ? `${numberText(ready)} waiting for another try`
    : `${numberText(countOpen(counts))} to go`;
  const toGo = `${moved}, ${left}.`;
  if (!progress.noFurtherWindow || window === null || ready === moving) return toGo;
  return `${toGo} The windows are paused: no move begins after ${momentText(window.closesAt)} until ${untilResumed}.`;
}

function hasClientSignedOff({ steps }: Progress): boolean {
  return steps.some(
    ({ step, approvals }) => step === 'complete-migration' && approvals.some(({ role }) => role === 'client'),
  );
}

function signOffTask(progress: Progress): string {
  const { reopened } = progress;
  if (reopened?.withdrawn?.includes('client')) {
    return `Your sign-off no longer counts, because ${reopened.role === 'client' ? 'you' : 'support'} made another decision afterwards. Please review the handover, and sign it off again.`;
  }
  if (!isHandoverRejected(progress)) return 'Please sign off the handover.';
  return approvedSince(progress).length === 0
    ? 'The handover was rejected. Please resolve the problem with support, and then sign off the handover.'
    : 'The handover was rejected, and support has signed off since. Please check that the problem has been resolved, and then sign off the handover.';
}

/** Returns whether companies lack something that a person can supply or decide now. */
export function lacksSupplies({ counts, checking }: Progress): boolean {
  const { withoutCredential, heldBack, outcomeUnknown } = counts;
  return isConfirmationDue(counts) || withoutCredential + outcomeUnknown > 0 || (heldBack > 0 && !checking);
}

function selfServiceEnd(counts: Counts): string {
  if (counts.failed === 0) return 'Every company has been moved or left out, and the migration is ending.';
  return `Please ${finalDecisionText(counts)}.`;
}

/**
 * Says who decides about companies that were not moved, while only deferred companies are left to move. Null if no
 * decision is missing, or if other companies can be moved. Uses the counts, because `waitingFor` can be older.
 */
function undecidedText({ route, step, counts, reconnections }: Progress): string | null {
  const companies = countUndecided({ step, counts, relinking: reconnections?.waiting ?? 0, countsRelinked: true });
  if (companies === 0) return null;
  return route === 'self-service'
    ? `Please ${decideText(companies)}.`
    : `Support is deciding what to do about ${companiesNotMoved(companies)}.`;
}

/** Returns what follows "is waiting" or "are waiting": the cause and, if it is in the future, the next attempt. */
function outageText({ source, until }: Outage, platform: string, now: string): string {
  const what = {
    platform: `for ${platform}`,
    service: 'for the Company Data Service',
    none: 'because of a technical problem',
  }[source ?? 'none'];
  if (until <= now) return what;
  return `${what}; next attempt ${momentText(until)}`;
}

/**
 * Returns what is needed before another company can be moved: the missing credentials, and then the next confirmations.
 * If neither is missing, returns only the first other obstacle, because the page lists all obstacles below this line.
 */
function needsText(progress: Progress): string {
  const { counts, checking, route } = progress;
  const { unconfirmed, withoutCredential, heldBack, outcomeUnknown } = counts;
  const needed = [
    ...(withoutCredential > 0 ? [`supply credentials for ${withoutCredentialText(counts)}`] : []),
    ...(unconfirmed > 0 ? [confirmationText(counts)] : []),
  ];
  if (needed.length > 0) return `Please ${needed.join('; then ')}.`;
  if (checking) return 'Your changes are being checked.';
  if (heldBack > 0) return correctionText(heldBack);
  if (outcomeUnknown > 0) {
    const companies = counted(outcomeUnknown, 'company');
    return route === 'self-service'
      ? `Please decide what to do about ${companies} with an unknown outcome.`
      : `Support is finding out what happened to ${companies}.`;
  }
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
