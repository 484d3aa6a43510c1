/**
 * Prints one migration, as briefly as an 80x24 terminal requires: steps, companies, end, evidence and next commands.
 */
import { actingText } from '../../domain/progress/acting-roles';
import { clientStateWords, type ClientState } from '../../domain/companies/company-state';
import { clientCounts } from '../../domain/companies/counts';
import type { ApplicationsOfMoved } from '../../domain/preflight/applications';
import { isOver, stageOf } from '../../domain/migration/terminated';
import { stepNumber, type Step } from '../../domain/migration/steps';
import type { MigrationLimits } from '../../domain/planning/limits';
import type { ChosenFirst } from '../../domain/progress/go-nogo-facts';
import {
  endedByText,
  headline,
  pausedTexts,
  pausesIn,
  reopenedText,
  type Progress,
} from '../../domain/progress/progress';
import { signingText } from '../../domain/migration/approvers';
import { canFinish } from '../../domain/migration/pauses';
import { fourEyesTexts } from '../../domain/progress/four-eyes';
import {
  delayedTryText,
  onceTheyFollow,
  resumptionText,
  retriedText,
  type TryTimes,
} from '../../domain/progress/retried';
import { NONE_BEFORE_RECONCILED } from '../../domain/progress/ledger-behind';
import { meanwhileTask, withKeysToConfirm } from '../../domain/progress/meanwhile';
import { signedBeforeText, signOffAgainText, type ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';
import { currentTask } from '../../domain/progress/waiting-for';
import { counted, sentence } from '../../domain/text/sentences';
import { reconnectionsAfterEnd } from '../../presentation/wording/client-page';
import type { Confirmers, Interrupted } from '../../store';
import type { NextCommand } from '../suggestions/remedy-commands';
import { otherLedgerAdvice } from '../suggestions/stack-advice';
import { printFirstCompany, printPreflight, printReplacedApplications } from '../shared/results';
import { printEnd, printLimits, type ForecastFindings } from './migration-end';
import { isForWindow, windowsPausedText, withPausedWindows } from './paused-windows';
import { printSteps, stepRow } from './steps-table';
import { printDetails, problemsToList, withoutProblems } from './supplied-details';
import type { Output } from '../terminal/output';
import { inLocalTime, localTime } from '../terminal/times';

/** The deferred companies, which are retried automatically. */
export interface Deferred {
  readonly companies: number;
  /** The references of some of them. */
  readonly references: readonly string[];
  /** The earliest end of a delay of a company whose credential counts; null if there is no such company. */
  readonly nextTryAt: Date | null;
}

/** Facts about a migration that its progress does not contain. */
export interface MigrationFindings extends ForecastFindings {
  /** Null without a ledger. */
  readonly interrupted: Interrupted | null;
  /** The limits in effect. Null unless a ledger contains the migration. */
  readonly limits: MigrationLimits | null;
  /** Null without a ledger. */
  readonly deferred: Deferred | null;
  readonly ledgerBehind: boolean;
  /** True if there is a ledger, but the migration is not in it. */
  readonly notInLedger: boolean;
  /** The errors of activities and workflow tasks that Temporal retries. */
  readonly retriedErrors: readonly string[];
  /** The same errors in words, with the times of the next attempts. */
  readonly retryTexts: readonly string[];
  readonly next: readonly NextCommand[];
  /** The link that `clientPageOf` returns; null if there is none. */
  readonly clientPage: string | null;
  /** Companies whose application was replaced after they were connected. Null without a ledger. */
  readonly applications: ApplicationsOfMoved | null;
  /** Fingerprint of the migration key. Null without a ledger or a vault, or if the provider has not signed the key. */
  readonly keyFingerprint: string | null;
  readonly chosenFirst: ChosenFirst | null;
  /** The people whose keys support has to confirm. */
  readonly keysToConfirm: readonly string[];
  /** The people who have confirmed that syncing is off, which ends step 4. Null without a ledger. */
  readonly confirmedBy: Confirmers | null;
  /** The sign-offs that still count, and what has changed since. Null without a ledger. */
  readonly changedSinceSignOff: readonly ChangedSinceSignOff[] | null;
}

const LEDGER_BEHIND = 'The ledger is out of date, probably because it was restored from a backup.';

/** Says what follows from a ledger that is out of date or another one. After the end, no company moves in any case. */
function ledgerText(notInLedger: boolean, hasEnded: boolean): string {
  if (notInLedger) return `This migration is in Temporal, but not in the ledger. ${sentence(otherLedgerAdvice())}.`;
  return `${LEDGER_BEHIND} ${hasEnded ? 'Until it is reconciled, the numbers of companies can be wrong.' : `${sentence(NONE_BEFORE_RECONCILED)}.`}`;
}

/**
 * Prints a migration.
 *
 * @param inFull true to list every check of the first company and all results of the check of the supplied details
 */
export function printMigration(
  output: Output,
  progress: Progress,
  { interrupted, deferred, applications, limits, ...found }: MigrationFindings,
  { inFull, now }: { readonly inFull: boolean; readonly now: Date },
): void {
  const { migrationId } = progress;
  const { windowsPaused, notInLedger, next, clientPage, keyFingerprint } = found;
  const ledgerBehind = found.ledgerBehind || notInLedger;
  const scheduled = withPausedWindows(progress, found, now);
  const { areWindowsPaused = false } = scheduled;
  output.line(`${output.styled('bold', migrationId)}  ${inLocalTime(headline(progress))}`);
  const ended = endedByText(progress);
  if (ended !== null) output.line(`${sentence(progress.state)} ${inLocalTime(ended)}`);
  const hasEnded = isOver(progress.state);
  for (const paused of hasEnded ? [] : pausedTexts(progress)) output.line(`Paused ${inLocalTime(paused)}`);
  const reopened = reopenedText(progress);
  if (reopened !== null) output.line(output.styled('yellow', inLocalTime(reopened)));
  const changes = (ledgerBehind ? null : found.changedSinceSignOff) ?? [];
  for (const change of changes) {
    const text = hasEnded ? sentence(signedBeforeText(change)) : signOffAgainText(change, progress);
    output.line(output.styled('yellow', inLocalTime(text)));
  }
  const listed = ledgerBehind ? null : problemsToList(progress);
  if (ledgerBehind) output.line(output.styled('yellow', ledgerText(notInLedger, hasEnded)));
  else if (windowsPaused === null || !isForWindow(progress, found, now)) output.line(waitingText(scheduled, now));
  if (listed !== null) printPreflight(output, listed);
  const meanwhile = found.ledgerBehind ? null : meanwhileText(progress, found.keysToConfirm);
  if (meanwhile !== null) output.line(output.styled('yellow', meanwhile));
  const paused = found.ledgerBehind ? null : windowsPausedText(progress, found, now);
  if (paused !== null) output.line(output.styled('yellow', paused));
  for (const failure of found.retryTexts) output.line(output.styled('yellow', `Retrying: ${failure}`));
  // The cause of an automatic pause, and what to do about it, need the room of the steps. The first line names the
  // step.
  const isPausedAutomatically = !hasEnded && (progress.pause?.stopReason ?? null) !== null;
  const hasSteps = progress.route !== 'self-service' && (inFull || !isPausedAutomatically);
  const isStep6WithWindows = !hasEnded && progress.step === 'complete-migration' && progress.windows.length > 0;
  // In step 6 with windows, a small terminal has no room for an empty line above the steps.
  if (!hasSteps || !isStep6WithWindows) output.line();
  if (hasSteps) {
    const rows = progress.steps.map((step) => stepRow(step, found.confirmedBy));
    // The line about the approvals takes the place of the empty line, because a small terminal has no room for both.
    if (!printSteps(output, rows, hasEnded)) output.line();
  }
  printCompanies(output, progress);
  const reconnections = ledgerBehind ? null : reconnectionsAfterEnd(progress, localTime);
  if (reconnections !== null) output.line(reconnections);
  if (interrupted) printInterrupted(output, progress, interrupted, ledgerBehind);
  if (deferred && !hasEnded) {
    const once = onceTheyFollow(resumptionText(progress, areWindowsPaused), progress, deferred);
    printDeferred(output, progress, { ...deferred, ...(ledgerBehind && { nextTryAt: null }), once }, now);
  }
  const retried = retriedText(scheduled, now.toISOString(), localTime);
  if (retried !== null && !ledgerBehind) output.line(retried);
  if (applications) printReplacedApplications(output, migrationId, applications);
  printDetails(output, progress, { inFull, isListed: listed !== null });
  printEnd(output, progress, found, now);
  if (limits !== null) printLimits(output, progress, limits);
  // With windows, during an automatic pause, or if outcomes have changed since a sign-off, the screen has no room for
  // the first company after its approval.
  const isShort = progress.windows.length > 0 || isPausedAutomatically || changes.length > 0;
  const hasRoom = inFull || progress.step !== 'complete-migration' || !isShort;
  if (hasRoom) printFirstCompany(output, progress, { inFull, how: '--evidence', now });
  if (found.chosenFirst !== null) printChosenFirst(output, found.chosenFirst);
  const signing = hasEnded ? null : signingText(progress.signing);
  if (signing !== null) output.line(signing);
  for (const text of hasEnded ? [] : fourEyesTexts(progress)) output.line(text);
  if (clientPage !== null) output.line(`Client's page: ${clientPage}`);
  if (keyFingerprint !== null && SUPPLIES_SECRETS.some((step) => step === progress.step))
    output.line(`Migration key: ${keyFingerprint}`);
  if (next.length > 0) {
    output.line();
    output.line(output.styled('bold', 'What to do next:'));
    for (const [index, { who, command, first, does }] of next.entries()) {
      // Several commands in a row can need the same action first. It is printed once.
      if (first !== undefined && first !== next[index - 1]?.first) output.line(`  first ${first}; then`);
      output.line(`  ${who}: ${command}`);
      if (does !== undefined) output.line(`      ${does}`);
    }
  }
}

function printChosenFirst(output: Output, { reference, notReady }: ChosenFirst): void {
  const text = `${reference} was chosen to go first`;
  output.line(notReady === null ? text : output.styled('yellow', `${text}, but cannot be moved: ${notReady}`));
}

/**
 * The steps in which the key's fingerprint is printed, because clients usually seal their secrets in these steps.
 */
const SUPPLIES_SECRETS = [
  'supply-details',
  'disable-syncing',
  'migrate-first-company',
] as const satisfies readonly Step[];

/**
 * Says who must act for some companies while others can be moved, or must confirm keys; null if no person must act.
 *
 * @param keysToConfirm the people whose keys support has to confirm
 */
export function meanwhileText(progress: Progress, keysToConfirm: readonly string[]): string | null {
  const task = withKeysToConfirm(meanwhileTask(progress), keysToConfirm);
  return task && `Meanwhile waiting for ${task.roles.join(' and ')}: ${task.what}`;
}

function waitingText(progress: Progress, now: Date): string {
  const { roles } = progress.waitingFor;
  const task = inLocalTime(currentTask(progress, now.toISOString()));
  // The problems follow in a list.
  const what = problemsToList(progress) === null ? task : withoutProblems(task);
  if (roles.length > 0) return `Waiting for ${actingText(progress)}: ${what}`;
  return sentence(what);
}

function printCompanies(output: Output, { migrationId, route, state, step, counts }: Progress): void {
  const byState = clientCounts(counts, isOver(state));
  const words = clientStateWords(stageOf(state));
  const others = (['moving', 'not-moved-yet', 'left-out'] as const satisfies readonly ClientState[])
    .filter((each) => byState[each] > 0)
    .map((each) => `, ${number(byState[each])} ${words[each]}`);
  if (counts.total === 0) output.line(`Companies: ${isOver(state) ? 'none' : 'none yet'}`);
  else output.line(`Companies: ${number(counts.moved)} of ${number(counts.total)} moved${others.join('')}`);

  // Once no company moves any more, companies that are held back or have an unknown outcome count as not moved.
  const { heldBack, outcomeUnknown } = counts;
  const ofUnknownOutcome =
    isOver(state) && outcomeUnknown > 0 ? ` (${number(outcomeUnknown)} of them with an unknown outcome)` : '';
  const exceptions = listed([
    [byState['must-reconnect'], words['must-reconnect']],
    [byState['not-moved'], words['not-moved'] + ofUnknownOutcome],
    [isOver(state) ? 0 : heldBack, 'held back until corrected or left out'],
    [isOver(state) ? 0 : outcomeUnknown, 'with an unknown outcome'],
  ]);
  const command = isOver(state) ? 'report' : 'exceptions';
  if (exceptions !== '') output.line(`  ${output.styled('yellow', exceptions)}: ferry ${command} ${migrationId}`);
  // After the end, no confirmation and no credential can be supplied any more.
  if (isOver(state)) return;
  const isBeforeConfirmations = route === 'managed' && stepNumber(step) < stepNumber('disable-syncing');
  const unconfirmed = isBeforeConfirmations ? 0 : counts.unconfirmed;
  if (unconfirmed > 0) output.line(`  ${number(unconfirmed)} without confirmation that syncing is off`);
  const { withoutCredential } = counts;
  if (withoutCredential > 0)
    output.line(`  ${number(withoutCredential)} without a usable credential: ferry exceptions ${migrationId}`);
}

const listed = (counts: readonly (readonly [number, string])[]): string =>
  counts.flatMap(([count, what]) => (count === 0 ? [] : [`${number(count)} ${what}`])).join(', ');

const number = (count: number): string => count.toLocaleString('en-US');

const ONE_INTERRUPTED = [
  'company was',
  'It continues automatically.',
  'If its credential may have been sent, the company continues automatically. Otherwise, it continues once the migration is resumed.',
  'It continues once the migration is resumed.',
  'It does not continue before the ledger is reconciled.',
] as const;

const SEVERAL_INTERRUPTED = [
  'companies were',
  'They continue automatically.',
  'Companies whose credential may have been sent continue automatically. All others continue once the migration is resumed.',
  'They continue once the migration is resumed.',
  'They do not continue before the ledger is reconciled.',
] as const;

function printInterrupted(
  output: Output,
  progress: Progress,
  { companies, inFlightUntil }: Interrupted,
  ledgerBehind: boolean,
): void {
  const { state } = progress;
  if (companies === 0 || isOver(state)) return;
  const texts = companies === 1 ? ONE_INTERRUPTED : SEVERAL_INTERRUPTED;
  const [were, continues, ifPaused, ifNoneFinishes, ifBehind] = texts;
  const inPause = canFinish(pausesIn(progress)) ? ifPaused : ifNoneFinishes;
  const next = ledgerBehind ? ifBehind : state === 'paused' ? inPause : continues;
  const until =
    inFlightUntil && ` A credential can still be in flight to the service until ${localTime(inFlightUntil)}.`;
  output.line(`${number(companies)} ${were} interrupted while being moved. ${next}${until ?? ''}`);
}

function printDeferred(
  output: Output,
  progress: Progress,
  { companies, references, nextTryAt, once }: Deferred & Pick<TryTimes, 'once'>,
  now: Date,
): void {
  if (companies === 0) return;
  const { migrationId, windows } = progress;
  const next = nextTryAt === null ? '' : `, ${delayedTryText(nextTryAt, { windows, once }, now, localTime)}`;
  const more = companies - references.length;
  const named = `${references.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`;
  output.line(`${counted(companies, 'company')} deferred${next}: ${named}`);
  output.line(`  To see why, and what you can do, run: ferry exceptions ${migrationId}`);
}
