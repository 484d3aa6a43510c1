import type { HttpAnswer } from './transport';
import { retryAfterMs } from './retry-after';

/**
 * Spreads the requests of one API key over the time that the service gives for them, from what its answers say:
 * `X-Rate-Limit-Limit`, `-Remaining` and `-Reset` (a date), and 429s.
 *
 * While more than half of the limit remains nothing is held back, so that small jobs are quick; from there on the rest
 * is
 * spread evenly up to the reset. Several processes with one key need no coordination: each sees what the others left
 * over.
 */
export interface Pacer {
  /** Takes the next moment at which a request may start, and says how far away it is in milliseconds. */
  reserve(now: number): number;
  /** To be told once for each reserved moment: what came back, or nothing. */
  settled(answer: HttpAnswer | undefined, now: number): void;
}

interface Allowance {
  readonly limit: number;
  readonly resetAt: number;
  /** How many more may start before the reset; those on their way are already taken off. */
  left: number;
}

/** How long to keep still after a 429 that does not say it. */
const DEFAULT_HOLD_MS = 1_000;
const UNHURRIED_SHARE = 0.5;

export function createPacer(): Pacer {
  let allowance: Allowance | undefined;
  /** The longest time up to a reset that was seen, for the first requests after it. */
  let windowMs = 0;
  let heldUntil = 0;
  let nextAt = 0;
  let onTheirWay = 0;

  const spacingAt = (at: number): number => {
    if (allowance === undefined) return 0;
    const { limit, left, resetAt } = allowance;
    if (at >= resetAt) return windowMs / limit;
    return left > limit * UNHURRIED_SHARE ? 0 : (resetAt - at) / Math.max(1, left);
  };

  return {
    reserve(now) {
      const usedUp = allowance !== undefined && allowance.left <= 0 ? allowance.resetAt : 0;
      const at = Math.max(now, nextAt, heldUntil, usedUp);
      nextAt = at + spacingAt(at);
      onTheirWay += 1;
      if (allowance && at < allowance.resetAt) allowance.left -= 1;
      return at - now;
    },

    settled(answer, now) {
      onTheirWay -= 1;
      if (answer === undefined) return;
      if (answer.status === 429) {
        heldUntil = Math.max(heldUntil, now + (retryAfterMs(answer.headers, now) ?? DEFAULT_HOLD_MS));
      }
      const said = readAllowance(answer);
      if (said === undefined) return;
      windowMs = Math.max(windowMs, said.resetAt - now);
      allowance = { ...said, left: said.left - onTheirWay };
    },
  };
}

function readAllowance({ headers }: HttpAnswer): Allowance | undefined {
  const limit = Number(headers['x-rate-limit-limit'] ?? Number.NaN);
  const left = Number(headers['x-rate-limit-remaining'] ?? Number.NaN);
  const resetAt = Date.parse(String(headers['x-rate-limit-reset']));
  return limit > 0 && left >= 0 && resetAt > 0 ? { limit, left, resetAt } : undefined;
}
