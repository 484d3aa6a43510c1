/** Lines at the end of what a terminal shows that are drawn again and again, and stay there in the end. */
import type { Line } from './line';
import { painted } from './line';
import type { TerminalStream } from './terminal';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_BELOW = '\x1b[J';
const up = (lines: number): string => (lines === 0 ? '' : `\x1b[${lines}F`);

export interface LiveBlock {
  draw(lines: readonly Line[]): void;
  /** Leaves the lines as they are, and gives the cursor back. */
  close(): void;
}

export function openLiveBlock(stream: TerminalStream): LiveBlock {
  let height = 0;
  let isOpen = true;
  const close = (): void => {
    if (isOpen) stream.write(SHOW_CURSOR);
    isOpen = false;
    process.off('exit', close);
  };
  process.on('exit', close);
  stream.write(HIDE_CURSOR);
  return {
    close,
    draw: (lines) => {
      // A line that fills the last column would make some terminals begin another one.
      const columns = (stream.columns ?? 80) - 1;
      const text = lines.map((line) => `${painted(stream, line, columns)}\n`).join('');
      stream.write(up(height) + ERASE_BELOW + text);
      height = lines.length;
    },
  };
}
