/**
 * The desk: one live screen of all open migrations.
 *
 * What is shown is a pure function of a state. Keys, what is read and what was decided change the state; nothing else does.
 */
import type { ReadStream } from 'node:tty';
import { createInterruptibleSleep, waitForAbort } from '../shared/waiting';
import { openFullScreen } from '../terminal/full-screen';
import { openKeyboard } from '../terminal/keyboard';
import type { Decider } from './dialogs';
import { openDialogs } from './dialogs';
import { frameOf, rowsInSight } from './frame';
import type { WantedDecision } from './keys';
import { pressed } from './keys';
import { openReader } from './refresh';
import type { DashboardState } from './state';
import { EMPTY_DASHBOARD, inSight, selectedRow, withReading } from './state';

export interface DashboardOptions extends Decider {
  readonly keyboard: ReadStream;
}

const LOOK_EVERY_MS = 1_000;
/** Where a look takes long, so many times as long as it took is waited: a screen must not be a burden. */
const REST_FOR_WORK = 4;

/** Shows the desk until somebody quits it or the process is asked to end; the terminal is then as it was. */
export async function runDashboard({ keyboard: stdin, ...decider }: DashboardOptions): Promise<void> {
  const { terminal, ferry } = decider;
  const over = new AbortController();
  const read = openReader(ferry);
  const decideOn = openDialogs(decider);
  const pause = createInterruptibleSleep();
  let state: DashboardState = EMPTY_DASHBOARD;
  /** Somebody is being asked: the screen is theirs. */
  let isAsking = false;

  const screen = openFullScreen(terminal.stdout);
  const height = (): number => rowsInSight(screen.size());
  const change = (to: DashboardState): void => {
    state = to;
    if (!isAsking) screen.draw(frameOf(state, screen.size(), new Date()));
  };
  const redraw = (): void => change(state);

  async function keepReading(): Promise<void> {
    while (!over.signal.aborted) {
      const begunAt = Date.now();
      const reading = await read({
        inSight: (rows) => inSight(withReading(state, { rows, trouble: null, at: begunAt }), height()),
        open: state.isOpen ? state.selected : null,
      });
      change(withReading(state, reading));
      await pause.sleep(Math.max(LOOK_EVERY_MS, (Date.now() - begunAt) * REST_FOR_WORK));
    }
  }

  async function take(wanted: WantedDecision): Promise<void> {
    isAsking = true;
    screen.clear();
    const said = await keyboard.whileAside(() => decideOn(wanted, selectedRow(state)?.step ?? ''));
    isAsking = false;
    change({ ...state, said });
    pause.wake();
  }

  const fail = (error: unknown): void => over.abort(error);
  const keyboard = openKeyboard(stdin, (key) => {
    const { state: next, wish } = pressed(state, key, height());
    const looksElsewhere = next.isOpen !== state.isOpen || next.selected !== state.selected;
    change(next);
    if (wish === 'quit') over.abort();
    else if (wish) void take(wish).catch(fail);
    else if (looksElsewhere) pause.wake();
  });
  const resized = (): void => {
    screen.forget();
    redraw();
    pause.wake();
  };
  // Its clock goes on, whatever does not answer.
  const clock = setInterval(redraw, 1_000);
  terminal.stdout.on('resize', resized);
  terminal.interruption().addEventListener('abort', () => over.abort(), { once: true });
  try {
    redraw();
    void keepReading().catch(fail);
    await aborted(over.signal);
  } finally {
    clearInterval(clock);
    terminal.stdout.off('resize', resized);
    pause.wake();
    keyboard.close();
    screen.close();
  }
}

/** @throws whatever it was aborted with, unless that is nothing in particular */
async function aborted(signal: AbortSignal): Promise<void> {
  await waitForAbort(signal);
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name !== 'AbortError') throw reason;
}
