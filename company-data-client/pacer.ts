import { pause } from './pause';
import { retryAfterMs } from './retry-after';
import { createSlots } from './slots';
import type { HttpAnswer } from './transport';

/**
 * Spreads the requests of one API key over the time that the service gives for them, from what its answers say:
 * `X-Rate-Limit-Limit`, `-Remaining` and `-Reset` (a date), and 429s.
 *
 * As long as half of the limit suffices nothing is held back, so that small jobs are quick; when it does not, what is
 * left is spread evenly up to the reset, and so is the next limit from its beginning. Several processes with one key
 * need no coordination: each sees what the others left over.
 */
export interface Pacer {
  /**
   * Waits until the next request may start, in the order of arrival.
   * @returns nothing when it may start; when that is only after `latest`, the moment at which to come back.
   */
  turn(latest: number, signal: AbortSignal | undefined): Promise<Date | undefined>;
  /** To be told once after each turn that was taken: what came back, or that nothing did. */
  settled(answer: HttpAnswer | undefined): void;
}

/** How many requests the service still takes before `resetAt`. */
interface Allowance {
  readonly limit: number;
  readonly resetAt: number;
  /** Without those that are on their way. */
  left: number;
}

const UNHURRIED_SHARE = 0.5;
/** How long to keep still after a 429 that does not say it. */
const DEFAULT_HOLD_MS = 1_000;
/** A difference of clocks below this may come from the seconds in which `Date` is given. */
const CLOCK_TOLERANCE_MS = 2_000;

export function createPacer(): Pacer {
  const line = createSlots(1);
  let allowance: Allowance | undefined;
  /** Half of the limit did not suffice. */
  let isBusy = false;
  /** The longest time up to a reset that was seen: the pace after a reset, until an answer says more. */
  let windowMs = 0;
  let heldUntil = 0;
  let nextAt = 0;
  let onTheirWay = 0;

  const startsAt = () => {
    const freshAt = allowance && allowance.left <= 0 ? allowance.resetAt : 0;
    return Math.max(nextAt, heldUntil, freshAt);
  };

  const spacingAt = (at: number): number => {
    if (allowance === undefined || !isBusy) return 0;
    const { limit, left, resetAt } = allowance;
    return at < resetAt ? (resetAt - at) / Math.max(1, left) : windowMs / limit;
  };

  const understand = (said: Allowance, now: number) => {
    windowMs = Math.max(windowMs, said.resetAt - now);
    const over = allowance && now >= allowance.resetAt ? allowance : undefined;
    if (said.left < said.limit * UNHURRIED_SHARE) isBusy = true;
    else if (over && over.left > over.limit * UNHURRIED_SHARE) isBusy = false;
    allowance = { ...said, left: said.left - onTheirWay };
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
        const now = Date.now();
        nextAt = now + spacingAt(now);
        if (allowance) allowance.left -= 1;
        onTheirWay += 1;
        return undefined;
      } finally {
        leave();
      }
    },

    settled(answer) {
      onTheirWay -= 1;
      if (answer === undefined) return;
      const now = Date.now();
      const said = readAllowance(answer, now);
      if (said) understand(said, now);
      if (answer.status !== 429) return;
      heldUntil = Math.max(heldUntil, now + (retryAfterMs(answer.headers, now) ?? DEFAULT_HOLD_MS));
    },
  };
}

function readAllowance({ headers }: HttpAnswer, now: number): Allowance | undefined {
  const limit = Number(headers['x-rate-limit-limit'] ?? Number.NaN);
  const left = Number(headers['x-rate-limit-remaining'] ?? Number.NaN);
  const resetAt = Date.parse(String(headers['x-rate-limit-reset']));
  if (!(limit > 0 && left >= 0 && resetAt > 0)) return undefined;
  const ahead = Date.parse(headers.date ?? '') - now;
  return { limit, left, resetAt: Math.abs(ahead) > CLOCK_TOLERANCE_MS ? resetAt - ahead : resetAt };
}
