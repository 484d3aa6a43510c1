/** What the parts of one batch run share. */
import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { OpenCircuit } from '../../activities/companies/circuit-breaker';
import type { StopReason } from '../../domain/companies/failures';
import type { OutageContext } from './outage';
import { createOutageWait } from './outage';

export interface RunContext extends OutageContext {
  readonly migrationId: string;
  /** What the ledger calls the run: it alone may claim. */
  readonly run: string;
  /** Why it ends with companies left; null: so far there is no reason. */
  stop(): StopReason | null;
  /** Companies have moved; a reason, if there is one, ends the run. */
  report(companies: number, stop: StopReason | null, blocked: OpenCircuit | null): void;
  /** How many companies have moved, each step of one counted. */
  moved(): number;
  /** Ends every pause: something was decided, a window has opened, or a part of the run has ended. */
  readonly wake: () => void;
  /** Waits while nothing gets through, at least so long, and until the service answers again. Milliseconds. */
  standStill(blocked: OpenCircuit, atLeastMs: number): Promise<void>;
}

/** A run that is still at work then leaves the rest to the next one. */
const LONGEST_RUN_MS = 24 * 3_600_000;

export function openRunContext(migrationId: string, run: string): RunContext {
  const { parent } = workflowInfo();
  const endsAt = Date.now() + LONGEST_RUN_MS;
  let reason: StopReason | null = null;
  let moved = 0;
  let wakes = 0;
  const pausing: OutageContext = {
    migration: parent && getExternalWorkflowHandle(parent.workflowId, parent.runId),
    isOver: () => reason !== null || Date.now() >= endsAt || workflowInfo().continueAsNewSuggested,
    pause: async (ms: number, summary: string) => {
      const before = wakes;
      await condition(() => wakes !== before, ms, { summary });
    },
  };
  const standing = createOutageWait(pausing);
  return {
    ...pausing,
    migrationId,
    run,
    stop: () => reason,
    report: (companies, stop, blocked) => {
      moved += companies;
      reason ??= stop;
      if ((blocked ? blocked.gotThrough : companies) > 0) standing.eased();
    },
    moved: () => moved,
    wake: () => {
      wakes += 1;
    },
    standStill: ({ why }, atLeastMs) => standing.whileBlocked(why, atLeastMs),
  };
}
