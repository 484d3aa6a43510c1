/** Estimates how far the service's clock is ahead of ours, from the `Date` headers of its responses. */
export interface ServiceClock {
  /**
   * Takes the `Date` header of a response that arrived at `now` (epoch milliseconds by our clock).
   *
   * @returns how far the service's clock is ahead, in milliseconds; negative when it is behind, 0 when it is unknown.
   * The estimate errs on the low side, so a moment that the service announces is expected too late, never too early.
   */
  aheadMs(date: string | undefined, now: number): number;
}

/**
 * Assumed drift between the clocks, as a share of elapsed time. Higher than real drift, even while a clock is slewed.
 */
const DRIFT = 0.001;
/** A larger difference cannot come from whole seconds and latency, so one of the clocks was set. */
const CLOCK_STEP_MS = 2_000;

/**
 * Keeps the highest estimate. `Date` is cut to whole seconds and is read only after the response has travelled, so
 * every single estimate is too low and the highest is the most accurate. It slowly decays to follow the drift of the
 * clocks.
 */
export function createServiceClock(): ServiceClock {
  let best: { readonly aheadMs: number; readonly at: number } | undefined;

  return {
    aheadMs(date, now) {
      const seen = Date.parse(date ?? '') - now;
      if (Number.isNaN(seen)) return 0;
      const known = best ? best.aheadMs - (now - best.at) * DRIFT : seen;
      const wasSet = Math.abs(known - seen) > CLOCK_STEP_MS;
      best = { aheadMs: wasSet ? seen : Math.max(known, seen), at: now };
      return best.aheadMs;
    },
  };
}
