/**
 * The dashboard (`ferry desk`): one live screen of all open migrations.
 *
 * The screen is a pure function (`frameOf`) of one state, the size of the terminal and the time. Only three things
 * change the state: a key (`handleKey`), a reading (`withReading`) and the result of a decision (`openDialogs`).
 */
import type { ReadStream } from 'node:tty';
import type { FollowStack } from '../connections/follow-stack';
import { createInterruptibleSleep, waitForAbort } from '../connections/waiting';
import { openFullScreen } from '../terminal/full-screen';
import { openKeyboard } from '../terminal/keyboard';
import { openDialogs, type DialogContext } from './dialogs';
import { frameOf, lastTextTop, visibleRowCount } from './frame';
import { handleKey, type RequestedDecision } from './keys';
import { openReader } from './reader';
import { INITIAL_STATE, visibleRows, selectedRow, withReading, type DashboardState } from './state';

export interface DashboardOptions extends DialogContext {
  readonly keyboard: ReadStream;
  /** Connects again if the running stack has other addresses than before. */
  readonly followStack: FollowStack;
}

const READ_INTERVAL_MS = 1_000;
/** After a slow reading, the pause is this many times as long as the reading, to limit the load on the servers. */
const PAUSE_PER_READING = 4;
/**
 * The pause after a failed reading. Does not depend on how long the reading took, because that can include the wait for
 * a server that did not answer. Short, so that the screen soon names the server that is down, and soon continues after
 * an outage.
 */
const PAUSE_AFTER_FAILURE_MS = 2_000;

/** Shows the dashboard until the user quits or the process is asked to end, then restores the terminal. */
export async function runDashboard({
  keyboard: stdin,
  followStack,
  ...dialogContext
}: DashboardOptions): Promise<void> {
  const { terminal, ferry } = dialogContext;
  const quit = new AbortController();
  const read = openReader(ferry);
  const openDialog = openDialogs(dialogContext);
  const nextReading = createInterruptibleSleep();
  let state: DashboardState = INITIAL_STATE;
  /** True while a dialog is open and writes to the screen. */
  let isDialogOpen = false;

  const screen = openFullScreen(terminal.stdout);
  const pageHeight = (): number => visibleRowCount(screen.size());
  const setState = (next: DashboardState): void => {
    state = next;
    if (!isDialogOpen) screen.draw(frameOf(state, screen.size(), new Date()));
  };
  const redraw = (): void => setState(state);

  async function keepReading(): Promise<void> {
    while (!quit.signal.aborted) {
      const startedAt = Date.now();
      await followStack();
      const reading = await read({
        visibleRows: (rows) =>
          visibleRows(withReading(state, { rows, connectionError: null, at: startedAt }), pageHeight()),
        shownMigrationId: state.isOpen ? state.selected : null,
      });
      setState(withReading(state, reading));
      await nextReading.sleep(
        reading.connectionError === null
          ? Math.max(READ_INTERVAL_MS, (Date.now() - startedAt) * PAUSE_PER_READING)
          : PAUSE_AFTER_FAILURE_MS,
      );
    }
  }

  async function runDialog(requested: RequestedDecision): Promise<void> {
    isDialogOpen = true;
    screen.clear();
    const result = await keyboard.whileReleased(() => openDialog(requested, selectedRow(state)?.step ?? ''));
    isDialogOpen = false;
    setState({ ...state, lastResult: { ...result, at: Date.now() } });
    nextReading.wake();
  }

  const fail = (error: unknown): void => quit.abort(error);
  const keyboard = openKeyboard(stdin, (key) => {
    const { state: next, action } = handleKey(state, key, pageHeight(), lastTextTop(state, screen.size(), new Date()));
    const hasNavigated = next.isOpen !== state.isOpen || next.selected !== state.selected;
    setState(next);
    if (action === 'quit') quit.abort();
    else if (action) void runDialog(action).catch(fail);
    else if (hasNavigated) nextReading.wake();
  });
  const resized = (): void => {
    screen.invalidate();
    redraw();
    nextReading.wake();
  };
  // Updates the clock every second, even while no server answers.
  const clock = setInterval(redraw, 1_000);
  terminal.stdout.on('resize', resized);
  terminal.interruption().addEventListener('abort', () => quit.abort(), { once: true });
  try {
    redraw();
    void keepReading().catch(fail);
    await untilQuit(quit.signal);
  } finally {
    clearInterval(clock);
    terminal.stdout.off('resize', resized);
    nextReading.wake();
    keyboard.close();
    screen.close();
  }
}

/**
 * Waits until the signal is aborted.
 *
 * @throws the error that it was aborted with, if any
 */
async function untilQuit(signal: AbortSignal): Promise<void> {
  await waitForAbort(signal);
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name !== 'AbortError') throw reason;
}
