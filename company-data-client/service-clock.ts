/** Reads moments of the service's clock by this machine's clock. */
export interface ServiceClock {
  /**
   * How far the service's clock is ahead, in milliseconds, now that an answer with this `Date` came. Rather too little
   * than too much: what the service announces is expected too late, never too early.
   */
  aheadMs(date: string | undefined, now: number): number;
}

/** More than clocks drift apart in a millisecond, also while one of them is being adjusted slowly. */
const DRIFT = 0.001;
/** What whole seconds and a slow answer do not explain: a clock was set. */
const CLOCK_WAS_SET_MS = 2_000;

/**
 * `Date` counts whole seconds and is read after the way here: each answer shows less than the truth, and the one that
 * shows most is nearest to it.
 */
export function createServiceClock(): ServiceClock {
  let best: { readonly aheadMs: number; readonly at: number } | undefined;

  return {
    aheadMs(date, now) {
      const seen = Date.parse(date ?? '') - now;
      if (Number.isNaN(seen)) return 0;
      const known = best ? best.aheadMs - (now - best.at) * DRIFT : seen;
      const wasSet = Math.abs(known - seen) > CLOCK_WAS_SET_MS;
      best = { aheadMs: wasSet ? seen : Math.max(known, seen), at: now };
      return best.aheadMs;
    },
  };
}
