/** Prints the view of a migration: what is happening, what the client has to do, and what it can decide. */
import type { MigrationView } from '../../portal/contract/migration-view';
import type { PortalSession } from '../../portal/contract/session';
import { oldViewText, type Action, type MigrationAnswer } from '../../portal/client/api';
import { CONFIRM_KEY, headlineFor, namedFor, VIEWER_NOTICE } from '../../portal/client/personal-texts';
import { clientStateWords } from '../../domain/companies/company-state';
import { isEnding } from '../../domain/migration/migration-state';
import { isOver, stageOf } from '../../domain/migration/terminated';
import { counted, spanText, withMoments } from '../../domain/text/sentences';
import { printSteps } from '../reporting/steps-table';
import { environmentFor } from '../suggestions/remedy-commands';
import type { Output } from '../terminal/output';
import { localTime } from '../terminal/times';

/** Converts the times in a text of the portal, such as `2026-11-20 23:55 UTC`, to the reader's zone. */
export const inReadersZone = (text: string): string => withMoments(text, (at) => localTime(at));

/** How the commands of the view's decisions are written. */
interface CommandTexts {
  /** Returns a command as the person types it. */
  readonly suggest: (command: string) => string;
  /** Adds the migration to a command if the person has to name the migration. */
  readonly withMigration: (command: string) => string;
}

/** Returns the text about a view that no worker has written for a while; null if the view is current or final. */
export function oldText({ view, writtenAt, isCurrent }: MigrationAnswer): string | null {
  // The view of a migration that has ended is final, so it cannot be out of date.
  if (isCurrent || isEnding(view.state)) return null;
  return oldViewText(`This view is from ${localTime(writtenAt)}.`, view.state);
}

/**
 * Returns whether support has to confirm the person's key before the person can decide. Once the migration has ended, a
 * key needs no confirmation, because no decision is possible.
 */
export const mustConfirmKey = (
  { publicKey, isKeyConfirmed }: Pick<PortalSession, 'publicKey' | 'isKeyConfirmed'>,
  { state }: Pick<MigrationView, 'state'>,
): boolean => publicKey !== null && !isKeyConfirmed && !isOver(state);

/** The rights of the person who reads the view. */
interface Reader {
  readonly canDecide: boolean;
  readonly isViewer: boolean;
  /** True if support has to confirm the person's key first. Default false. */
  readonly mustConfirm?: boolean;
}

export function printView(
  output: Output,
  answer: MigrationAnswer,
  { canDecide, isViewer, mustConfirm = false, ...commands }: CommandTexts & Reader,
): void {
  const { view } = answer;
  const old = oldText(answer);
  output.line(`${output.styled('bold', view.migrationId)}  ${inReadersZone(headlineFor(view.headline, mustConfirm))}`);
  if (old !== null) output.line(output.styled('yellow', old));
  for (const notice of view.notices) output.line(output.styled('yellow', inReadersZone(notice)));
  if (isViewer && !isOver(view.state)) output.line(VIEWER_NOTICE);
  printTask(output, view, { isViewer, mustConfirm });
  output.line();
  if (view.steps.length > 1) {
    printSteps(output, view.steps, isOver(view.state));
    output.line();
  }
  printFacts(output, view);
  if (canDecide) printActions(output, view, commands);
}

export const taskLabel = (isViewer: boolean): string =>
  isViewer ? 'What the client needs to do:' : 'What you need to do:';

/** Prints the task of the client. A viewer is told that the task is the client's, because a viewer cannot act. */
function printTask(
  output: Output,
  { task, next }: MigrationView,
  { isViewer, mustConfirm }: { readonly isViewer: boolean; readonly mustConfirm: boolean },
): void {
  if (task === null && mustConfirm) output.line(`${output.styled('bold', taskLabel(isViewer))} ${CONFIRM_KEY}`);
  else if (task === null) output.line(`Nothing for ${isViewer ? 'the client' : 'you'} to do now.`);
  else {
    output.line(`${output.styled('bold', taskLabel(isViewer))} ${inReadersZone(task.what)}`);
    for (const problem of task.problems ?? []) output.line(`  ${output.styled('red', '✗')} ${inReadersZone(problem)}`);
    output.line(`  ${task.why}`);
    if (task.by !== null) {
      const ifLate = task.ifLate === undefined ? '' : `. ${inReadersZone(task.ifLate)}`;
      output.line(`  Deadline: ${localTime(task.by)}${ifLate}`);
    }
  }
  if (next !== null) output.line(`What comes next: ${inReadersZone(namedFor(isViewer ? 'viewer' : 'client', next))}`);
}

/** Returns the text after the label `Companies: `, for example `3 of 25 moved, 2 moving`. */
export function countsText({ counts, state }: Pick<MigrationView, 'counts' | 'state'>): string {
  const parts: readonly (readonly [number, string])[] = [
    [counts.moving, clientStateWords(stageOf(state)).moving],
    [counts.notMovedYet, 'not moved yet'],
    [counts.mustReconnect, 'must reconnect'],
    [counts.notMoved, 'not moved'],
    [counts.leftOut, 'left out'],
  ];
  const others = parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `, ${count.toLocaleString('en-US')} ${what}`);
  if (counts.total === 0) return isOver(state) ? 'none' : 'none yet';
  return `${counts.moved.toLocaleString('en-US')} of ${counts.total.toLocaleString('en-US')} moved${others.join('')}`;
}

function printFacts(output: Output, view: MigrationView): void {
  const { counts, start, end, windows, firstCompany, details, callbackUrl, contact } = view;
  output.line(`Companies: ${countsText(view)}`);
  if (start !== null)
    output.line(`Start: ${localTime(start.at)}${start.isAgreed ? '' : `, proposed by ${start.by}, not agreed yet`}`);
  if (windows !== null && counts.notMovedYet > 0) output.line(`Moves can begin only ${windows}`);
  if (end !== null)
    output.line(
      `Expected end: ${spanText(localTime(end.earliest), localTime(end.latest))}, ${inReadersZone(end.basis)}`,
    );
  if (firstCompany !== null && firstCompany.evidence.length > 0) {
    const failed = firstCompany.evidence.filter(({ ok }) => !ok);
    const passed = firstCompany.evidence.length - failed.length;
    output.line(`First company ${firstCompany.reference}: ${counted(passed, 'check')} passed, ${failed.length} failed`);
    for (const { label, result } of failed) output.line(`  ${output.styled('red', '✗')} ${label}: ${result}`);
  }
  for (const problem of problemsElsewhere(view)) output.line(`${output.styled('red', '✗')} ${inReadersZone(problem)}`);
  for (const warning of details.warnings) output.line(`${output.styled('yellow', '!')} ${inReadersZone(warning)}`);
  if (callbackUrl !== null) output.line(`Callback URL for your application: ${callbackUrl}`);
  output.line(`Your contact: ${contact}`);
}

function problemsElsewhere({ task, details }: MigrationView): readonly string[] {
  return details.problems.filter((problem) => !(task?.problems ?? []).includes(problem));
}

function printActions(output: Output, view: MigrationView, { suggest, withMigration }: CommandTexts): void {
  const offered = view.actions.flatMap((action) => {
    const command = commandOf(action, view);
    return command === null ? [] : [{ ...action, command: withMigration(command) }];
  });
  if (offered.length === 0) return;
  output.line();
  output.line(`${output.styled('bold', 'What you can decide')} with ${suggest('<command>')}:`);
  output.table(
    ['', { title: 'Command', unbroken: true }, 'Decision'],
    offered.map(({ title, isExpected, command }) => [isExpected ? { text: '*', style: 'yellow' } : '', command, title]),
  );
  if (offered.some(({ isExpected }) => isExpected)) output.line('* The migration is waiting for this decision.');
}

const COMMANDS: Readonly<Record<string, string>> = {
  manifestSupplied: 'manifest manifest.csv',
  proposeTime: 'propose-time <time>',
  adjust: 'adjust --window <hours>',
  confirmSyncDisabled: 'confirm-sync-disabled --all',
  credentialsSupplied: 'credentials credentials.csv',
  replaceCredential: 'replace-credential credentials.csv',
  exclude: 'exclude <references> --reason "why"',
  skip: 'skip <references> --reason "why"',
  retry: 'retry --all',
  relink: 'relink --all',
  pause: 'pause --reason "why"',
  resume: 'resume',
  cancel: 'cancel --reason "why"',
};

/** Returns the command that makes a decision, without `ferry`; null if only the page can make it. */
export function commandOf(
  { message, step }: Pick<Action, 'message' | 'step'>,
  { platform, application }: Pick<MigrationView, 'platform' | 'application'>,
): string | null {
  if (message === 'approve') return step === 'complete-migration' ? 'sign-off' : `approve ${step ?? ''}`.trim();
  if (message === 'reject') return `reject ${step ?? ''} --reason "why"`.replace('  ', ' ');
  if (message === 'applicationSupplied')
    return `application --client-id <id> --environment ${environmentFor(platform.key, application)}`;
  return COMMANDS[message] ?? null;
}
