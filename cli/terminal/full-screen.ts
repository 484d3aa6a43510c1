/** Draws on the terminal's alternate screen, and restores the terminal when it is closed. */
import { rendered, type StyledLine } from './styled-text';
import type { TerminalStream } from './terminal';

/** Control sequences that all common terminals support (DEC private modes, ECMA-48). */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME_AND_CLEAR = '\x1b[2J\x1b[H';
const SHOW_CURSOR_AND_WRAP = '\x1b[?25h\x1b[?7h';
const HIDE_CURSOR_AND_NO_WRAP = '\x1b[?25l\x1b[?7l';
const ERASE_TO_END_OF_LINE = '\x1b[K';
const toRow = (row: number): string => `\x1b[${row + 1};1H`;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The size that is assumed if the terminal does not report one. */
const DEFAULT_SIZE: Size = { columns: 80, rows: 24 };

export interface FullScreen {
  size(): Size;
  /** Draws the lines, starting at the top. Sends only changed lines, because the connection can be slow. */
  draw(lines: readonly StyledLine[]): void;
  /** Makes the next `draw` send all lines. Needed after a change of the size, or after other output. */
  invalidate(): void;
  /** Clears the screen and shows the cursor. Ordinary output is possible until the next `draw`. */
  clear(): void;
  /** Restores the terminal. Later calls of `draw` do nothing. */
  close(): void;
}

/** Switches to the alternate screen until `close` is called or the process exits. */
export function openFullScreen(stream: TerminalStream): FullScreen {
  let shown: readonly string[] | null = null;
  let isOpen = true;
  const size = (): Size => ({
    columns: stream.columns ?? DEFAULT_SIZE.columns,
    rows: stream.rows ?? DEFAULT_SIZE.rows,
  });
  const close = (): void => {
    if (isOpen) stream.write(LEAVE);
    isOpen = false;
    process.off('exit', close);
  };
  // Restores the terminal even after an uncaught error, so that the error appears on the normal screen.
  process.on('exit', close);
  stream.write(ENTER);
  return {
    size,
    close,
    invalidate: () => (shown = null),
    clear: () => {
      shown = null;
      stream.write(SHOW_CURSOR_AND_WRAP + HOME_AND_CLEAR);
    },
    draw: (lines) => {
      if (!isOpen) return;
      const { columns, rows } = size();
      const next = Array.from({ length: rows }, (_, row) => rendered(stream, lines[row] ?? [], columns));
      const previous = shown;
      const changed = next.flatMap((text, row) =>
        // Erases before writing, because erasing after a full line would delete its last character.
        text === previous?.[row] ? [] : [toRow(row) + (previous === null ? '' : ERASE_TO_END_OF_LINE) + text],
      );
      if (changed.length > 0) {
        stream.write((previous === null ? HIDE_CURSOR_AND_NO_WRAP + HOME_AND_CLEAR : '') + changed.join(''));
      }
      shown = next;
    },
  };
}
