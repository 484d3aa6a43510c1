/**
 * Rate limiter: delays the requests of one API key so that the service does not have to refuse them with 429.
 *
 * It learns the limit from each response: `X-Rate-Limit-Limit`, `-Remaining` and `-Reset` (a date). The service counts
 * requests per window, and all processes that use the key share the limit. Processes do not coordinate. Each process
 * estimates its share: of the requests that the service has counted in this window, the fraction that this process
 * sent.
 *
 * Modes:
 * - Unpaced: requests start immediately. Small jobs are fast. The limiter starts in this mode.
 * - Paced: entered when more than half of the limit is used. Requests are spaced evenly over the rest of the window, so
 *   that this process uses its share of the remaining requests. The next window is paced from its beginning. A window
 *   that ends with more than half of its limit unused returns the limiter to unpaced mode.
 * - Exhausted: entered when our share of the remaining requests is half a request or less. Requests wait for the reset.
 * - Blocked: entered after a 429. Requests wait for the time in `Retry-After`, or for one second if none is valid.
 *
 * No response makes requests wait for more than `LONGEST_WAIT_MS` (announced-waits.ts).
 *
 * If a request cannot start before its caller's deadline, `acquire` returns the earliest start time, and the caller
 * decides how to wait. `acquire` itself never waits longer than until the deadline.
 */
import { LONGEST_WAIT_MS } from '../domain/companies/call-failure';
import { type Allowance, readAllowance, retryAfterMs } from './announced-waits';
import { createSemaphore, sleep } from './semaphore';
import { createServiceClock } from './service-clock';
import type { HttpResponse } from './transport';

export interface RateLimiter {
  /**
   * Waits until the next request is allowed to start, in order of arrival.
   *
   * @param latest deadline for the start, epoch milliseconds
   * @returns the permit to start now; the earliest start as a `Date` if it is after the deadline
   * @throws the signal's reason as soon as the signal aborts
   */
  acquire(latest: number, signal: AbortSignal | undefined): Promise<Permit | Date>;
}

/** Permission to start one request now. */
export interface Permit {
  /** Must be called once with the response, or with undefined if there was none. */
  complete(response: HttpResponse | undefined): void;
}

/** The current rate limit window of the service. */
interface Window {
  limit: number;
  /** Epoch milliseconds by our clock. */
  resetAt: number;
  /** Requests that will remain once the requests in flight have been counted. */
  remaining: number;
  /** Sequence number of our first request that the service counted in this window. */
  firstRequest: number;
}

/** Pacing begins when less than this share of the limit remains. */
const UNPACED_SHARE = 0.5;
/** Wait after a 429 without a valid `Retry-After`. */
const DEFAULT_BLOCK_MS = 1_000;
/** If our share of the remaining requests is this or less, requests wait for the reset. */
const MIN_REMAINING = 0.5;
/**
 * The weight of the previous window's share in the estimate, as a fraction of the limit. With a limit of 1,000, the
 * previous share weighs as much as 100 counted requests. It dominates until this window has counted more requests than
 * that.
 */
const SHARE_MEMORY = 0.1;

export function createRateLimiter(): RateLimiter {
  const queue = createSemaphore(1);
  const clock = createServiceClock();
  let window: Window | undefined;
  /**
   * Milliseconds from the first response of the window to its reset. The beginning of the next window is paced with
   * this value, until a response reports the limits of that window.
   */
  let windowMs = 0;
  let isPacing = false;
  /** Our fraction of all requests with the key, in this window and in the previous one. */
  let share = 1;
  let previousShare = 1;
  /** Shortest round trip so far. */
  let roundTripMs = Infinity;
  let blockedUntil = 0;
  let nextAt = 0;
  /** Number of requests started so far, which is also the sequence number of the latest request. */
  let started = 0;

  const earliestStart = () => {
    const resetAt = window && window.remaining * share <= MIN_REMAINING ? window.resetAt : 0;
    // Times beyond the longest wait are ignored, because they mean that our clock was set back.
    const latest = Date.now() + LONGEST_WAIT_MS;
    return Math.max(...[nextAt, blockedUntil, resetAt].filter((at) => at <= latest), 0);
  };

  /** Returns the milliseconds between a request that starts at the time `at` and the next request. */
  const spacingAt = (at: number): number => {
    if (window === undefined || !isPacing) return 0;
    const { limit, remaining, resetAt } = window;
    const lastAt = resetAt - roundTripMs; // A request that starts later might be counted in the next window.
    return at < lastAt ? (lastAt - at) / Math.max(1, remaining * share) : windowMs / (limit * share);
  };

  const startWindow = (allowance: Allowance, firstRequest: number, now: number): Window => {
    if (window && window.remaining > window.limit * UNPACED_SHARE) isPacing = false;
    windowMs = allowance.resetAt - now;
    previousShare = share;
    return { ...allowance, firstRequest };
  };

  /**
   * Updates the window from the response to request `number`. Assumes that this response does not count our later
   * requests.
   */
  const apply = (allowance: Allowance, number: number, now: number) => {
    if (allowance.resetAt <= now) return; // The response is late: its window has ended.
    if (window === undefined || allowance.resetAt > window.resetAt + windowMs / 2)
      window = startWindow(allowance, number, now);
    window.limit = allowance.limit;
    window.resetAt = allowance.resetAt;
    window.remaining = allowance.remaining - (started - number);
    window.firstRequest = Math.min(window.firstRequest, number);
    if (allowance.remaining < allowance.limit * UNPACED_SHARE) isPacing = true;
    const memory = allowance.limit * SHARE_MEMORY;
    const countedFromThisProcess = number - window.firstRequest + 1;
    share = Math.min(
      1,
      (countedFromThisProcess + memory * previousShare) / (allowance.limit - allowance.remaining + memory),
    );
  };

  const startRequest = (): Permit => {
    const now = Date.now();
    nextAt = now + spacingAt(now);
    if (window) window.remaining -= 1;
    started += 1;
    const number = started;
    return {
      complete(response) {
        if (response === undefined) return;
        const at = Date.now();
        roundTripMs = Math.min(roundTripMs, at - now);
        const aheadMs = clock.observe(response.headers.date, at);
        const allowance = readAllowance(response.headers, aheadMs, at);
        if (allowance) apply(allowance, number, at);
        if (response.status !== 429) return;
        blockedUntil = Math.max(blockedUntil, at + (retryAfterMs(response.headers, at) ?? DEFAULT_BLOCK_MS));
      },
    };
  };

  return {
    async acquire(latest, signal) {
      const leaveQueue = await queue.acquire(latest, signal);
      if (!leaveQueue) return new Date(Math.max(earliestStart(), Date.now()));
      try {
        for (let now = Date.now(); now < earliestStart(); now = Date.now()) {
          if (earliestStart() > latest) return new Date(earliestStart());
          await sleep(earliestStart() - now, signal);
        }
        return startRequest();
      } finally {
        leaveQueue();
      }
    },
  };
}
