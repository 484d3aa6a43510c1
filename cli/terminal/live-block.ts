/**
 * Redraws a block of lines on the terminal's alternate screen, and leaves the last drawing on the normal screen. On the
 * normal screen, a pressed Enter or a resize moves the block, so that parts of old drawings would remain.
 */
import { rendered, type StyledLine } from './styled-text';
import type { TerminalStream } from './terminal';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const ERASE_TO_END_OF_LINE = '\x1b[K';
const ERASE_BELOW = '\x1b[J';

export interface LiveBlock {
  draw(lines: readonly StyledLine[]): void;
  /** Keeps the last drawing and shows the cursor again. */
  close(): void;
}

export function openLiveBlock(stream: TerminalStream): LiveBlock {
  let shown: readonly StyledLine[] | null = null;
  // Leaves the last column free, because some terminals start a new line after filling it.
  const textOf = (line: StyledLine): string => rendered(stream, line, (stream.columns ?? 80) - 1);
  const close = (): void => {
    if (shown !== null) stream.write(LEAVE + shown.map((line) => `${textOf(line)}\n`).join(''));
    shown = null;
    stream.off('resize', redraw);
    process.off('exit', close);
  };
  // Draws every line again, because the terminal shows what a person types.
  const redraw = (): void => {
    const rows = stream.rows ?? 24;
    const all = shown ?? [];
    // Keeps the last line: if the drawing is out of date, this line says so.
    const lines = all.length > rows ? [...all.slice(0, rows - 1), ...all.slice(-1)] : all;
    // Without a line feed at the end, which would scroll a full screen.
    const text = lines.map((line) => textOf(line) + ERASE_TO_END_OF_LINE).join('\n');
    stream.write(HOME + text + ERASE_BELOW);
  };
  return {
    close,
    draw: (lines) => {
      if (shown === null) {
        process.on('exit', close);
        stream.on('resize', redraw);
        stream.write(ENTER);
      }
      shown = lines;
      redraw();
    },
  };
}
