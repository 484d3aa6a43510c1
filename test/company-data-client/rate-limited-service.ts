import { sleep } from '../../company-data-client/semaphore';
import type { HttpResponse } from '../../company-data-client/transport';

export interface LimitedServiceOptions {
  /** Maximum number of requests in each window. */
  readonly limit: number;
  readonly windowMs: number;
  /**
   * `fixed` windows follow one another without gaps, at fixed times. An `on-demand` window begins with the first
   * request after the previous window has ended.
   */
  readonly windows?: 'fixed' | 'on-demand';
  /** Minimum and maximum latency of each direction, in milliseconds. */
  readonly latencyMs?: readonly [number, number];
  /** How far the service's clock is ahead of ours, in milliseconds. */
  readonly clockAheadMs?: number;
  /** True if responses have no rate limit headers. */
  readonly isSilent?: boolean;
}

/** Simulates a remote service with a rate limit, in this process and by jest's clock. */
export interface LimitedService {
  send(): Promise<HttpResponse>;
  /** Times at which accepted and refused requests arrived. Epoch milliseconds. */
  readonly accepted: number[];
  readonly refused: number[];
  /** Changes the limit. Requests that the current window has accepted still count. */
  changeLimit(limit: number): void;
  /** Begins a new window before the current window ends. */
  beginWindow(): void;
}

export function simulateLimitedService(options: LimitedServiceOptions): LimitedService {
  const { windowMs, windows = 'fixed', latencyMs = [5, 25], clockAheadMs = 0, isSilent = false } = options;
  const accepted: number[] = [];
  const refused: number[] = [];
  const chance = createChance();
  let { limit } = options;
  let endsAt = 0;
  let used = 0;

  const beginWindow = () => {
    const now = Date.now();
    endsAt = windows === 'on-demand' ? now + windowMs : Math.floor(now / windowMs + 1) * windowMs;
    used = 0;
  };

  const take = (): HttpResponse => {
    const now = Date.now();
    if (now >= endsAt) beginWindow();
    used += 1;
    const isAccepted = used <= limit;
    (isAccepted ? accepted : refused).push(now);
    const rateLimitHeaders = {
      'x-rate-limit-limit': String(limit),
      'x-rate-limit-remaining': String(Math.max(0, limit - used)),
      'x-rate-limit-reset': new Date(endsAt + clockAheadMs).toISOString(),
      ...(!isAccepted && { 'retry-after': String(Math.ceil((endsAt - now) / 1_000)) }),
    };
    const date = new Date(now + clockAheadMs).toUTCString();
    const headers = { date, ...(!isSilent && rateLimitHeaders) };
    return { status: isAccepted ? 200 : 429, headers, body: '', durationMs: 0 };
  };

  const passOneWay = () => sleep(latencyMs[0] + chance() * (latencyMs[1] - latencyMs[0]), undefined);

  return {
    accepted,
    refused,
    async send() {
      await passOneWay();
      const answer = take();
      await passOneWay();
      return answer;
    },
    changeLimit(next) {
      limit = next;
    },
    beginWindow,
  };
}

/** Returns a generator of numbers from 0 to 1 that are the same in each run (a linear congruential generator). */
function createChance(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
