/**
 * The longest wait that a response can impose on a company or a worker, in milliseconds: a day, because quotas reset at
 * 00:00 UTC, plus an hour, because clocks differ. A longer announced wait must be a mistake of the sender.
 */
export const LONGEST_WAIT_MS = 25 * 3_600_000;

/**
 * The longest `Retry-After` that is obeyed, in milliseconds. A longer wait is shortened to this limit, and a wait above
 * `LONGEST_WAIT_MS` is ignored, so that a mistaken value does not stop a batch for a night. The service refuses a
 * request that is sent too early, which does no harm.
 */
export const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** A failed call to the Company Data Service as plain data. The failure table (failures.ts) says what it means. */
export type CallFailure =
  /**
   * The service, or a proxy in front of it, answered with an error. A call that the rate limiter of company-data-client
   * did not send in time also has this kind, with status 429 and `isFromService` false.
   */
  | {
      readonly kind: 'response';
      readonly status: number;
      /**
       * True if the body is the service's error body (section 2.3 of its specification). Otherwise the service itself
       * has not answered, so the failure says nothing about the company, the key or the account.
       */
      readonly isFromService: boolean;
      /** The service's error text, or the text of the body if it is not in the service's error format. */
      readonly error: string;
      /** The component that failed: `PublicApi` or the name of an integration. Empty if `isFromService` is false. */
      readonly service: string;
      /** Identifies the call, so that the service's support team can look it up. */
      readonly correlationId?: string;
      /** From `Retry-After`, at most `LONGEST_RETRY_AFTER_MS`; from the rate limiter, at most `LONGEST_WAIT_MS`. */
      readonly retryAfterMs?: number;
    }
  /** No complete answer arrived. The call might have taken effect, unless the reason is `refused`. */
  | {
      readonly kind: 'no-response';
      /**
       * `refused`: no connection was available, so the call was certainly not sent. `dropped`: the connection broke
       * before the answer was complete. `malformed`: the answer was not valid HTTP.
       */
      readonly reason: 'time-out' | 'dropped' | 'malformed' | 'refused';
    }
  /** The response has a success status, but not the form that the call expects. A proxy might have sent it. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly correlationId?: string };
