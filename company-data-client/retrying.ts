import type { CallFailure } from '../domain/companies/call-failure';
import { type CompanyDataError, DeferredUntil, NotReady } from './errors';
import { pause } from './pause';

/** How long and how often a call is tried again. */
export interface RetryPolicy {
  /** Attempts and waits of one call together, in milliseconds. */
  readonly budgetMs: number;
  /** The longest first wait; each later one may be twice as long. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/** Why a call waits before it is made again. */
export interface Wait {
  readonly call: string;
  readonly waitMs: number;
  readonly failure: CallFailure;
}

/** What a call may suffer when it is sent twice. */
export interface Repeatable {
  /** Sending it twice does what sending it once does. */
  readonly repeatable: boolean;
  /** The service answers a repetition with what it answered the first time; with a conflict while that is under way. */
  readonly idempotencyKey?: string | undefined;
  /** A conflict cannot mean anything else. */
  readonly isCreation?: boolean;
}

/** Whether a failed call is sent again by itself. */
export function mayRepeat(error: CompanyDataError, call: Repeatable, isRepeating: boolean): boolean {
  if (error instanceof DeferredUntil) return false;
  if (error instanceof NotReady) return call.isCreation === true || (call.idempotencyKey !== undefined && isRepeating);
  return error.repetition === 'safe' || (error.repetition === 'risky' && call.repeatable);
}

/** The moments at which one call is tried again. */
export class RetryBudget {
  /** No attempt begins later. */
  readonly endsAt: number;
  private attempts = 0;

  constructor(
    private readonly policy: RetryPolicy,
    private readonly onWait: (wait: Wait) => void,
    private readonly call: { readonly signal?: AbortSignal | undefined; readonly sendBefore?: Date | undefined },
  ) {
    this.endsAt = Math.min(Date.now() + policy.budgetMs, call.sendBefore?.getTime() ?? Infinity);
  }

  get isRepeating(): boolean {
    return this.attempts > 0;
  }

  /**
   * Waits as long as the service says, or else a random time that grows (full jitter), so that those who failed
   * together do not come back together.
   * @throws {DeferredUntil} when the service asks for more time than is left.
   * @throws the error itself when no time is left.
   */
  async wait(error: CompanyDataError): Promise<void> {
    const asked = error.retryAfterMs;
    const jitterMs = Math.random() * Math.min(this.policy.longestWaitMs, this.policy.firstWaitMs * 2 ** this.attempts);
    this.attempts += 1;
    const waitMs = Math.ceil(asked === undefined ? jitterMs : asked + Math.random() * this.policy.firstWaitMs);
    if (Date.now() + waitMs > this.endsAt) {
      if (asked === undefined) throw error;
      throw new DeferredUntil(error.call, new Date(Date.now() + asked), error.toFailure(), { cause: error });
    }
    this.onWait({ call: error.call, waitMs, failure: error.toFailure() });
    await pause(waitMs, this.call.signal);
  }
}
