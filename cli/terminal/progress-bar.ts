import { Format, SingleBar } from 'cli-progress';

import { withoutControlCharacters } from './styled-text';
import type { TerminalStream } from './terminal';

/** Shows how much of something is done. */
export interface ProgressBar {
  /** @param note the current activity, in a few words */
  update(done: number, total: number, note: string): void;
  /** Keeps the last state of the bar and shows the cursor again. Must be called, even after Ctrl-C. */
  close(): void;
}

/**
 * Opens a bar on a terminal. On any other stream, opens a log, which gets a line at each new note, every few seconds,
 * and when it is closed.
 *
 * @param counting what the numbers count, for example `moved`
 */
export function openProgressBar(stream: TerminalStream, counting = ''): ProgressBar {
  const label = counting === '' ? '' : ` ${counting}`;
  return stream.isTTY ? new TerminalBar(stream, label) : new LoggedBar(stream, label);
}

class TerminalBar implements ProgressBar {
  readonly #bar: SingleBar;

  constructor(stream: TerminalStream, label: string) {
    this.#bar = new SingleBar({
      stream,
      hideCursor: true,
      // The command handles Ctrl-C itself.
      gracefulExit: false,
      // Leaves most of the width to the text, because it contains more information than the bar.
      barsize: Math.max(8, Math.min(30, (stream.columns ?? 80) - 90)),
      format: (options, { progress }, { done, total, note }: { done: number; total: number; note: string }) =>
        `${Format.BarFormat(progress, options)} ${done}/${total}${label}  ${note}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
    });
  }

  update(done: number, total: number, note: string): void {
    if (!this.#bar.isActive) this.#bar.start(total, 0, { done: 0, total, note: '' });
    this.#bar.setTotal(total);
    this.#bar.update(done, { done, total, note: withoutControlCharacters(note) });
  }

  close(): void {
    if (this.#bar.isActive) this.#bar.stop();
  }
}

/** Interval of log lines with the same note. A log should show that work continues, but not every change. */
const LOG_INTERVAL_MS = 5_000;

class LoggedBar implements ProgressBar {
  #note = '';
  #written = '';
  #latest = '';
  #nextAt = 0;

  constructor(
    private readonly stream: TerminalStream,
    private readonly label: string,
  ) {}

  update(done: number, total: number, note: string): void {
    this.#latest = `${done}/${total}${this.label}  ${withoutControlCharacters(note)}\n`;
    if (note !== this.#note || performance.now() >= this.#nextAt) this.close();
    this.#note = note;
  }

  close(): void {
    if (this.#latest === this.#written) return;
    this.stream.write(this.#latest);
    this.#written = this.#latest;
    this.#nextAt = performance.now() + LOG_INTERVAL_MS;
  }
}
