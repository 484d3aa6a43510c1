/** Runs `ferry` as a process in a pseudo-terminal, and reads its screen. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { until } from '../../support/async';

const FERRY = path.join(__dirname, '../../../bin/ferry.js');

/** The characters that each key sends. */
export const KEY = {
  enter: '\r',
  escape: '\x1b',
  up: '\x1b[A',
  down: '\x1b[B',
  home: '\x1b[H',
  ctrlC: '\x03',
} as const;

export interface TerminalSession {
  /** Returns the lines on the screen, without trailing spaces. */
  lines(): readonly string[];
  /** Returns the whole screen as one text. */
  text(): string;
  /** Returns all output so far, including control sequences. */
  sent(): string;
  /** Waits until the screen contains this text or matches this pattern. A timeout error contains the screen. */
  waitFor(expected: string | RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  signal(name: 'SIGTERM' | 'SIGHUP'): void;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number>;
  /** Returns whether the terminal shows its normal screen and the cursor, and wraps lines. */
  isRestored(): boolean;
  close(): void;
}

/** Starts `ferry` in a pseudo-terminal. */
export function startTerminalSession(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  columns = 80,
  rows = 24,
): TerminalSession {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  const child = spawn(process.execPath, [FERRY, ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    env: {
      PATH: process.env['PATH'],
      // Keeps `ferry` from using the stack and the keys of the user who runs the tests.
      HOME: tmpdir(),
      TOKENFERRY_HOME: path.join(tmpdir(), 'tokenferry-no-home'),
      TZ: 'UTC',
      LANG: 'C.UTF-8',
      // Without this variable, commands ask for a name if root runs the tests.
      SUDO_USER: 'tester',
      ...env,
    },
  });
  let sent = '';
  child.onData((data) => {
    sent += data;
    terminal.write(data);
  });
  const ended = new Promise<number>((resolve) =>
    child.onExit(({ exitCode }) => terminal.write('', () => resolve(exitCode))),
  );
  const lines = (): readonly string[] =>
    Array.from(
      { length: terminal.rows },
      (_, row) =>
        terminal.buffer.active
          .getLine(terminal.buffer.active.viewportY + row)
          ?.translateToString()
          .trimEnd() ?? '',
    );
  const text = (): string => lines().join('\n');
  return {
    lines,
    text,
    sent: () => sent,
    waitFor: async (expected) => {
      const shows = (): boolean => (typeof expected === 'string' ? text().includes(expected) : expected.test(text()));
      await until(shows).catch(() => {
        throw new Error(`The screen never showed ${expected}. It shows:\n${text()}`);
      });
    },
    type: (keys) => child.write(keys),
    resize: (columns, rows) => {
      terminal.resize(columns, rows);
      child.resize(columns, rows);
    },
    signal: (name) => child.kill(name),
    ended,
    isRestored: () =>
      terminal.buffer.active.type === 'normal' &&
      terminal.modes.wraparoundMode &&
      sent.lastIndexOf('\x1b[?25h') > sent.lastIndexOf('\x1b[?25l'),
    close: () => {
      child.kill('SIGKILL');
      terminal.dispose();
    },
  };
}

/** Matches control sequences that style text: colours, bold, inverse. */
// oxlint-disable-next-line no-control-regex
export const STYLING = /\x1b\[[\d;]*[1-9]\d*m/;
