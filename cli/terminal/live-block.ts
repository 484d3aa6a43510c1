/** Redraws a block of lines at the end of the output. The last drawing stays on the screen. */
import { rendered, type StyledLine } from './styled-text';
import type { TerminalStream } from './terminal';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_BELOW = '\x1b[J';
const up = (lines: number): string => (lines === 0 ? '' : `\x1b[${lines}F`);

export interface LiveBlock {
  draw(lines: readonly StyledLine[]): void;
  /** Keeps the last drawing and shows the cursor again. */
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
      // Leaves the last column free, because some terminals start a new line after filling it.
      const columns = (stream.columns ?? 80) - 1;
      const text = lines.map((line) => `${rendered(stream, line, columns)}\n`).join('');
      stream.write(up(height) + ERASE_BELOW + text);
      height = lines.length;
    },
  };
}
