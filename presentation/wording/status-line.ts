/**
 * The first line of the client's page in the Temporal UI, and of the portal: what is happening, and what the reader has
 * to do. The reader is the client, who is "you".
 *
 * The line contains no errors, no ids of the service, and no past time except the time of a termination in Temporal.
 */
import type { Counts } from '../../domain/companies/counts';
import { soonStartText, isRecordingDecisions } from '../../domain/progress/waiting-for';
import type { StopReason } from '../../domain/companies/failures';
import { isOver } from '../../domain/migration/terminated';
import { counted, momentText, sentence } from '../../domain/text/sentences';
import { openingAfterStart } from '../../domain/progress/first-opening';
import { detailProblems } from '../../domain/migration/preflight-result';
import { isOfSupport, problemsByRole } from '../../domain/progress/acting-roles';
import { pausesIn, type Progress } from '../../domain/progress/progress';
import { laterText, isPausedByPerson, meanwhileText, hasClientTask, shouldSupplyApplication } from './client-task';
import { firstCompanyText, completionText, lacksSupplies, movedText } from './move-status';
import { askForApproval } from './other-approver';

/**
 * Returns the status line for the portal. Leaves out what companies lack and what the client can do meanwhile, because
 * the portal shows both separately.
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

/** Returns whether the migration can wait for what companies lack: in step 6, or in step 5 without a first company. */
function canLackSupplies({ state, step, firstCompany }: Progress): boolean {
  return (
    (state === 'running' || state === 'waiting') &&
    (step === 'complete-migration' || (step === 'migrate-first-company' && firstCompany === null))
  );
}

/** @param now ISO 8601, UTC */
export function statusLine(progress: Progress, platform: string, now: string): string {
  const text = statusText(progress, platform, now);
  const isFree = !isOver(progress.state) && !hasClientTask(progress);
  if (!isFree) return text;
  if (isRecordingDecisions(progress.waitingFor)) return `${text} The latest decisions are being carried out.`;
  const meanwhile = meanwhileText(progress);
  if (!isPausedByPerson(progress)) return `${text} ${meanwhile ?? nothingText(progress)}`;
  return [text, ...(meanwhile === null ? [] : [meanwhile]), RESUMABLE].join(' ');
}

const RESUMABLE = 'You or support can resume the migration.';

function nothingText(progress: Progress): string {
  const later = laterText(progress);
  return later === null ? 'Nothing for you to do.' : `Nothing for you to do now. ${later}`;
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
  if (isRecordingDecisions(progress.waitingFor)) return `${sentence(movedText(counts))}.`;
  switch (step) {
    case 'supply-details':
      return detailsText(progress, platform);
    case 'schedule':
      return scheduleText(progress, now);
    case 'update-application':
      return hasClientTask(progress)
        ? askForApproval(progress, `Please add the callback URL to your ${platform} application, then confirm it.`, now)
        : `Support is checking the callback URL of your ${platform} application.`;
    case 'disable-syncing':
      return `Please turn off syncing for ${firstWaveText(counts)} in your own application, then confirm that it is off.`;
    case 'migrate-first-company':
      return firstCompanyText(progress, platform, now);
    case 'complete-migration':
      return completionText(progress, platform, now);
  }
}

function terminatedText({ endedInTemporal, counts }: Progress): string {
  const at = endedInTemporal?.at ?? null;
  const moved =
    counts.moved === 0 ? 'no company has moved, and none is moving' : `${movedText(counts)}. No other company moves`;
  return `Stopped${at === null ? '' : ` at ${momentText(at)}`}: ${moved}.`;
}

function afterCompletion({ mustReconnect }: Counts): string {
  if (mustReconnect === 0) return 'Please do what the handover report asks of you.';
  return mustReconnect === 1
    ? '1 company must reconnect: please send its end customer the link.'
    : `${counted(mustReconnect, 'company')} must reconnect: please send each end customer the link.`;
}

function pauseText(progress: Progress, platform: string): string {
  const { route, pause, counts } = progress;
  const names = pausesIn(progress).flatMap(({ by, stopReason }) => (stopReason === null && by !== null ? [by] : []));
  const people = names.length === 0 ? '' : ` by ${names.join(' and ')}`;
  if (pause === null || pause.stopReason === null) return people;
  const who =
    route === 'self-service'
      ? 'you can resume the migration when this problem is solved'
      : 'support is looking at this problem';
  const also = people === '' ? '' : `. Also paused${people}`;
  return `: ${stopText(pause.stopReason, platform, counts)}; ${who}${also}`;
}

/**
 * Returns why the migration paused itself.
 *
 * @param counts if no company has failed, the text contains no number
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
      return 'the records of this migration were out of date';
  }
}

function detailsText(progress: Progress, platform: string): string {
  const { route, preflight, reopened } = progress;
  if (preflight === null) return 'Your details are being checked.';
  const {
    isManifestMissing,
    problems: { length },
  } = detailProblems(preflight);
  const { client } = problemsByRole(route, preflight);
  const isApplicationMissing = length === 1 && preflight.problemCodes.includes('application-missing');
  if (isManifestMissing && isApplicationMissing) return `Please supply the manifest and your ${platform} application.`;
  if (isApplicationMissing) return `Please supply your ${platform} application.`;
  if (isManifestMissing)
    return `Please supply the manifest, which lists the companies to move${client.length > 0 ? `, and correct ${counted(client.length, 'other problem')}` : ''}.`;
  const change = reopened?.asksForChanges ? 'Support has asked you to change the details that you supplied.' : null;
  if (length > 0 && route === 'managed' && preflight.problemCodes.every(isOfSupport)) {
    const who = shouldSupplyApplication(progress)
      ? `. Support has to resolve ${length === 1 ? 'it' : 'them'}, and needs to know your ${platform} application.`
      : ', which support has to resolve.';
    const found = `The check of the details found ${counted(length, 'problem')}${who}`;
    return change === null ? found : `${found} ${change}`;
  }
  if (length > 0) return `The check of the details found ${counted(length, 'problem')}. Please resolve what you can.`;
  if (change !== null) return change;
  if (route === 'self-service') return 'Your details have been checked, and the companies will be moved now.';
  return shouldSupplyApplication(progress)
    ? `Support is reviewing your details, and needs to know your ${platform} application.`
    : 'Support is reviewing your details.';
}

function scheduleText(progress: Progress, now: string): string {
  const { proposal } = progress;
  const opening = openingAfterStart(progress, now);
  if (proposal === null) return 'Please propose a start time, or ask support to propose one.';
  const start = proposal.startAt > now ? ` at ${momentText(proposal.startAt)}` : '';
  if (!hasClientTask(progress)) return `You have approved the start${start}. Support has to approve it too.`;
  if (start === '') return askForApproval(progress, `Please ${soonStartText(opening)}.`, now);
  const moves = opening === null ? '' : `; moves begin at ${momentText(opening.opensAt)}, when a window opens`;
  return askForApproval(progress, `Please approve the start${start}${moves}.`, now);
}

/** Describes the companies of the first wave, for which step 4 waits. Later waves are confirmed later. */
function firstWaveText({ unconfirmed, unconfirmedInFirstWave }: Counts): string {
  const companies = counted(unconfirmedInFirstWave, 'company');
  return unconfirmedInFirstWave === unconfirmed ? companies : `${companies} of the first wave`;
}
