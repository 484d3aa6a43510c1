/** The retry budget of a call: the time in which its attempts can start. */
import type { CallFailure } from '../domain/companies/call-failure';
import { type CompanyDataError, DeferredUntil } from './errors';
import { sleep } from './semaphore';

export interface RetryPolicy {
  /** Time in which the attempts of one call can start, in milliseconds. */
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

/** The time that one call has left for attempts and waits. */
export class RetryBudget {
  /** No attempt starts after this moment. Epoch milliseconds. */
  readonly endsAt: number;
  private retries = 0;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly onWait: (wait: RetryWait) => void,
    /** The options of the call: see `CallOptions`. */
    private readonly options: { readonly signal?: AbortSignal | undefined; readonly sendBefore?: Date | undefined },
  ) {
    this.endsAt = Math.min(Date.now() + policy.budgetMs, options.sendBefore?.getTime() ?? Infinity);
  }

  /** True if the current attempt is a retry. */
  get isRetrying(): boolean {
    return this.retries > 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @throws {DeferredUntil} if the service asks for a wait, and that wait plus jitter would end after the budget
   * @throws `error` itself if the service asks for no wait, and the random wait would end after the budget
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
    await sleep(waitMs, this.options.signal);
  }
}
