/** The headway of what is under way: how fast companies were moved lately, and when the rest is done at that rate. */
import type { Window } from './windows';
import { endWithin } from './windows';

/** What was moved lately. */
export interface Throughput {
  readonly moved: number;
  /** In this time. Milliseconds. */
  readonly withinMs: number;
}

const MINUTE_MS = 60_000;

/** Companies in a minute; null: none was moved lately. */
export function perMinute({ moved, withinMs }: Throughput): number | null {
  return moved === 0 || withinMs <= 0 ? null : (moved / withinMs) * MINUTE_MS;
}

/** `41`, `2.5`, `0.02`: as exact as a rate deserves. */
export function rateText(rate: number): string {
  if (rate >= 10) return String(Math.round(rate));
  return String(Number(rate.toFixed(rate >= 0.1 ? 1 : 2)));
}

/**
 * When so many companies are moved, if it goes on like this: in the windows alone, where there are any.
 *
 * @param now ISO 8601, UTC
 * @returns ISO 8601, UTC; null: nothing moves, nothing is left, or it takes more than a year
 */
export function expectedEnd(headway: Throughput, left: number, windows: readonly Window[], now: string): string | null {
  const rate = perMinute(headway);
  return rate === null || left <= 0 ? null : endWithin(windows, now, (left / rate) * MINUTE_MS);
}
