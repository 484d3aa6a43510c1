import type { Allowance } from './allowance';

const WINDOW_MS = 60_000;

interface Window {
  readonly endsAt: number;
  used: number;
}

/** A limit of requests per minute and key, counted in this process. */
export class RateLimiter {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly requestsPerMinute: number) {}

  /** Counts a request, and answers how many are left. */
  count(keyId: string): Allowance {
    const window = this.windowOf(keyId);
    window.used += 1;
    return { limit: this.requestsPerMinute, remaining: this.requestsPerMinute - window.used, resetAt: window.endsAt };
  }

  private windowOf(keyId: string): Window {
    const current = this.windows.get(keyId);
    if (current && current.endsAt > Date.now()) return current;
    const next = { endsAt: Date.now() + WINDOW_MS, used: 0 };
    this.windows.set(keyId, next);
    return next;
  }
}
