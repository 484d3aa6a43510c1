/**
 * What became of a call to the Company Data Service that did not succeed: plain data, so that it can be judged by a
 * table, stored in the ledger and sent through a workflow.
 */
export type CallFailure =
  /** The service, or something before it, answered with an error. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      /**
       * The error text as the service wrote it; what could be read of the page when it was not the service's error
       * body.
       */
      readonly error: string;
      /**
       * The component that made the error: `PublicApi`, or the name of an integration. Empty when the answer does not
       * say (a proxy's page).
       */
      readonly service: string;
      /** To be quoted to support. */
      readonly correlationId?: string;
      /** How long to wait before the call is made again, where the answer says so. */
      readonly retryAfterMs?: number;
    }
  /** No whole answer came: the call may have taken effect, except when the connection was refused. */
  | {
      readonly kind: 'no-answer';
      /**
       * `refused`: no connection came about, so the call was certainly never sent. `dropped`: the connection broke
       * before the answer was complete.
       */
      readonly reason: 'time-out' | 'dropped' | 'refused';
      readonly retryAfterMs?: number;
    }
  /** The service answered with success, in a form that this client cannot read. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly correlationId?: string };
