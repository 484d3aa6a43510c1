/** What the parts of one batch run share. */
import { condition, workflowInfo } from '@temporalio/workflow';
import type { StopReason } from '../../domain/failures';

export interface Course {
  readonly migrationId: string;
  /** What the ledger calls the run: it alone may claim. */
  readonly run: string;
  /** Why it ends with companies left; null: so far there is no reason. */
  stop(): StopReason | null;
  /** Whether nothing more is to be begun. */
  readonly isOver: () => boolean;
  /** Companies have moved; a reason, if there is one, ends the run. */
  report(companies: number, stop: StopReason | null): void;
  /** How many companies have moved, each step of one counted. */
  moved(): number;
  /** Ends every pause: something was decided, a window has opened, or a part of the run has ended. */
  readonly wake: () => void;
  pause(ms: number, summary: string): Promise<void>;
}

/** A run that is still at work then leaves the rest to the next one. */
const LONGEST_RUN_MS = 24 * 3_600_000;

export function openCourse(migrationId: string, run: string): Course {
  const endsAt = Date.now() + LONGEST_RUN_MS;
  let reason: StopReason | null = null;
  let moved = 0;
  let wakes = 0;
  return {
    migrationId,
    run,
    stop: () => reason,
    isOver: () => reason !== null || Date.now() >= endsAt || workflowInfo().continueAsNewSuggested,
    report: (companies, stop) => {
      moved += companies;
      reason ??= stop;
    },
    moved: () => moved,
    wake: () => {
      wakes += 1;
    },
    pause: async (ms, summary) => {
      const before = wakes;
      await condition(() => wakes !== before, ms, { summary });
    },
  };
}
