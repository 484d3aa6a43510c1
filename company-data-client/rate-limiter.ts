import { pause } from './pause';
import { retryAfterMs } from './retry-after';
import { createServiceClock } from './service-clock';
import { createSemaphore } from './semaphore';
import type { HttpAnswer } from './transport';

/**
 * Spreads the requests of one API key over the time that the service gives for them, from what its answers say:
 * `X-Rate-Limit-Limit`, `-Remaining` and `-Reset` (a date), and 429s.
 *
 * As long as half of the limit suffices nothing is held back, so that small jobs are quick; when it does not, what is
 * left is spread evenly up to the reset, and so is the next limit from its beginning. Several processes with one key
 * need no coordination: what is gone and was not taken here, others took, and they will take as much of the rest.
 */
export interface RateLimiter {
  /**
   * Waits until the next request may start, in the order of arrival.
   * @returns the turn when it may start; when that is only after `latest`, the moment at which to come back.
   */
  turn(latest: number, signal: AbortSignal | undefined): Promise<Turn | Date>;
}

/** One request that may start now. */
export interface Turn {
  /** To be told once what came back, or that nothing did. */
  settled(answer: HttpAnswer | undefined): void;
}

/** How many requests the service takes before `resetAt`, all users of the key together. */
interface Allowance {
  readonly limit: number;
  readonly left: number;
  readonly resetAt: number;
}

/** What is known of the window that is open. */
interface Window {
  limit: number;
  resetAt: number;
  /** Without those that are on their way. */
  left: number;
  /** The first request from here that it counted, by the order in which they started. */
  first: number;
}

const UNHURRIED_SHARE = 0.5;
/** How long to keep still after a 429 that does not say it. */
const DEFAULT_HOLD_MS = 1_000;
/** Below this share of one request the last one is left to the others. */
const LEAST_LEFT = 0.5;
/** As much of a limit has to be used until this window says more than the last one about who uses it. */
const SHARE_MEMORY = 0.1;

export function createRateLimiter(): RateLimiter {
  const line = createSemaphore(1);
  const clock = createServiceClock();
  let window: Window | undefined;
  /** From the first answer of a window up to its reset: the pace of the next one until an answer says more. */
  let windowMs = 0;
  /** Half of the limit did not suffice. */
  let isBusy = false;
  /** The part of what the key's users take that is taken here; and that of the window before. */
  let share = 1;
  let lastShare = 1;
  /** The shortest that was seen. */
  let roundTripMs = Infinity;
  let heldUntil = 0;
  let nextAt = 0;
  let started = 0;

  const startsAt = () => {
    const freshAt = window && window.left * share <= LEAST_LEFT ? window.resetAt : 0;
    return Math.max(nextAt, heldUntil, freshAt);
  };

  const spacingAt = (at: number): number => {
    if (window === undefined || !isBusy) return 0;
    const { limit, left, resetAt } = window;
    const lastAt = resetAt - roundTripMs; // What starts later may be counted after the reset.
    return at < lastAt ? (lastAt - at) / Math.max(1, left * share) : windowMs / (limit * share);
  };

  const openWindow = (said: Allowance, first: number, now: number): Window => {
    if (window && window.left > window.limit * UNHURRIED_SHARE) isBusy = false;
    windowMs = said.resetAt - now;
    lastShare = share;
    return { ...said, first };
  };

  /** `number` is that of the request that was answered: those that started later the service has not counted. */
  const understand = (said: Allowance, number: number, now: number) => {
    if (said.resetAt <= now) return; // A late answer of a window that is over.
    if (window === undefined || said.resetAt > window.resetAt + windowMs / 2) window = openWindow(said, number, now);
    window.limit = said.limit;
    window.resetAt = said.resetAt;
    window.left = said.left - (started - number);
    window.first = Math.min(window.first, number);
    if (said.left < said.limit * UNHURRIED_SHARE) isBusy = true;
    const memory = said.limit * SHARE_MEMORY;
    const countedFromHere = number - window.first + 1;
    share = Math.min(1, (countedFromHere + memory * lastShare) / (said.limit - said.left + memory));
  };

  const begin = (): Turn => {
    const now = Date.now();
    nextAt = now + spacingAt(now);
    if (window) window.left -= 1;
    started += 1;
    const number = started;
    return {
      settled(answer) {
        if (answer === undefined) return;
        const at = Date.now();
        roundTripMs = Math.min(roundTripMs, at - now);
        const aheadMs = clock.aheadMs(answer.headers.date, at);
        const said = readAllowance(answer, aheadMs);
        if (said) understand(said, number, at);
        if (answer.status !== 429) return;
        heldUntil = Math.max(heldUntil, at + (retryAfterMs(answer.headers, at) ?? DEFAULT_HOLD_MS));
      },
    };
  };

  return {
    async turn(latest, signal) {
      const leave = await line.take(latest, signal);
      if (!leave) return new Date(Math.max(startsAt(), Date.now()));
      try {
        for (let now = Date.now(); now < startsAt(); now = Date.now()) {
          if (startsAt() > latest) return new Date(startsAt());
          await pause(startsAt() - now, signal);
        }
        return begin();
      } finally {
        leave();
      }
    },
  };
}

function readAllowance({ headers }: HttpAnswer, aheadMs: number): Allowance | undefined {
  const limit = Number(headers['x-rate-limit-limit'] ?? Number.NaN);
  const left = Number(headers['x-rate-limit-remaining'] ?? Number.NaN);
  const resetAt = Date.parse(String(headers['x-rate-limit-reset'])) - aheadMs;
  return limit > 0 && left >= 0 && !Number.isNaN(resetAt) ? { limit, left, resetAt } : undefined;
}
