/** Estimates how far the service's clock is ahead of ours, from the `Date` headers of its responses. */
export interface ServiceClock {
  /**
   * Updates the estimate with the `Date` header of a response that arrived at `now` (epoch milliseconds by our clock).
   *
   * @returns how far the service's clock is ahead, in milliseconds: negative if it is behind, 0 if the header is
   * missing or invalid. The estimate errs on the low side, so that a caller that waits until a time announced by the
   * service stops waiting too late rather than too early.
   */
  observe(date: string | undefined, now: number): number;
}

/**
 * Assumed drift between the clocks, as a fraction of elapsed time. Real drift is lower, even while a clock is slewed.
 */
const DRIFT = 0.001;
/**
 * A larger difference between two estimates is attributed to a clock that has been set. Latency and rounding to whole
 * seconds seldom cause it.
 */
const CLOCK_STEP_MS = 2_000;

/**
 * Creates a clock that keeps its highest estimate. `Date` is truncated to whole seconds and is read only after the
 * response has arrived, so every estimate is too low and the highest is the most accurate. The kept estimate decays
 * slowly to follow the drift of the clocks.
 */
export function createServiceClock(): ServiceClock {
  let best: { readonly aheadMs: number; readonly at: number } | undefined;

  return {
    observe(date, now) {
      const estimate = Date.parse(date ?? '') - now;
      if (Number.isNaN(estimate)) return 0;
      const decayed = best ? best.aheadMs - (now - best.at) * DRIFT : estimate;
      const clockWasSet = Math.abs(decayed - estimate) > CLOCK_STEP_MS;
      best = { aheadMs: clockWasSet ? estimate : Math.max(decayed, estimate), at: now };
      return best.aheadMs;
    },
  };
}
