/** Who has to act in a migration, and what they have to do: one sentence for every state. */
import { inSupportWords } from '../companies/call-words';
import { countReadyOrMoving, countOpen, isConfirmationDue, onlyDeferredLeft, type Counts } from '../companies/counts';
import { withoutCredentialText } from '../companies/credential-state';
import { missingApprovals } from '../decisions/approvals';
import { isHandoverRejected } from '../decisions/withdrawals';
import type { MigrationState, Proposal } from '../migration/migration-state';
import { areWindowsPaused, automaticPause, isPaused, pausesByPeople, resumptionTask } from '../migration/pauses';
import { detailProblems, type Preflight } from '../migration/preflight-result';
import { onHoldText, type Outage } from '../migration/outage';
import { roleText, STEP_RULES, type Role } from '../migration/steps';
import { windowOccurrences, type WindowOccurrence } from '../planning/windows';
import { counted, momentText, outOf } from '../text/sentences';
import { openingAfterStart, withoutPastStart, type Planned } from './first-opening';
import { remainingText, type RemainingMoves } from './remaining-moves';
import { countUndecided, decideText, finalDecisionText } from './undecided';

export interface WaitingFor {
  /** Empty: no person has to act. */
  readonly roles: readonly Role[];
  /**
   * One sentence: the action that these roles have to take. If `roles` is empty: the work in progress, what comes next,
   * or that the migration has ended.
   */
  readonly what: string;
}

const noOne = (what: string): WaitingFor => ({ roles: [], what });
const client = (what: string): WaitingFor => ({ roles: ['client'], what });
const support = (what: string): WaitingFor => ({ roles: ['support'], what });

/** Returns who has to act, and what they have to do. */
export function waitingForOf(state: MigrationState): WaitingFor {
  if (state.closed) return noOne(`the migration is ${state.closed}`);
  // The counts do not include unrecorded decisions yet, so people could be asked for something they have already
  // supplied.
  if (state.route === 'self-service' && state.unrecorded.length > 0) {
    return noOne('the latest decisions are being carried out');
  }
  const waitingFor = isPaused(state) ? support(resumeText(state)) : waitingInStep(state);
  // In the self-service route, the client makes all decisions.
  return state.route === 'self-service' && waitingFor.roles.length > 0 ? client(waitingFor.what) : waitingFor;
}

/** Returns what to do before a paused migration is resumed. The text contains no reason that a person wrote. */
function resumeText(state: MigrationState): string {
  const automatic = automaticPause(state);
  if (automatic?.stopReason) {
    const who = pausesByPeople(state).map(({ role }) => (role ? roleText(role) : 'a person'));
    const also = who.length === 0 ? '' : `; ${who.join(' and ')} also paused the migration`;
    return `${resumptionTask(state, automatic.stopReason, automatic)}${also}`;
  }
  return 'resume the migration once the pause is no longer needed';
}

function waitingInStep(state: MigrationState): WaitingFor {
  const { step, counts } = state;
  switch (step) {
    case 'supply-details':
      if (!state.preflight) return noOne('the supplied details are being checked');
      if (state.preflight.problems.length > 0) return client(detailsText(state.preflight));
      if (state.route === 'self-service') return noOne('the companies will be moved now');
      return state.reopened?.asksForChanges ? client(CHANGE_DETAILS) : support('accept the supplied details');
    case 'schedule':
      if (!state.proposal) return { roles: ['client', 'support'], what: 'propose a start time' };
      return {
        roles: missingApprovals(state, step),
        what: approveStartText(state.proposal),
      };
    case 'update-application':
      return {
        roles: missingApprovals(state, step),
        what: `confirm that the application at the platform has the callback URL ${state.preflight?.callbackUrl ?? 'of the service'}`,
      };
    case 'disable-syncing':
      return client(`confirm that syncing is off for ${unconfirmedText(counts)}`);
    case 'migrate-first-company':
      return waitingInFirstCompany(state);
    case 'complete-migration':
      return waitingInComplete(state);
  }
}

/** The views show support's reason next to this text. */
export const CHANGE_DETAILS =
  'change the supplied details as support has asked, or ask support to accept them as they are';

function detailsText(preflight: Preflight): string {
  const { isManifestMissing, problems } = detailProblems(preflight);
  return [
    ...(isManifestMissing ? ['supply the manifest'] : []),
    ...(problems.length > 0 ? [`details to correct: ${problems.join('; ')}`] : []),
  ].join('; ');
}

/** Describes the companies of the first wave, for which step 4 waits. Later waves are confirmed later. */
function unconfirmedText({ unconfirmed, unconfirmedInFirstWave, total }: Counts): string {
  return unconfirmedInFirstWave === unconfirmed
    ? outOf(unconfirmed, total, 'company')
    : `${counted(unconfirmedInFirstWave, 'company')} of the first wave`;
}

function waitingInFirstCompany(state: MigrationState): WaitingFor {
  const { firstCompany, requestedFirst, outage, counts } = state;
  switch (firstCompany?.stage) {
    case 'importing':
      if (outage) return noOne(onHoldText(outage));
      return noOne(`the first company, ${firstCompany.reference}, is being moved and checked`);
    case 'verified':
      return support(`approve the first company, ${firstCompany.reference}`);
    case 'failed':
      return support(`the first company, ${firstCompany.reference}, was not moved: decide what to try next`);
    case undefined:
      if (requestedFirst?.notReady) {
        return {
          roles: ['client', 'support'],
          what: `${requestedFirst.reference} was chosen to go first but is not ready: the client must confirm that its syncing is off, supply its credential or correct its row, or support must choose another company; if ${requestedFirst.reference} was left out or is not in the manifest, support must choose another company`,
        };
      }
      if (requestedFirst === null && countReadyOrMoving(counts) === 0) return nothingReady(state);
      return noOne(`the first company will be moved ${startText(state)}`);
  }
}

/** Describes when the move of the first company begins: now, at the agreed time, or when the next window opens. */
function startText({ window, proposal, limits: { windows } }: MigrationState): string {
  const startAt = proposal?.startAt ?? null;
  const opensAt = startAt === null ? undefined : windowOccurrences(windows, startAt)[0]?.opensAt;
  const at = [startAt, opensAt, window?.opensAt]
    .flatMap((each) => each ?? [])
    .sort()
    .at(-1);
  return at === undefined ? 'now' : `at ${momentText(at)}`;
}

function waitingInComplete(state: MigrationState): WaitingFor {
  const { counts } = state;
  const open = countOpen(counts);
  if (open === 0 && state.route === 'self-service') return selfServiceEnd(state);
  if (open === 0) return { roles: missingApprovals(state, 'complete-migration'), what: signOffText(state) };
  if (countReadyOrMoving(counts) === 0) return nothingReady(state);
  const missing = onlyDeferredLeft(counts) ? suppliesMissing(state, isChecking(state)) : null;
  if (missing) return missing;
  if (areWindowsPaused(state)) {
    // Clients can resume the windows with the command, but not in the portal.
    return state.route === 'self-service'
      ? client('resume the windows, or ask support to resume them: they are paused, so no move begins')
      : support('resume the windows: they are paused, so no move begins');
  }
  const moves = { counts, window: state.window, windows: state.limits.windows };
  return waitingForMoves(state.outage, state.asksWhileDeferred ? countUndecided(state) : 0, moves);
}

/**
 * Returns who has to act while nothing prevents the moves of the remaining companies.
 *
 * @param undecided the number of companies that people can decide about
 */
export function waitingForMoves(outage: Outage | null, undecided: number, moves: RemainingMoves): WaitingFor {
  if (outage) return noOne(onHoldText(outage));
  return undecided > 0 ? support(decideText(undecided)) : noOne(remainingText(moves, null));
}

/** Returns whether the work in progress is the move of the remaining companies: now, at the next try or in a window. */
export const isMoveOfRemaining = ({ roles, what }: WaitingFor): boolean =>
  roles.length === 0 && what.startsWith('the remaining compan');

/**
 * Returns whether a self-service migration is recording decisions. The counts do not include these decisions yet, so
 * texts about the counts could ask the client for something it has already done.
 */
export const isRecordingDecisions = ({ what }: WaitingFor): boolean =>
  what === 'the latest decisions are being carried out';

/** Returns whether no move begins because the windows are paused. */
export const isForPausedWindows = ({ what }: WaitingFor): boolean => what.startsWith('resume the windows');

function signOffText(state: MigrationState): string {
  if (!isHandoverRejected(state)) return 'sign off the handover';
  return missingApprovals(state, 'complete-migration').length === STEP_RULES['complete-migration'].approvers.length
    ? 'resolve the problem for which the handover was rejected, and then sign off'
    : 'check that the problem for which the handover was rejected has been resolved, and then sign off';
}

/** Returns what a self-service migration waits for at its end: decisions on failed companies, but no sign-off. */
function selfServiceEnd({ counts: { failed, relinked = 0 }, countsRelinked }: MigrationState): WaitingFor {
  if (failed === 0) return noOne('every company has been moved or left out: the migration is ending');
  return client(finalDecisionText({ failed, relinked: countsRelinked ? relinked : 0 }));
}

/** Returns whether the preflight has yet to check some of the supplied details. */
export function isChecking({ preflight, changes, changesChecked }: MigrationState): boolean {
  return preflight === null || changes > changesChecked;
}

/**
 * Describes the companies to confirm next: the companies of the first or the next wave, or all unconfirmed companies if
 * no later wave follows.
 */
export function nextWaveText({
  unconfirmed,
  unconfirmedInFirstWave,
  unconfirmedInNextWave = unconfirmed,
}: Counts): string {
  const companies = counted(unconfirmedInNextWave, 'company');
  if (unconfirmedInNextWave === unconfirmed) return companies;
  return unconfirmedInNextWave === unconfirmedInFirstWave
    ? `${companies} of the first wave`
    : `${companies} of the next wave`;
}

/** Asks to turn off syncing for the companies to confirm next, to confirm that, and to supply missing credentials. */
export function confirmationText(counts: Counts): string {
  if (counts.lackingCredentialInNextWave === 0)
    return `turn off syncing for ${nextWaveText(counts)}, and confirm that it is off`;
  return `turn off syncing for ${nextWaveText(counts)}, confirm that it is off, and supply credentials`;
}

function nothingReady(state: MigrationState): WaitingFor {
  const missing = suppliesMissing(state, isChecking(state));
  if (missing) return missing;
  if (isChecking(state)) return noOne('the changed details are being checked');
  return support('no company is left to move: add companies, or cancel the migration');
}

/**
 * Returns everything that companies with these counts need before they can be moved, and who can supply it; null if
 * they need nothing.
 *
 * @param isOverdue true if unconfirmed companies have to be confirmed, although other companies can be moved
 */
export function suppliesMissing(
  { counts, route }: Pick<MigrationState, 'counts' | 'route'>,
  isBeingChecked: boolean,
  isOverdue = false,
): WaitingFor | null {
  const { unconfirmed, withoutCredential, heldBack, outcomeUnknown } = counts;
  const companies = (count: number): string => counted(count, 'company');
  const tasks = [
    { role: 'client', count: withoutCredential, what: `supply credentials for ${withoutCredentialText(counts)}` },
    {
      role: 'client',
      // Also names a later wave ("then ..."), although it keeps syncing until the companies before it have credentials.
      count: isOverdue || onlyDeferredLeft(counts) ? unconfirmed : 0,
      what: confirmationText(counts),
    },
    {
      role: 'client',
      count: isBeingChecked ? 0 : heldBack,
      what: `correct or leave out ${companies(heldBack)} that cannot be moved as ${heldBack === 1 ? 'it is' : 'they are'}`,
    },
    {
      role: route === 'managed' ? 'support' : 'client',
      count: outcomeUnknown,
      what: `decide what to do about ${companies(outcomeUnknown)} with an unknown outcome`,
    },
  ] as const;
  const open = tasks.filter(({ count }) => count > 0);
  const isLater = unconfirmed > 0 && !isOverdue && !isConfirmationDue(counts);
  const roles = [...new Set(open.map(({ role }) => role))];
  if (roles.length === 0) return null;
  const textOf = (role: Role): string => {
    const own = open.filter((task) => task.role === role);
    const texts = own.map((task) => `${task === tasks[1] && isLater ? 'then ' : ''}${task.what}`).join('; ');
    return roles.length === 1 ? texts : `${roleText(role)} must ${texts}`;
  };
  return { roles, what: roles.map(textOf).join('; ') };
}

const approveStartText = ({ startAt }: Proposal): string => `approve the start at ${momentText(startAt)}`;

/**
 * Returns what people have to do, or the work in progress: `waitingFor.what`, brought up to date with `now` and the
 * given counts, because the workflow has no clock, and its counts can be older. Leaves out or replaces the time of a
 * start or of the next attempt if it has passed. Describes the failed call of an outage in words. If no window is open
 * at the proposed start, adds when the first window opens, because no move begins before that.
 *
 * @param now ISO 8601, UTC
 */
export function currentTask(
  progress: Planned & RemainingMoves & { readonly waitingFor: WaitingFor; readonly outage: Outage | null },
  now: string,
): string {
  if (isMoveOfRemaining(progress.waitingFor)) return remainingText(progress, now);
  const { proposal, waitingFor, outage } = progress;
  const what = withoutPastStart(waitingFor.what, progress.windows, now);
  if (outage !== null && what === onHoldText(outage))
    return onHoldText({ ...outage, why: inSupportWords(outage.why) }, now);
  if (proposal === null || what !== approveStartText(proposal)) return what;
  const opening = openingAfterStart(progress, now);
  if (proposal.startAt > now)
    return opening === null ? what : `${what}; moves begin at ${momentText(opening.opensAt)}, when a window opens`;
  return soonStartText(opening);
}

/** Asks to approve a start that has passed. */
export function soonStartText(opening: WindowOccurrence | null): string {
  const butNotBefore = opening === null ? '' : `, but not before the window opens at ${momentText(opening.opensAt)}`;
  return `approve the start, which is as soon as everything is ready${butNotBefore}`;
}
