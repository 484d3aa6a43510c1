/** What `ferry watch` shows while it watches: a block of lines that moves, or lines of a log where there is no terminal. */
import { finishedCompanies } from '../../domain/companies/company-state';
import { headline } from '../../domain/progress/progress';
import type { Progress } from '../../domain/progress/progress';
import type { MigrationSnapshot } from '../dashboard/migration-lines';
import { companyLines, stepLines, statusLines } from '../dashboard/migration-lines';
import { openProgressBar } from '../terminal';
import type { StyledLine } from '../terminal/styled-text';
import { openLiveBlock } from '../terminal/live-block';
import type { TerminalStream } from '../terminal/terminal';
import { clockTime } from '../terminal/times';

/** What one look has seen. */
export interface Looked extends MigrationSnapshot {
  /** How it was ended with Temporal's own tools, if it was. */
  readonly endedFromOutside: string | null;
  readonly at: Date;
}

export interface WatchView {
  /** @param trouble what does not answer; null: what was looked at is as it is now */
  show(looked: Looked, trouble: string | null): void;
  /** Leaves what is shown as it is. Must be called, also on Ctrl-C. */
  close(): void;
}

export function openWatchView(stream: TerminalStream): WatchView {
  return stream.isTTY ? openDrawnView(stream) : openWrittenView(stream);
}

function openDrawnView(stream: TerminalStream): WatchView {
  const block = openLiveBlock(stream);
  return {
    show: (looked, trouble) => block.draw(linesOf(looked, trouble, stream.columns ?? 80)),
    close: () => block.close(),
  };
}

function linesOf(looked: Looked, trouble: string | null, columns: number): readonly StyledLine[] {
  const now = new Date();
  const { progress, at } = looked;
  const steps = stepLines(progress, now);
  return [
    [{ text: progress.migrationId, style: 'bold' }, `  ${clockTime(now)}`],
    // The last column stays free.
    ...statusLines(progress, columns - 1, now),
    [],
    ...steps,
    ...(steps.length === 0 ? [] : [[]]),
    ...companyLines(looked, now),
    ...(trouble === null ? [] : [[{ text: asOf(at, trouble), style: 'yellow' } as const]]),
  ];
}

function openWrittenView(stream: TerminalStream): WatchView {
  const bar = openProgressBar(stream);
  return {
    show: ({ progress, at }, trouble) => {
      const { counts } = progress;
      bar.update(finishedCompanies(counts), counts.total, trouble === null ? noteOf(progress) : asOf(at, trouble));
    },
    close: () => bar.close(),
  };
}

function noteOf(progress: Progress): string {
  const { counts, waitingFor } = progress;
  const failed = counts.failed > 0 ? `${counts.failed} failed, ` : '';
  const who = waitingFor.roles.length === 0 ? '' : `waiting for ${waitingFor.roles.join(' and ')}: `;
  return `${headline(progress)}: ${failed}${who}${waitingFor.what}`;
}

function asOf(at: Date, trouble: string): string {
  return `as of ${clockTime(at)}: ${trouble}; retrying automatically`;
}
