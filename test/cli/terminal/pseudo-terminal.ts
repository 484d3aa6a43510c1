/** A seat at a terminal: the command as a process of a pseudo-terminal, and what somebody who sits there sees. */
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';
import { until } from '../../support/conditions';

const FERRY = path.join(__dirname, '../../../bin/ferry.js');

/** What keys send. */
export const KEY = {
  enter: '\r',
  escape: '\x1b',
  up: '\x1b[A',
  down: '\x1b[B',
  home: '\x1b[H',
  ctrlC: '\x03',
} as const;

export interface Seat {
  /** The lines on the screen, without what is blank at their ends. */
  lines(): readonly string[];
  /** The whole screen as one text. */
  text(): string;
  /** Everything the terminal was sent, with its control sequences. */
  sent(): string;
  /** Waits until the screen shows this; the screen is part of the failure when it does not. */
  sees(what: string | RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  signal(name: 'SIGTERM' | 'SIGHUP'): void;
  /** How the process ended. */
  readonly ended: Promise<number>;
  /** Whether the terminal is as it was: the usual screen, a cursor, and lines that wrap. */
  isClean(): boolean;
  close(): void;
}

/** Runs `ferry` at a terminal of 80 columns and 24 lines. */
export function takeSeat(args: readonly string[], env: NodeJS.ProcessEnv, columns = 80, rows = 24): Seat {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  const child = spawn(process.execPath, [FERRY, ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    env: {
      PATH: process.env['PATH'],
      // Nobody's own stack and keys.
      HOME: tmpdir(),
      TOKENFERRY_HOME: path.join(tmpdir(), 'tokenferry-nobodys-home'),
      TZ: 'UTC',
      LANG: 'C.UTF-8',
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
    sees: async (what) => {
      const shows = (): boolean => (typeof what === 'string' ? text().includes(what) : what.test(text()));
      await until(shows, 30_000).catch(() => {
        throw new Error(`The screen never showed ${what}. It shows:\n${text()}`);
      });
    },
    type: (keys) => child.write(keys),
    resize: (columns, rows) => {
      terminal.resize(columns, rows);
      child.resize(columns, rows);
    },
    signal: (name) => child.kill(name),
    ended,
    isClean: () =>
      terminal.buffer.active.type === 'normal' &&
      terminal.modes.wraparoundMode &&
      sent.lastIndexOf('\x1b[?25h') > sent.lastIndexOf('\x1b[?25l'),
    close: () => {
      child.kill('SIGKILL');
      terminal.dispose();
    },
  };
}

/** Colours, bold, inverse: whatever changes how text looks. */
// eslint-disable-next-line no-control-regex
export const STYLING = /\x1b\[[\d;]*[1-9]\d*m/;
