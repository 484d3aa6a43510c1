/** The state that the importing and the verifying half of one batch run share. */
import { condition, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import type { OpenCircuit } from '../../activities/companies/circuit-breaker';
import type { StopReason } from '../../domain/companies/failures';
import type { OutageContext } from './outage';
import { createOutageWait } from './outage';

export interface RunContext extends OutageContext {
  readonly migrationId: string;
  /** The run's name in the ledger, which lets only the current run claim companies. */
  readonly runName: string;
  /** Why the run ends with companies left; null: no reason so far. */
  stopReason(): StopReason | null;
  /**
   * Notes the result of a slice.
   *
   * @param companies how many it has claimed, or brought to an end
   * @param stop a reason to end the run; null: there is none
   * @param blocked the outage that ended the slice; null: there is none
   */
  note(companies: number, stop: StopReason | null, blocked: OpenCircuit | null): void;
  /** Counts the companies of all slices so far, each company once per slice that has brought it further. */
  progress(): number;
  /** Ends every pause. */
  readonly wake: () => void;
  /** Waits at least this long and until the service responds again. Milliseconds. */
  waitOutOutage(blocked: OpenCircuit, atLeastMs: number): Promise<void>;
}

/** After this time a run starts nothing more and leaves the rest to the next run, so that its history stays short. */
const LONGEST_RUN_MS = 24 * 3_600_000;

export function createRunContext(migrationId: string, runName: string): RunContext {
  const { parent } = workflowInfo();
  const endsAt = Date.now() + LONGEST_RUN_MS;
  let reason: StopReason | null = null;
  let progress = 0;
  let wakes = 0;
  const forOutages: OutageContext = {
    migration: parent && getExternalWorkflowHandle(parent.workflowId, parent.runId),
    isEnding: () => reason !== null || Date.now() >= endsAt || workflowInfo().continueAsNewSuggested,
    pause: async (ms: number, summary: string) => {
      const before = wakes;
      await condition(() => wakes !== before, ms, { summary });
    },
  };
  const outage = createOutageWait(forOutages);
  return {
    ...forOutages,
    migrationId,
    runName,
    stopReason: () => reason,
    note: (companies, stop, blocked) => {
      progress += companies;
      reason ??= stop;
      if ((blocked ? blocked.gotThrough : companies) > 0) outage.reset();
    },
    progress: () => progress,
    wake: () => {
      wakes += 1;
    },
    waitOutOutage: ({ why }, atLeastMs) => outage.untilOver(why, atLeastMs),
  };
}
