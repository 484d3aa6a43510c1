/** Throughput: how many companies were moved recently, and when the remaining companies will be moved at that rate. */
import { endWithin, type Window } from './windows';

/** The companies that were moved in a recent period. */
export interface Throughput {
  readonly moved: number;
  /**
   * How long at least one company was moving in the period. Milliseconds. Leaves out the rest, for example a closed
   * window in which no company is syncing.
   */
  readonly withinMs: number;
}

const MINUTE_MS = 60_000;

/** Returns companies per minute while companies were moving; null if none was moved in the period. */
export function perMinute({ moved, withinMs }: Throughput): number | null {
  return moved === 0 || withinMs <= 0 ? null : (moved / withinMs) * MINUTE_MS;
}

/** With fewer moved companies, the rate is not reliable: the first company, for example, moves without any others. */
const MIN_MEASURED = 3;

/** Returns whether enough companies were moved in the period for a reliable rate. */
export function isMeasured({ moved, withinMs }: Throughput): boolean {
  return moved >= MIN_MEASURED && withinMs > 0;
}

/** Lowers the throughput to the limit, because the companies might have been moved before the limit was set. */
export function withinLimit(throughput: Throughput, companiesPerMinute: number | null): Throughput {
  const rate = perMinute(throughput);
  if (companiesPerMinute === null || rate === null || rate <= companiesPerMinute) return throughput;
  return { moved: companiesPerMinute, withinMs: MINUTE_MS };
}

/** Formats a rate as `41`, `2.5` or `0.02`. */
export function rateText(rate: number): string {
  if (rate >= 10) return String(Math.round(rate));
  return String(Number(rate.toFixed(rate >= 0.1 ? 1 : 2)));
}

/**
 * Returns when the remaining companies will be moved at the recent rate. Only time inside the windows counts.
 *
 * @param now ISO 8601, UTC
 * @returns ISO 8601, UTC; null if no company was moved in the period, if none is left, or if there are windows and the
 * remaining companies would take more than a year
 */
export function expectedEnd(
  throughput: Throughput,
  remaining: number,
  windows: readonly Window[],
  now: string,
): string | null {
  const rate = perMinute(throughput);
  return rate === null || remaining <= 0 ? null : endWithin(windows, now, (remaining / rate) * MINUTE_MS);
}
