/**
 * A failed call to the Company Data Service, as plain data, so that the failure table can interpret it.
 */
export type CallFailure =
  /** The service, or a proxy in front of it, answered with an error. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** The service's error text, or text from the page when the body is not in the service's error form. */
      readonly error: string;
      /** The component that failed: `PublicApi` or the name of an integration. Empty when the answer names none. */
      readonly service: string;
      /** Identifies the call for the service's support. */
      readonly correlationId?: string;
      /** From `Retry-After`. */
      readonly retryAfterMs?: number;
    }
  /** No complete answer arrived. The call may have taken effect, except when the connection was refused. */
  | {
      readonly kind: 'no-answer';
      /**
       * `refused`: no connection was established, so the call was certainly not sent. `dropped`: the connection broke
       * before the answer was complete.
       */
      readonly reason: 'time-out' | 'dropped' | 'refused';
      readonly retryAfterMs?: number;
    }
  /** The service answered with success, but this client cannot read the body. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly correlationId?: string };
