import { tooManyRequests } from './errors';

/** How many requests a key may still make, until when. */
export interface Allowance {
  readonly limit: number;
  /** Below zero once too many were made. */
  readonly remaining: number;
  /** When it begins anew, as a time stamp in milliseconds. */
  readonly resetAt: number;
}

/**
 * The headers of the allowance that is used up first.
 *
 * @throws ServiceError 429 where it is used up: it carries the same headers and `Retry-After`
 */
export function allowanceHeaders(allowances: readonly Allowance[]): Record<string, string> {
  const [tightest] = [...allowances].sort(
    (a, b) => Math.max(a.remaining, -1) - Math.max(b.remaining, -1) || b.resetAt - a.resetAt,
  );
  if (!tightest) return {};
  const { limit, remaining, resetAt } = tightest;
  const headers = {
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(Math.max(0, remaining)),
    'x-rate-limit-reset': new Date(resetAt).toISOString(),
  };
  if (remaining < 0) throw tooManyRequests(Math.max(1, Math.ceil((resetAt - Date.now()) / 1000)), headers);
  return headers;
}
