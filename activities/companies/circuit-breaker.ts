/**
 * Circuit breaker: detects an outage of the service or the platform from consecutive failures, so that a slice ends
 * early instead of trying company after company in vain.
 *
 * Each result is recorded: an import of a company, or a check of a syncing company. The company is deferred if the
 * service or the platform failed, did not respond, or limited requests. Otherwise it got through, even if it was not
 * moved.
 *
 * ## States
 *
 * - CLOSED, the initial state. Companies are tried.
 *   - A company gets through: the count of consecutive deferrals is reset to 0.
 *   - A company is deferred: the count rises. When it reaches the threshold -> OPEN.
 * - OPEN. The slice takes no more companies, and ends when the companies in flight are done. Their results are recorded
 *   as well.
 *   - A company gets through -> CLOSED. The slice ends nevertheless, but reports no outage.
 *
 * The threshold is the number of companies that can be in flight at once, because one brief glitch can defer all of
 * them. It is passed to `isOpen` and `report` each time, because limits can change during a slice.
 *
 * A slice can end with fewer results than the threshold. It still reports an outage if the last company was deferred,
 * no company got through, and at least one result is not from a retried import. Retries are not enough, because the
 * platform can defer a single company again and again. A check is never a retry. If a verification has deferred only
 * one company, it probes the service before it reports an outage (`verifySlice` in verify-slice.ts).
 *
 * There is no half-open state, because each slice has its own breaker. After an outage, the batch run waits, probes the
 * service with `probeService`, and starts new slices (workflows/batch/outage.ts).
 */
import type { OutageSource } from '../../domain/companies/failures';

/** Why a company must be tried again: the service or the platform failed, did not respond, or limited requests. */
export interface Deferral {
  readonly why: string;
  readonly source: OutageSource;
}

/** The outage that a slice reports when it ends. */
export interface SliceOutage {
  /** Why the last company was deferred, or that the ledger is being reconciled. */
  readonly why: string;
  /** Absent while the ledger is being reconciled. */
  readonly source?: OutageSource;
  /** The number of results with which a company got through. */
  readonly gotThrough: number;
}

export interface CircuitBreaker {
  /**
   * @param deferredBy why the company must be tried again; null if it got through
   * @param isRetry whether an import of the company has been tried before; false for a check
   */
  record(deferredBy: Deferral | null, isRetry: boolean): void;
  isOpen(threshold: number): boolean;
  /** Returns the outage at the end of a slice; null if there is none. */
  report(threshold: number): SliceOutage | null;
}

export function createCircuitBreaker(): CircuitBreaker {
  let gotThrough = 0;
  let consecutiveDeferrals = 0;
  let firstTries = 0;
  let last: Deferral | null = null;
  const isOpen = (threshold: number): boolean => consecutiveDeferrals >= threshold;
  return {
    record: (deferredBy, isRetry) => {
      if (deferredBy === null) gotThrough += 1;
      if (!isRetry) firstTries += 1;
      consecutiveDeferrals = deferredBy === null ? 0 : consecutiveDeferrals + 1;
      last = deferredBy;
    },
    isOpen,
    report: (threshold) => {
      const isOutage = isOpen(threshold) || (gotThrough === 0 && firstTries > 0);
      return last !== null && isOutage ? { ...last, gotThrough } : null;
    },
  };
}
