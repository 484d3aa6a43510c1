import { tooManyRequests } from '../errors/errors';

/** The number of requests that a key has left. */
export interface Allowance {
  readonly limit: number;
  /** Negative if there were too many requests. */
  readonly remaining: number;
  /** When the limit is reset. Milliseconds since 1970. */
  readonly resetAt: number;
}

/** Returns the allowance that runs out first. */
export function tightestAllowance([first, ...others]: readonly [Allowance, ...Allowance[]]): Allowance {
  return others.reduce((tightest, other) => (isTighter(other, tightest) ? other : tightest), first);
}

function isTighter(one: Allowance, other: Allowance): boolean {
  const [left, right] = [Math.max(one.remaining, -1), Math.max(other.remaining, -1)];
  return left === right ? one.resetAt > other.resetAt : left < right;
}

export function allowanceHeaders({ limit, remaining, resetAt }: Allowance): Record<string, string> {
  return {
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(Math.max(0, remaining)),
    'x-rate-limit-reset': new Date(resetAt).toISOString(),
  };
}

/** @throws ServiceError 429 with `Retry-After` if the allowance is exceeded */
export function assertAllowed({ remaining, resetAt }: Allowance): void {
  if (remaining < 0) throw tooManyRequests(Math.max(1, Math.ceil((resetAt - Date.now()) / 1000)));
}
