/**
 * Retries of one call: which failures are retried (`mayRetry`), and when (`RetryBudget`).
 *
 * A failed attempt is retried only if a retry is harmless, because the attempt had no effect or the call is idempotent.
 * If the response has a `Retry-After`, the retry waits for that time. Otherwise it waits for an exponential backoff.
 * Both waits have jitter, so that calls that failed together are not retried together. No attempt starts after the
 * budget ends. If the service asks for a longer wait than the budget has left, the call ends with `DeferredUntil`, and
 * the caller decides how to wait.
 */
import type { CallFailure } from '../domain/companies/call-failure';
import { type CompanyDataError, DeferredUntil, NotReady } from './errors';
import { sleep } from './semaphore';

export interface RetryPolicy {
  /** Time for all attempts of one call and the waits between them, in milliseconds. */
  readonly budgetMs: number;
  /** Upper bound of the random wait before the first retry, in milliseconds. It doubles with every later retry. */
  readonly firstWaitMs: number;
  /** Upper bound of every random wait, in milliseconds. */
  readonly longestWaitMs: number;
}

/** A wait before a retry. */
export interface RetryWait {
  /** Method and path of the call. */
  readonly call: string;
  readonly waitMs: number;
  /** Why the previous attempt failed. */
  readonly failure: CallFailure;
}

/** The properties of a call that make it safe to send it twice. */
export interface Idempotency {
  /** True if sending the call twice has the same effect as sending it once. */
  readonly idempotent: boolean;
  /**
   * Key sent with every attempt. The service answers a retry with its response to the first attempt, or with a conflict
   * (409) while the first attempt is still in progress.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * True if the call creates a company or a connection. A conflict (409) then always means that an earlier attempt is
   * still in progress.
   */
  readonly isCreation?: boolean;
}

/** Returns whether a call that failed with `error` may be retried. */
export function mayRetry(error: CompanyDataError, call: Idempotency, isRetry: boolean): boolean {
  if (error instanceof DeferredUntil) return false;
  if (error instanceof NotReady) return call.isCreation === true || (call.idempotencyKey !== undefined && isRetry);
  return error.retrySafety === 'safe' || (error.retrySafety === 'risky' && call.idempotent);
}

export class RetryBudget {
  /** No attempt starts after this moment. Epoch milliseconds. */
  readonly endsAt: number;
  private retries = 0;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly onWait: (wait: RetryWait) => void,
    private readonly call: { readonly signal?: AbortSignal | undefined; readonly sendBefore?: Date | undefined },
  ) {
    this.endsAt = Math.min(Date.now() + policy.budgetMs, call.sendBefore?.getTime() ?? Infinity);
  }

  /** True if the current attempt is a retry. */
  get isRetrying(): boolean {
    return this.retries > 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @throws {DeferredUntil} if the service asks for a longer wait than the budget has left
   * @throws the error itself if the budget is used up
   * @throws the signal's reason as soon as the signal aborts
   */
  async wait(error: CompanyDataError): Promise<void> {
    const { retryAfterMs } = error;
    const jitterMs = Math.random() * Math.min(this.policy.longestWaitMs, this.policy.firstWaitMs * 2 ** this.retries);
    this.retries += 1;
    const waitMs = Math.ceil(
      retryAfterMs === undefined ? jitterMs : retryAfterMs + Math.random() * this.policy.firstWaitMs,
    );
    if (Date.now() + waitMs > this.endsAt) {
      if (retryAfterMs === undefined) throw error;
      throw new DeferredUntil(error.call, new Date(Date.now() + retryAfterMs), error.toFailure(), { cause: error });
    }
    this.onWait({ call: error.call, waitMs, failure: error.toFailure() });
    await sleep(waitMs, this.call.signal);
  }
}
