/**
 * Circuit breaker: detects an outage of the service or the platform from consecutive failures, so that a slice ends
 * early instead of trying company after company in vain.
 *
 * The results of imports and of checks of syncing companies are recorded. A company is deferred if the service or the
 * platform failed, did not respond, or limited requests. Otherwise it got through, even if it was not moved. Imports
 * that show neither (`isUnanswered` in import-result.ts) are not recorded.
 *
 * ## States
 *
 * - CLOSED, the initial state. Companies are tried.
 *   - A company gets through: the series of deferrals is over.
 *   - A company is deferred: the series grows. When it is long enough -> OPEN.
 * - OPEN. The slice takes no more companies, and ends when the companies in flight are done. Their results are recorded
 *   as well.
 *   - A company gets through -> CLOSED, so the slice reports no outage. If results were written while the breaker was
 *     open, the slice ends nevertheless (DRAINING in worker-pool.ts).
 *
 * A series is long enough when one of these is true:
 *
 * - A probe has found the service down after a company was deferred because of the service (service-probe.ts). The
 *   probe finds an outage of the service within seconds, even at a few companies per minute.
 * - It has as many deferrals in this slice as companies can be in flight at once (the threshold). Fewer deferrals can
 *   all come from one brief glitch. The threshold is passed to `isOpen` and `report` each time, because limits can
 *   change during a slice.
 * - It has lasted for `OPENS_AFTER.ms` and contains the first tries of `OPENS_AFTER.companies` companies. At a few
 *   companies per minute, the threshold would be reached only after minutes.
 *
 * Retries do not count for the third rule, because the platform can defer the same companies again and again. They
 * do not keep a series alive either: after `SERIES_GAP_MS` without a deferred first try, the next deferral begins a new
 * series.
 *
 * A slice can end before the series is long enough. It still reports an outage if the last company was deferred, no
 * company got through, and at least one result is not from a retry. If a verification has deferred only one company, it
 * probes the service before it reports an outage (`verifySlice` in verify-slice.ts). If an importing slice reports no
 * outage, the next slice of its number continues the series, unless another slice has got a company through since
 * (workflows/batch/importing.ts).
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
  /**
   * When the work on the first deferred company began or, if that was later, when a company or a probe last got
   * through. Epoch milliseconds. Absent while the ledger is being reconciled, and in the results of older workers.
   */
  readonly since?: number;
  /** The number of results with which a company got through. */
  readonly gotThrough: number;
}

/** Consecutive deferrals since a company last got through. Times are epoch milliseconds. */
export interface DeferralSeries {
  /** When the work on the first deferred company began or, if that was later, when a company last got through. */
  readonly since: number;
  /** The number of companies whose first try was deferred. */
  readonly firstTries: number;
  /** When a first try was last deferred; `since` if none was. */
  readonly lastFirstTryAt: number;
}

/** The result of an import or a check. */
export interface CompanyResult {
  /** Why the company must be tried again; null if it got through. */
  readonly deferredBy: Deferral | null;
  /** True for an import if it is not the company's first; for a check if this slice has deferred the company before. */
  readonly isRetry: boolean;
  /** When the work on the company began and ended. Epoch milliseconds. */
  readonly beganAt: number;
  readonly endedAt: number;
}

export interface CircuitBreaker {
  record(result: CompanyResult): void;
  isOpen(threshold: number): boolean;
  /** Returns whether the last company was deferred because of the service. A probe is useful only then. */
  suspectsService(): boolean;
  /**
   * Opens the breaker because a probe has found the service down. Does not open it if a company has got through since
   * the probe began, at `beganAt` (epoch milliseconds), or if the last company was not deferred because of the service.
   *
   * @returns whether the breaker is open because of the probe
   */
  confirm(probe: { readonly beganAt: number }): boolean;
  /** Notes that the service was up at `beganAt`. If a later probe finds an outage, the outage began after that time. */
  refute(probe: { readonly beganAt: number }): void;
  /** Returns the outage at the end of a slice; null if there is none. */
  report(threshold: number): SliceOutage | null;
  /** Returns when a company last got through, epoch milliseconds; null if none did. */
  lastThroughAt(): number | null;
  /** Returns the series for the next slice; null if the last company got through, or only retries were deferred. */
  series(): DeferralSeries | null;
}

/** The time and the number of first tries after which a series opens the breaker even below the threshold. */
const OPENS_AFTER = { ms: 15_000, companies: 3 };

/** Longer than the time between two first tries at the slowest pace, one company per minute. */
const SERIES_GAP_MS = 120_000;

/** @param earlier the series with which the previous slice ended; null if there is none */
export function createCircuitBreaker(earlier: DeferralSeries | null): CircuitBreaker {
  let series = earlier;
  let last: CompanyResult | null = null;
  let deferrals = 0;
  let gotThrough = 0;
  let firstTries = 0;
  let lastThroughAt: number | null = null;
  let isConfirmed = false;
  let lastUpAt = 0;
  const hasLasted = (): boolean =>
    series !== null &&
    series.firstTries >= OPENS_AFTER.companies &&
    series.lastFirstTryAt - series.since >= OPENS_AFTER.ms;
  const suspectsService = (): boolean => last?.deferredBy?.source === 'service';
  const isOpen = (threshold: number): boolean => isConfirmed || deferrals >= threshold || hasLasted();

  function defer({ isRetry, beganAt, endedAt }: CompanyResult): void {
    deferrals += 1;
    const since = Math.max(beganAt, lastThroughAt ?? 0);
    // A series that contains only retries begins again when a first try is deferred.
    const isOver = series === null || (series.firstTries > 0 && beganAt - series.lastFirstTryAt > SERIES_GAP_MS);
    if (series === null || isOver || (series.firstTries === 0 && !isRetry))
      series = { since, firstTries: 0, lastFirstTryAt: since };
    if (!isRetry) series = { ...series, firstTries: series.firstTries + 1, lastFirstTryAt: endedAt };
  }

  return {
    record: (result) => {
      last = result;
      if (!result.isRetry) firstTries += 1;
      if (result.deferredBy !== null) return defer(result);
      gotThrough += 1;
      deferrals = 0;
      series = null;
      isConfirmed = false;
      lastThroughAt = Math.max(result.endedAt, lastThroughAt ?? 0);
    },
    isOpen,
    suspectsService,
    confirm: ({ beganAt }) => (isConfirmed = suspectsService() && beganAt >= (lastThroughAt ?? 0)),
    refute: ({ beganAt }) => {
      lastUpAt = Math.max(lastUpAt, beganAt);
    },
    report: (threshold) => {
      const isOutage = isOpen(threshold) || (gotThrough === 0 && firstTries > 0);
      if (!last?.deferredBy || !series || !isOutage) return null;
      // Other calls can fail while the probe gets through, so it dates only an outage that a probe has found.
      const since = isConfirmed ? Math.max(series.since, lastUpAt) : series.since;
      return { ...last.deferredBy, since, gotThrough };
    },
    lastThroughAt: () => lastThroughAt,
    series: () => (series !== null && series.firstTries > 0 ? series : null),
  };
}
