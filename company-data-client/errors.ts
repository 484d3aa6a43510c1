import type { CallFailure } from '../domain/companies/call-failure';

/**
 * The safety of retrying a call. `safe`: the failed call had no effect. `risky`: it might have taken effect. `useless`:
 * a retry would fail in the same way.
 */
type RetrySafety = 'safe' | 'risky' | 'useless';

/** Base class of all errors of a call. A cancelled call throws the reason of its `AbortSignal` instead. */
export abstract class CompanyDataError extends Error {
  /** @param call method and path, without query and body: `PUT /companies/…/authorization` */
  constructor(
    readonly call: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${call}: ${message}`, options);
  }

  /** How long the service asks us to wait before a retry, in milliseconds; undefined if it does not ask. */
  get retryAfterMs(): number | undefined {
    const failure = this.toFailure();
    return failure.kind === 'response' ? failure.retryAfterMs : undefined;
  }

  /** Id with which the service's support can find the call; undefined if there was no response, or it had no id. */
  get correlationId(): string | undefined {
    const failure = this.toFailure();
    return 'correlationId' in failure ? failure.correlationId : undefined;
  }

  get retrySafety(): RetrySafety {
    return 'useless';
  }

  /** Returns the failure as plain data, for the failure table (domain/companies/failures.ts) and the ledger. */
  abstract toFailure(): CallFailure;
}

/** The failure of a call that got an error response. */
export type ResponseFailure = Extract<CallFailure, { kind: 'response' }>;

/** Thrown when the service responds with an error status. Most statuses have their own subclass. */
export class ErrorResponse extends CompanyDataError {
  override readonly name: string = 'ErrorResponse';

  /** @param validation the messages of `validation.errors` in the response body */
  constructor(
    call: string,
    readonly answer: ResponseFailure,
    readonly validation: readonly string[],
  ) {
    const service = answer.service === '' ? [] : [`from ${answer.service}`];
    const correlation = answer.correlationId === undefined ? [] : [`correlation id ${answer.correlationId}`];
    const source = [...service, ...correlation].join(', ');
    const text = [answer.error, ...validation.filter((message) => message !== answer.error)].join('; ');
    const separator = answer.isFromService ? ' ' : '; the answer is not from the service, but probably from a proxy: ';
    super(call, `answered ${answer.status}${separator}${text}${source === '' ? '' : ` (${source})`}`);
  }

  get status(): number {
    return this.answer.status;
  }

  toFailure(): CallFailure {
    return this.answer;
  }
}

/** Thrown when the request is invalid (400). `validation` lists the reasons. */
export class BadRequest extends ErrorResponse {
  override readonly name = 'BadRequest';
}

/** Thrown when the API key is missing, malformed or wrong (401). */
export class KeyRefused extends ErrorResponse {
  override readonly name = 'KeyRefused';
}

/** Thrown when the account has reached a limit or has expired (402). The error text says which. */
export class LimitReached extends ErrorResponse {
  override readonly name = 'LimitReached';
}

/**
 * Thrown when the API key is revoked or lacks a permission, or the platform denies the service access (403).
 * `answer.service` names the component that refused: `PublicApi` or the platform.
 */
export class AccessDenied extends ErrorResponse {
  override readonly name = 'AccessDenied';
}

/** Thrown when the resource does not exist, or the platform has no such data type (404). */
export class NotFound extends ErrorResponse {
  override readonly name = 'NotFound';
}

/**
 * Thrown when the resource is not ready (409): not synced yet, a sync in progress, no linked connection, or an earlier
 * attempt of the same call in progress.
 */
export class NotReady extends ErrorResponse {
  override readonly name = 'NotReady';

  override get retrySafety(): RetrySafety {
    return 'safe';
  }
}

/**
 * Thrown when the service's rate limit is exceeded (429), the response has no usable `Retry-After`, and the retry
 * budget is used up.
 */
export class Throttled extends ErrorResponse {
  override readonly name = 'Throttled';

  override get retrySafety(): RetrySafety {
    return 'safe';
  }
}

/**
 * Thrown when an error response below 500, other than 429, is not in the service's error form. A proxy has sent it, for
 * example while the service is being deployed, so it is treated as an outage.
 */
export class ForeignResponse extends ErrorResponse {
  override readonly name = 'ForeignResponse';

  override get retrySafety(): RetrySafety {
    return 'risky';
  }
}

/** Thrown when the service or a proxy in front of it fails temporarily (500, 502, 503, 504). */
export class ServiceFailing extends ErrorResponse {
  override readonly name = 'ServiceFailing';

  override get retrySafety(): RetrySafety {
    return 'risky';
  }
}

/**
 * Thrown when no complete response arrived. `refused`: the request was certainly never sent. `time-out`, `dropped` and
 * `malformed`: the call might have taken effect. A call with a malformed response is not retried, because the retry
 * would get the same response.
 */
export class NoResponse extends CompanyDataError {
  override readonly name = 'NoResponse';

  constructor(
    call: string,
    readonly reason: 'time-out' | 'dropped' | 'malformed' | 'refused',
    message: string,
    options?: ErrorOptions,
  ) {
    super(call, message, options);
  }

  override get retrySafety(): RetrySafety {
    if (this.reason === 'malformed') return 'useless';
    return this.reason === 'refused' ? 'safe' : 'risky';
  }

  toFailure(): CallFailure {
    return { kind: 'no-response', reason: this.reason };
  }
}

/** Thrown when a response with a success status is not in the form that the call expects. */
export class UnreadableResponse extends CompanyDataError {
  override readonly name: string = 'UnreadableResponse';

  constructor(
    call: string,
    readonly status: number,
    private readonly correlation: string | undefined,
    message: string,
    options?: ErrorOptions,
  ) {
    super(call, message, options);
  }

  toFailure(): CallFailure {
    const { status, correlation } = this;
    return { kind: 'unreadable', status, ...(correlation !== undefined && { correlationId: correlation }) };
  }
}

/**
 * Thrown when a list cannot be read to its end, for one of these reasons:
 * - a page without new results links to a next page
 * - a link is invalid or leaves the list
 * - there is a next page although all results have been read
 * - the list has more than 10,000 pages
 * - the total keeps shrinking
 */
export class BrokenPaging extends UnreadableResponse {
  override readonly name = 'BrokenPaging';
}

/**
 * Thrown when the service asks for a longer wait than the retry budget allows, or the rate limiter would admit the call
 * only after the budget has ended. The caller can then wait by other means, for example with a durable timer. The call
 * can safely be made again. `cause` is the error response that asked for the wait; it is absent if the rate limiter
 * deferred the call.
 */
export class DeferredUntil extends CompanyDataError {
  override readonly name = 'DeferredUntil';

  constructor(
    call: string,
    /** Earliest time of the next attempt. */
    readonly until: Date,
    private readonly failure: CallFailure,
    options?: ErrorOptions,
  ) {
    const at = until.toISOString();
    const message =
      options?.cause === undefined
        ? `not sent, because the service's rate limit was reached; the next request can be sent after ${at}`
        : `answered ${failure.kind === 'response' ? failure.status : 'an error'} and asks for a retry after ${at}`;
    super(call, message, options);
  }

  override get retrySafety(): RetrySafety {
    return 'safe';
  }

  toFailure(): CallFailure {
    return this.failure;
  }
}
