import { Format, SingleBar } from 'cli-progress';

import { harmless } from './table';
import type { TerminalStream } from './terminal';

/** A bar that moves while companies do. */
export interface ProgressBar {
  /** @param note what is going on, in a few words */
  update(done: number, total: number, note: string): void;
  /** Leaves the bar as it is and gives the cursor back. Must be called, also on Ctrl-C. */
  close(): void;
}

/** Opens a bar; where there is no terminal, lines are written: of what is new, of how far it is now and then, and of the end. */
export function openProgressBar(stream: TerminalStream): ProgressBar {
  return stream.isTTY ? new DrawnBar(stream) : new WrittenBar(stream);
}

class DrawnBar implements ProgressBar {
  readonly #bar: SingleBar;

  constructor(stream: TerminalStream) {
    this.#bar = new SingleBar({
      stream,
      hideCursor: true,
      // Ctrl-C is the command's own business.
      gracefulExit: false,
      // The words say more than the bar.
      barsize: Math.max(8, Math.min(30, (stream.columns ?? 80) - 90)),
      format: (options, { progress }, { done, total, note }: { done: number; total: number; note: string }) =>
        `${Format.BarFormat(progress, options)} ${done}/${total}  ${note}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
    });
  }

  update(done: number, total: number, note: string): void {
    if (!this.#bar.isActive) this.#bar.start(total, 0, { done: 0, total, note: '' });
    this.#bar.setTotal(total);
    this.#bar.update(done, { done, total, note: harmless(note) });
  }

  close(): void {
    if (this.#bar.isActive) this.#bar.stop();
  }
}

/** Whoever reads a log wants to see that it goes on, not each step. */
const WRITE_EVERY_MS = 5_000;

class WrittenBar implements ProgressBar {
  #note = '';
  #written = '';
  #latest = '';
  #nextAt = 0;

  constructor(private readonly stream: TerminalStream) {}

  update(done: number, total: number, note: string): void {
    this.#latest = `${done}/${total}  ${harmless(note)}\n`;
    if (note !== this.#note || performance.now() >= this.#nextAt) this.close();
    this.#note = note;
  }

  close(): void {
    if (this.#latest === this.#written) return;
    this.stream.write(this.#latest);
    this.#written = this.#latest;
    this.#nextAt = performance.now() + WRITE_EVERY_MS;
  }
}
