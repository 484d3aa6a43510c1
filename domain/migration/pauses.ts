/**
 * The pauses of a migration: at most one automatic pause because of a problem, and one pause by each side. The
 * automatic pause is kept apart from the pauses by people, because in the managed route, a resume by the client lifts
 * only the pauses by people.
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';
import { isOfApplication } from '../companies/finding';
import { isIsolated, shownStopText, type StopReason } from '../companies/failures';
import { momentText, oneLine } from '../text/sentences';
import type { MigrationState, Pause } from './migration-state';
import { canonicalJson } from './signatures';
import type { Role } from './steps';

type Paused = Pick<MigrationState, 'pause' | 'pausesByPeople'>;

/** Returns the automatic pause; null if the migration has not paused itself. */
export function automaticPause({ pause }: Pick<Paused, 'pause'>): Pause | null {
  return pause !== null && pause.stopReason !== null ? pause : null;
}

/**
 * Returns whether a managed migration without a first company has paused itself because the platform rejects the
 * client's application. Another application can then be supplied. False in histories of earlier versions, which did not
 * accept another application at that point.
 */
export function isApplicationRejected(state: Pick<MigrationState, 'pause' | 'replacesRejected'>): boolean {
  return state.replacesRejected === true && automaticPause(state)?.stopReason === 'application-refused';
}

/** Returns what to do before the migration resumes from an automatic pause. Contains no reason that a person wrote. */
export function resumptionTask(state: MigrationState, reason: StopReason, pause: Pause): string {
  return reason === 'application-refused' && isApplicationCorrected(state, pause)
    ? RESUME_CORRECTED
    : shownStopText(reason, pause.reason);
}

/** Returns whether an application was supplied since the pause, and the check of the details has no problem with it. */
function isApplicationCorrected(
  { outcomes, preflight, changes, changesChecked }: MigrationState,
  pause: Pause,
): boolean {
  return (
    changes <= changesChecked &&
    outcomes.some(({ applied, text, at }) => applied && at > pause.at && text.startsWith(APPLICATION_IS)) &&
    !preflight?.problemCodes.some(isOfApplication)
  );
}

/** The beginning of the outcome of a decision that supplies an application. */
export const APPLICATION_IS = 'the application is ';

const RESUME_CORRECTED = 'the application was supplied again after the platform rejected it; resume the migration';

/** Returns whether a migration is paused because of an application that was supplied again since. */
export const isForCorrectedApplication = ({ what }: { readonly what: string }): boolean =>
  what.startsWith(RESUME_CORRECTED);

/** Returns the pauses by people, oldest first. An earlier version allowed only one, and kept it in `pause`. */
export function pausesByPeople({ pause, pausesByPeople: others }: Paused): readonly Pause[] {
  return [...(pause !== null && pause.stopReason === null ? [pause] : []), ...(others ?? [])];
}

/** Returns all pauses, the automatic pause first. */
export function pausesOf(state: Paused): readonly Pause[] {
  return [automaticPause(state) ?? [], ...pausesByPeople(state)].flat();
}

export function isPaused(state: Paused): boolean {
  return pausesOf(state).length > 0;
}

/**
 * Returns whether companies that have begun to move are finished during these pauses. They are not if the migration has
 * paused itself because of the API key, the account, or a ledger that is behind.
 */
export function canFinish(pauses: readonly Pause[]): boolean {
  return pauses.every(
    ({ stopReason }) => stopReason === null || stopReason === 'too-many-failures' || isIsolated(stopReason),
  );
}

/** Returns the digest of the pauses that a person reviews before resuming: 32 hexadecimal digits. */
export function digestOfPauses(pauses: readonly Pause[]): string {
  const about = pauses.map(({ by, role = null, stopReason, reason, at }) => ({ by, role, stopReason, reason, at }));
  return bytesToHex(sha256(canonicalJson({ pauses: about }))).slice(0, 32);
}

/** Returns the pauses by people of the other side. If a pause has no role, compares the name instead. */
export function pausesOfOthers(pauses: readonly Pause[], role: Role, by: string): readonly Pause[] {
  return pauses.filter((each) => each.stopReason === null && (each.role ? each.role !== role : each.by !== by));
}

/** Maximum length of the text about a pause, in characters. */
export const MAX_PAUSE_LENGTH = 1_000;

/** Returns who has paused, with the role: `Cleo (client)`. On one line. */
export function pauserText({ by, role }: Pause): string {
  return `${oneLine(by ?? 'an unknown person', 200)}${role ? ` (${role})` : ''}`;
}

/** Returns who paused, since when and why, on one line. For an automatic pause, also what to do about it. */
export function pauseText(pause: Pause): string {
  const { stopReason, reason, at } = pause;
  const who = stopReason === null ? `by ${pauserText(pause)}` : 'automatically';
  const why = stopReason === null ? reason : shownStopText(stopReason, reason);
  return oneLine(`${who} since ${momentText(at)}: ${why}`, MAX_PAUSE_LENGTH);
}

/**
 * Returns whether no move begins because the windows were paused when the migration last looked for a window. It does
 * not look during a pause of the migration.
 */
export function areWindowsPaused({
  schedule,
  window,
  openedWindow,
}: Pick<MigrationState, 'schedule' | 'window' | 'openedWindow'>): boolean {
  return schedule === 'paused' && openedWindow?.opensAt !== window?.opensAt;
}
