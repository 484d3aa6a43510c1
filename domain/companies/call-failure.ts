/** A failed call to the Company Data Service as plain data. The failure table interprets it. */
export type CallFailure =
  /** The service, or a proxy in front of it, answered with an error. */
  | {
      readonly kind: 'response';
      readonly status: number;
      /** The service's error text, or the text of the body if it is not in the service's error format. */
      readonly error: string;
      /**
       * The component that failed: `PublicApi` or the name of an integration. Empty if the answer does not contain it.
       */
      readonly service: string;
      /** Identifies the call, so that the service's support team can look it up. */
      readonly correlationId?: string;
      /** From `Retry-After`. */
      readonly retryAfterMs?: number;
    }
  /** No complete answer arrived. The call might have taken effect, unless the connection was refused. */
  | {
      readonly kind: 'no-response';
      /**
       * `refused`: no connection was established, so the call was certainly not sent. `dropped`: the connection broke
       * before the answer was complete.
       */
      readonly reason: 'time-out' | 'dropped' | 'refused';
      readonly retryAfterMs?: number;
    }
  /** The service answered with success, but this client cannot read the body. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly correlationId?: string };
