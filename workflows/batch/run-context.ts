/** The state that the importing half and the verifying half of a batch run share. */
import { condition, getExternalWorkflowHandle, patched, workflowInfo } from '@temporalio/workflow';
import type { SliceOutage } from '../../activities/companies/circuit-breaker';
import type { SliceEnd } from '../../activities/companies/stoppages';
import type { StopReason } from '../../domain/companies/failures';
import type { Outage } from '../../domain/migration/outage';
import { createOutageWait, type OutageContext } from './outage';

export interface RunContext extends OutageContext {
  readonly migrationId: string;
  /** The name of the run in the ledger. Only the current run can claim companies. */
  readonly runName: string;
  /** True if the run begins no moves, and only finishes the companies in progress. */
  readonly finishing: boolean;
  /** Returns why the run must end early; null if there has been no reason so far. */
  stopReason(): StopReason | null;
  /**
   * Returns the failure rate that stopped the run, or the companies that stopped it, as text for people. Null if
   * neither did.
   */
  stopNumbers(): string | null;
  /**
   * Records the result of a slice. Wakes the run if the ramp has changed, because other companies can be claimed now,
   * and if the slice stops the run, so that no other slice sleeps until its next company is due.
   *
   * @param companies the number of companies that the slice claimed, or whose verification it ended
   */
  recordSlice(companies: number, report: SliceEnd & { readonly ramp: number | null }): void;
  /** Returns the highest mark of the ledger that the run has seen. */
  ledgerMark(): number;
  /** Records the ledger's mark at the end of a slice. */
  noteLedgerMark(mark: number): void;
  /** Returns the sum of `companies` over all slices recorded so far. A higher number than before means progress. */
  progress(): number;
  /** Ends all current sleeps. */
  readonly wake: () => void;
  /** Stops the run from starting any more work. */
  end(): void;
  /**
   * Waits until the service responds or the run is ending. The first probe follows after at least `atLeastMs`
   * milliseconds, or as soon as the run is woken.
   */
  awaitRecovery(circuit: SliceOutage, atLeastMs: number): Promise<void>;
  /** Returns whether the run waits until the service responds. */
  isAwaitingRecovery(): boolean;
}

/** After this time, a run starts no more work and leaves the rest to the next run, so that its history stays short. */
const LONGEST_RUN_MS = 24 * 3_600_000;

/** The part of a batch's input that both importing and verifying need. */
interface BatchPart {
  readonly migrationId: string;
  readonly finishing: boolean;
  readonly ledgerMark: number;
}

export function createRunContext(
  { migrationId, finishing, ledgerMark: knownMark }: BatchPart,
  runName: string,
  showOutage: (outage: Outage | null) => void,
): RunContext {
  const { parent } = workflowInfo();
  const endsAt = Date.now() + LONGEST_RUN_MS;
  let reason: StopReason | null = null;
  let numbers: string | null = null;
  let ended = false;
  let progress = 0;
  let ledgerMark = knownMark;
  let wakes = 0;
  /** The number of companies in the ramp after the latest slice, or null; undefined before the first slice. */
  let ramp: number | null | undefined;
  const wake = (): void => {
    wakes += 1;
  };
  const forOutages: OutageContext = {
    migration: parent && getExternalWorkflowHandle(parent.workflowId, parent.runId),
    showOutage,
    isEnding: () => ended || reason !== null || Date.now() >= endsAt || workflowInfo().continueAsNewSuggested,
    sleep: async (ms: number, summary: string) => {
      const before = wakes;
      return condition(() => wakes !== before, ms, { summary });
    },
  };
  const outage = createOutageWait(forOutages);
  return {
    ...forOutages,
    migrationId,
    runName,
    finishing,
    stopReason: () => reason,
    stopNumbers: () => numbers,
    recordSlice: (companies, { stop, stopNumbers, outage: circuit, ramp: current }) => {
      progress += companies;
      if (reason === null && stop !== null) {
        [reason, numbers] = [stop, stopNumbers];
        // In histories of earlier versions, the other slices slept until their next companies were due.
        if (patched('wake-on-stop')) wake();
      }
      if ((circuit ? circuit.gotThrough : companies) > 0) outage.reset();
      if (ramp !== undefined && ramp !== current) wake();
      ramp = current;
    },
    ledgerMark: () => ledgerMark,
    noteLedgerMark: (mark) => {
      ledgerMark = Math.max(ledgerMark, mark);
    },
    progress: () => progress,
    wake,
    end: () => {
      ended = true;
      wake();
    },
    awaitRecovery: (circuit, atLeastMs) => outage.untilOver(circuit, atLeastMs),
    isAwaitingRecovery: () => outage.isWaiting(),
  };
}
