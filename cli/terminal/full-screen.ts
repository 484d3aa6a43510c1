/** The whole terminal for one program, and the terminal as it was when the program has ended. */
import type { Line } from './line';
import { painted } from './line';
import type { TerminalStream } from './terminal';

/** Control sequences that every terminal of the last decades knows (DEC private modes, ECMA-48). */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME_AND_CLEAR = '\x1b[2J\x1b[H';
const SHOW_CURSOR_AND_WRAP = '\x1b[?25h\x1b[?7h';
const HIDE_CURSOR_AND_CUT = '\x1b[?25l\x1b[?7l';
const ERASE_TO_END_OF_LINE = '\x1b[K';
const toRow = (row: number): string => `\x1b[${row + 1};1H`;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What terminals have always been, where one does not say. */
const USUAL_SIZE: Size = { columns: 80, rows: 24 };

export interface FullScreen {
  size(): Size;
  /** Shows these lines from the top on. Only what has changed is sent: the line may be slow. */
  draw(lines: readonly Line[]): void;
  /** Everything is sent again with the next drawing: the size has changed, or somebody else has written. */
  forget(): void;
  /** An empty screen that writes from the top on like any terminal, with its cursor, until the next drawing. */
  clear(): void;
  /** The terminal as it was. From then on nothing is drawn. */
  close(): void;
}

/** Takes the terminal over, until it is closed or the process ends, however it ends. */
export function openFullScreen(stream: TerminalStream): FullScreen {
  let shown: readonly string[] | null = null;
  let isOpen = true;
  const size = (): Size => ({
    columns: stream.columns ?? USUAL_SIZE.columns,
    rows: stream.rows ?? USUAL_SIZE.rows,
  });
  const close = (): void => {
    if (isOpen) stream.write(LEAVE);
    isOpen = false;
    process.off('exit', close);
  };
  // Also after an error that nobody has caught: a terminal without a cursor helps nobody to read it.
  process.on('exit', close);
  stream.write(ENTER);
  return {
    size,
    close,
    forget: () => (shown = null),
    clear: () => {
      shown = null;
      stream.write(SHOW_CURSOR_AND_WRAP + HOME_AND_CLEAR);
    },
    draw: (lines) => {
      if (!isOpen) return;
      const { columns, rows } = size();
      const next = Array.from({ length: rows }, (_, row) => painted(stream, lines[row] ?? [], columns));
      const before = shown;
      const changed = next.flatMap((text, row) =>
        // Erased first: a cursor that stays in the last column would take what stands there with it.
        text === before?.[row] ? [] : [toRow(row) + (before === null ? '' : ERASE_TO_END_OF_LINE) + text],
      );
      if (changed.length > 0) {
        stream.write((before === null ? HIDE_CURSOR_AND_CUT + HOME_AND_CLEAR : '') + changed.join(''));
      }
      shown = next;
    },
  };
}
