import { tooManyRequests } from './errors';

const WINDOW_MS = 60_000;

interface Window {
  readonly endsAt: number;
  used: number;
}

/** A limit of requests per minute and key, counted in this process. */
export class RateLimiter {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly requestsPerMinute: number) {}

  /**
   * Counts a request, and answers the headers that say how many are left.
   * @throws ServiceError 429, which carries the same headers and `Retry-After`
   */
  count(keyId: string): Record<string, string> {
    const window = this.windowOf(keyId);
    window.used += 1;
    const headers = {
      'x-rate-limit-limit': String(this.requestsPerMinute),
      'x-rate-limit-remaining': String(Math.max(0, this.requestsPerMinute - window.used)),
      'x-rate-limit-reset': new Date(window.endsAt).toISOString(),
    };
    if (window.used > this.requestsPerMinute) {
      throw tooManyRequests(Math.ceil((window.endsAt - Date.now()) / 1000), headers);
    }
    return headers;
  }

  private windowOf(keyId: string): Window {
    const current = this.windows.get(keyId);
    if (current && current.endsAt > Date.now()) return current;
    const next = { endsAt: Date.now() + WINDOW_MS, used: 0 };
    this.windows.set(keyId, next);
    return next;
  }
}
