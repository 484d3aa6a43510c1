/** Watches a migration and shows its progress: on a terminal as a block that is redrawn, elsewhere as log lines. */
import {
  connectionErrorText,
  rootConnectionError,
  NoSuchMigration,
  isWorkflowOpen,
  type MigrationClient,
} from '../../client';
import { actingText } from '../../domain/progress/acting-roles';
import { clientCounts } from '../../domain/companies/counts';
import { isEnding } from '../../domain/migration/migration-state';
import { isOver } from '../../domain/migration/terminated';
import { ledgerBehindTask } from '../../domain/progress/ledger-behind';
import { meanwhileTask } from '../../domain/progress/meanwhile';
import { windowAt } from '../../domain/progress/remaining-moves';
import { taskForSupport } from '../../domain/progress/four-eyes';
import { headline, pausedTexts, reopenedText, type Progress } from '../../domain/progress/progress';
import { counted } from '../../domain/text/sentences';
import { listUnconfirmedKeys, readOverviews, type Confirmers } from '../../store';
import {
  companyLines,
  replacedText,
  stepLines,
  statusLines,
  type MigrationSnapshot,
} from '../dashboard/migration-lines';
import { inFlightIn } from '../shared/consequences';
import type { Context } from '../shared/context';
import type { FollowingClient } from '../connections/follow-stack';
import { readProgressInTime, withLedgerLimit, withLedgerState } from '../connections/ledger-limit';
import { createInterruptibleSleep } from '../connections/waiting';
import type { CommandResult } from '../terminal/output';
import { openProgressBar } from '../terminal/progress-bar';
import { isForWindow, NOT_PAUSED, readSchedule, windowsPausedText, withPausedWindows } from './paused-windows';
import { readConfirmersOf } from './steps-table';
import { meanwhileText } from './migration-summary';
import type { StyledLine } from '../terminal/styled-text';
import { openLiveBlock } from '../terminal/live-block';
import type { TerminalStream } from '../terminal/terminal';
import { clockTime, inLocalTime } from '../terminal/times';

const POLL_EVERY_MS = 250;
/** After a slow poll, the pause is this many times as long as the poll, to limit the load on the servers. */
const PAUSE_PER_POLL = 2;
const ANSWER_WITHIN_MS = 5_000;

/** The state of the migration when watching ended. */
export interface WatchEnd {
  readonly progress: Progress;
  /** The people whose keys support has to confirm. */
  readonly keysToConfirm: readonly string[];
  readonly ledgerBehind: boolean;
  readonly print: CommandResult['print'];
}

export interface WatchOptions {
  /** True to stop also when a person must act. */
  readonly untilDecision?: true;
}

/**
 * Watches a migration until it has ended or the user presses Ctrl-C, and with `untilDecision` until a person must act.
 * If Temporal, the database or a worker does not answer after the first poll, shows the failure and retries.
 *
 * @throws the error of the first poll, NoSuchMigration at any time, and the error of `followStack`
 */
export async function watchMigration(
  { terminal, output }: Context,
  { ferry, followStack }: Pick<FollowingClient<MigrationClient>, 'ferry' | 'followStack'>,
  migrationId: string,
  { untilDecision }: WatchOptions,
): Promise<WatchEnd> {
  const interrupted = terminal.interruption();
  const { sleep, wake } = createInterruptibleSleep();
  interrupted.addEventListener('abort', wake, { once: true });
  const view = output.json || output.quiet ? null : openView(terminal.stdout);
  let latest: WatchSnapshot | null = null;
  try {
    for (;;) {
      const startedAt = Date.now();
      try {
        latest = await poll(ferry, migrationId);
        view?.show(latest, null);
        if (hasEnded(latest) || (untilDecision && needsPerson(latest))) return ended(latest);
      } catch (error) {
        if (latest === null || error instanceof NoSuchMigration) throw error;
        view?.show(latest, connectionErrorText(error));
      }
      if (interrupted.aborted && latest) return stoppedByUser(latest);
      await sleep(Math.max(POLL_EVERY_MS, (Date.now() - startedAt) * PAUSE_PER_POLL));
      if (!interrupted.aborted) await followStack();
    }
  } finally {
    view?.close();
  }
}

/** The result of one poll. */
interface WatchSnapshot extends MigrationSnapshot {
  /** The people who have confirmed that syncing is off; null without a ledger, or until step 4 has ended. */
  readonly confirmers: Confirmers | null;
  /** False once the workflow has ended. */
  readonly isOpen: boolean;
  readonly at: Date;
}

/** @throws the error that best explains why something does not answer */
async function poll(ferry: MigrationClient, migrationId: string): Promise<WatchSnapshot> {
  const answered = readProgressInTime(ferry, migrationId, ANSWER_WITHIN_MS).then((read) =>
    withLedgerState(ferry, read),
  );
  const current = answered.then(({ progress }) => progress);
  const readings = [
    current.then((progress) =>
      ferry.temporal.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => readSchedule(ferry, progress)),
    ),
    ferry.db ? withLedgerLimit(readOverviews(ferry.db, [migrationId])) : Promise.resolve([]),
    ferry.temporal.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => isWorkflowOpen(ferry, migrationId)),
    current.then(({ steps }) => (ferry.db ? readConfirmersOf(ferry.db, { migrationId, steps }) : null)),
    ferry.db ? withLedgerLimit(listUnconfirmedKeys(ferry.db, migrationId)) : Promise.resolve([]),
    answered,
  ] as const;
  const results = await Promise.allSettled(readings);
  const errors = results.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  if (errors.length > 0) throw rootConnectionError(errors);
  const [{ progress, schedule }, [overview = null], isOpen, confirmers, keys, { ledgerBehind }] =
    await Promise.all(readings);
  const keysToConfirm = isOver(progress.state) ? [] : keys.map(({ person }) => person);
  return { progress, schedule, keysToConfirm, ledgerBehind, overview, confirmers, isOpen, at: new Date() };
}

/** A migration that has ended still finishes the companies that are being moved. */
function hasEnded({ progress, isOpen }: WatchSnapshot): boolean {
  if (progress.state === 'terminated') return true;
  return isEnding(progress.state) && !(isOpen && inFlightIn(progress) > 0);
}

/**
 * Returns whether a person must act. This is the case if the migration is waiting for a person, if support must
 * reconcile the ledger, or if the migration waits for a window that does not open, because the windows are paused.
 * Until the next window opens, it is also the case if no company is moving and there is a task for a person, for
 * example to supply a credential. While companies are moving, the view shows such a task, but `ferry watch` continues.
 */
function needsPerson({ progress, schedule = NOT_PAUSED, ledgerBehind = false, at }: WatchSnapshot): boolean {
  if (ledgerBehind || progress.waitingFor.roles.length > 0) return true;
  if (schedule.windowsPaused !== null && isForWindow(progress, schedule, at)) return true;
  const now = at.toISOString();
  // Null until the migration first looks for a window, in step 5 or 6.
  const window = progress.window && windowAt(progress, now);
  const isBetweenWindows = window !== null && window.opensAt > now;
  return isBetweenWindows && inFlightIn(progress) === 0 && meanwhileTask(progress) !== null;
}

function ended(snapshot: WatchSnapshot): WatchEnd {
  const { progress, schedule = NOT_PAUSED, keysToConfirm = [], ledgerBehind = false, at } = snapshot;
  const { migrationId, state } = progress;
  const text = `${migrationId}: ${inLocalTime(headline(progress))}`;
  const close = `To close the migration, run: ferry sweep --close ${migrationId}`;
  const windowsPaused = windowsPausedText(progress, schedule, at);
  const tasks =
    state === 'terminated'
      ? [close]
      : ledgerBehind
        ? [`Waiting for support: ${ledgerBehindTask(migrationId)}`]
        : [waitingText(progress), meanwhileText(progress, keysToConfirm), windowsPaused];
  return {
    progress,
    keysToConfirm,
    ledgerBehind,
    print: (output) => {
      output.line(text);
      for (const task of tasks) if (task !== null) output.line(task);
    },
  };
}

function waitingText(progress: Progress): string | null {
  const { roles } = progress.waitingFor;
  if (isOver(progress.state) || roles.length === 0) return null;
  return `Waiting for ${actingText(progress)}: ${inLocalTime(taskForSupport(progress, new Date().toISOString()))}`;
}

function stoppedByUser({ progress, keysToConfirm = [], ledgerBehind = false }: WatchSnapshot): WatchEnd {
  const text = `Stopped watching ${progress.migrationId}. This does not affect the migration.`;
  return { progress, keysToConfirm, ledgerBehind, print: (output) => output.line(text) };
}

interface View {
  /** @param trouble why the snapshot is out of date; null if it is current */
  show(snapshot: WatchSnapshot, trouble: string | null): void;
  /** Leaves the last content on the screen. Must be called, even after Ctrl-C. */
  close(): void;
}

function openView(stream: TerminalStream): View {
  return stream.isTTY ? openBlockView(stream) : openLogView(stream);
}

function openBlockView(stream: TerminalStream): View {
  const block = openLiveBlock(stream);
  return {
    show: (snapshot, trouble) => block.draw(blockLines(snapshot, trouble, stream.columns ?? 80)),
    close: () => block.close(),
  };
}

function blockLines(snapshot: WatchSnapshot, trouble: string | null, columns: number): readonly StyledLine[] {
  const now = new Date();
  const { progress, at } = snapshot;
  const steps = stepLines(progress, snapshot.confirmers, columns - 1, now);
  return [
    [{ text: progress.migrationId, style: 'bold' }, `  ${clockTime(now)}`],
    // Leaves the last column free, because some terminals would wrap the line.
    ...statusLines(snapshot, columns - 1, now),
    [],
    ...steps,
    ...(steps.length === 0 ? [] : [[]]),
    ...companyLines(snapshot, now, columns - 1),
    ...(trouble === null ? [] : [[{ text: outOfDateText(at, trouble), style: 'yellow' } as const]]),
  ];
}

function openLogView(stream: TerminalStream): View {
  const bar = openProgressBar(stream, 'moved');
  return {
    show: (snapshot, trouble) => {
      const { counts } = snapshot.progress;
      const note = trouble === null ? logText(snapshot) : outOfDateText(snapshot.at, trouble);
      bar.update(counts.moved, counts.total, note);
    },
    close: () => bar.close(),
  };
}

function logText(snapshot: WatchSnapshot): string {
  const { progress, schedule = NOT_PAUSED, keysToConfirm = [], ledgerBehind = false } = snapshot;
  const { migrationId, waitingFor, counts } = progress;
  const now = new Date();
  const {
    'must-reconnect': mustReconnect,
    'not-moved': notMoved,
    'left-out': leftOut,
  } = clientCounts(counts, isOver(progress.state));
  const replaced = replacedText(progress);
  const exceptions = [
    ...(mustReconnect > 0 ? [`${mustReconnect} must reconnect, `] : []),
    ...(notMoved > 0 ? [`${notMoved} not moved, `] : []),
    ...(leftOut > 0 ? [`${leftOut} left out, `] : []),
    ...(replaced === null ? [] : [`${replaced}, `]),
  ].join('');
  if (ledgerBehind)
    return `${inLocalTime(headline(progress))}: ${exceptions}waiting for support: ${ledgerBehindTask(migrationId)}`;
  const who = waitingFor.roles.length === 0 ? '' : `waiting for ${actingText(progress)}: `;
  const paused = pausedTexts(progress)
    .map((text) => `paused ${inLocalTime(text)}; `)
    .join('');
  const rejection = reopenedText(progress);
  const reopened = rejection === null ? '' : `${inLocalTime(rejection)}; `;
  const windowsPaused = windowsPausedText(progress, schedule, now);
  const what = inLocalTime(taskForSupport(withPausedWindows(progress, schedule, now), now.toISOString()));
  const task = windowsPaused !== null && isForWindow(progress, schedule, now) ? [] : [`${who}${what}`];
  const others = [meanwhileText(progress, keysToConfirm), windowsPaused].flatMap((text) => text ?? []);
  const tasks = [...task, ...others.map((text) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`)].join('; ');
  if (isEnding(progress.state) && inFlightIn(progress) > 0)
    return `${inLocalTime(headline(progress))}: ${exceptions}${counted(inFlightIn(progress), 'company')} still being moved or checked`;
  return `${inLocalTime(headline(progress))}: ${exceptions}${paused}${reopened}${tasks}`;
}

function outOfDateText(at: Date, trouble: string): string {
  return `last read at ${clockTime(at)}; ${trouble}; retrying automatically`;
}
