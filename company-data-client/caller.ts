/**
 * Caller: makes one call, in as many attempts as its retry budget allows.
 *
 * Each attempt takes these steps in this order:
 * 1. Acquire a permit from the rate limiter. If the permit would come too late, the call ends with `DeferredUntil`.
 * 2. Await `recordSendIntent`, if the call has one. If this function rejects, nothing is sent.
 * 3. Check `sendBefore`. If that time has passed, nothing is sent.
 * 4. Send the request once. The transport can wait for a connection, but never beyond the end of the budget.
 * 5. Report the response to the rate limiter, then parse it or turn it into a typed error.
 *
 * ## Retries
 *
 * A failed attempt is retried only if a retry is harmless, because the attempt had no effect or the call is idempotent
 * (`mayRetry`). If the response has a `Retry-After`, the retry waits for that time. Otherwise the retry uses
 * exponential backoff. Both waits have jitter, so that calls that failed together are not retried together.
 *
 * No attempt starts after the budget ends (retry-budget.ts). If the service asks for a longer wait than the budget has
 * left, the call ends with `DeferredUntil`, and the code that made the call decides how to wait.
 *
 * ## Errors
 *
 * Errors identify the call by method and path. They contain neither the API key nor secrets that the call sent, even if
 * the service quotes them.
 */
import type { z } from 'zod';
import { MASK } from '../security/secret';
import { type ImplausibleWait, implausibleWaits } from './announced-waits';
import { correlationIdOf, errorFromResponse } from './error-answer';
import { CompanyDataError, DeferredUntil, type ErrorResponse, NoResponse, NotFound, NotReady } from './errors';
import { createRateLimiter } from './rate-limiter';
import { RetryBudget, type RetryPolicy, type RetryWait } from './retry-budget';
import { checkNoContent, checkUnexpectedBody, parseBody } from './success-answer';
import type { HttpRequest, HttpResponse, Transport } from './transport';

/** Options that every call accepts. */
export interface CallOptions {
  /** Cancels the call, including its waits. The call then throws the signal's reason. Default: no cancellation. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Deadline for sending, even if the retry budget has time left. A call that has not been sent by then fails. Default:
   * only the retry budget limits when attempts start.
   *
   * A caller that holds a lease sets a deadline, so that no request leaves once another worker might have reclaimed the
   * company.
   */
  readonly sendBefore?: Date | undefined;
  /**
   * Awaited in every attempt, after the rate limiter has admitted the attempt and before a connection is requested. If
   * this function rejects, nothing is sent and the call fails with its error. Default: nothing is recorded.
   *
   * The import uses this to record that a single-use credential is about to be sent. See `createSendIntentRecorder` in
   * store/companies/send-intent.ts.
   */
  readonly recordSendIntent?: (() => Promise<void>) | undefined;
}

/** The result of a successful call. */
export interface CallResult<T> {
  readonly value: T;
  /** Id with which the service's support can find the response; absent if the response had none. */
  readonly correlationId?: string;
  /** Duration of the successful attempt in milliseconds, without waits or earlier attempts. */
  readonly durationMs: number;
}

/** The properties of a call that make it safe to send it twice. */
interface Idempotency {
  /** True if sending the call twice has the same effect as sending it once. */
  readonly idempotent: boolean;
  /**
   * Key sent with every attempt. The service answers a retry with its response to the first attempt if that succeeded,
   * or with a conflict (409) while the first attempt is still in progress.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * True if the call creates a company or a connection. A conflict (409) then always means that an earlier attempt is
   * still in progress.
   */
  readonly isCreation?: boolean;
}

/** The request of one endpoint. */
export interface Call extends Idempotency {
  readonly method: HttpRequest['method'];
  /** Path and query on the service's origin. */
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly isAuthorization?: boolean;
  /** True if a successful response has the status 204. Any other success status then probably comes from a proxy. */
  readonly isAnsweredWith204?: boolean;
  /** Values in the body that errors must not contain, even if the service quotes them. */
  readonly secrets?: readonly string[];
}

export interface Caller {
  /**
   * Makes a call and parses the body of its response.
   *
   * @throws {CompanyDataError}
   */
  read<S extends z.ZodType>(call: Call, schema: S, options?: CallOptions): Promise<CallResult<z.output<S>>>;
  /**
   * Makes a call and ignores the body of its response. If the call is `isAnsweredWith204`, the status must be 204.
   * Otherwise the body must be empty or JSON.
   *
   * @throws {CompanyDataError}
   */
  send(call: Call, options?: CallOptions): Promise<CallResult<void>>;
}

/** A header of a response that asks for an implausibly long wait, and is therefore not followed. */
export interface IgnoredWait extends ImplausibleWait {
  /** Method and path of the call. */
  readonly call: string;
}

/** The answer to one request, or the reason why there was none. */
export interface Answer {
  readonly isAuthorization: boolean;
  /** The HTTP status, or the reason why there is no answer. */
  readonly outcome: number | 'time-out' | 'dropped' | 'malformed' | 'refused';
  /** Absent if there was no answer. */
  readonly durationMs?: number;
}

/** The span of one request. */
export interface RequestSpan {
  /** Sent with the request, so that the service continues the trace (W3C Trace Context). */
  readonly traceparent: string;
  /** @param correlationId the id with which the service's support can find the answer */
  end(outcome: Answer['outcome'] | 'cancelled', correlationId?: string): void;
}

export interface CallerOptions {
  readonly transport: Transport;
  readonly retry: RetryPolicy;
  /** Values that must never appear in an error: the API key in every form in which it is sent. */
  readonly secrets: readonly string[];
  readonly onWait: (wait: RetryWait) => void;
  readonly onIgnoredWait: (wait: IgnoredWait) => void;
  readonly onAnswer: (answer: Answer) => void;
  /** Starts the span of a request; null if it is not traced. */
  readonly traceRequest: (method: string, path: string) => RequestSpan | null;
}

export function createCaller(callerOptions: CallerOptions): Caller {
  const { transport, retry, secrets, onWait, onIgnoredWait, onAnswer, traceRequest } = callerOptions;
  const rateLimiter = createRateLimiter();

  async function attempt(request: HttpRequest, budget: RetryBudget, options: CallOptions) {
    const { signal, sendBefore, recordSendIntent } = options;
    const permit = await rateLimiter.acquire(budget.endsAt, signal);
    if (permit instanceof Date) throw deferredByRateLimit(request.label, permit);
    let response: HttpResponse | undefined;
    try {
      await recordSendIntent?.();
      if (sendBefore && new Date() >= sendBefore)
        throw new NoResponse(request.label, 'refused', 'not sent: the deadline for sending this request has passed');
      const span = traceRequest(request.method, request.path);
      const traced = span ? { ...request, traceparent: span.traceparent } : request;
      response = await transport.send(traced, budget.endsAt, signal).catch((error: unknown) => {
        const { isAuthorization } = request;
        if (error instanceof NoResponse) onAnswer({ isAuthorization, outcome: error.reason });
        span?.end(error instanceof NoResponse ? error.reason : 'cancelled');
        throw error;
      });
      const { status: outcome, durationMs } = response;
      span?.end(outcome, correlationIdOf(response));
      onAnswer({ isAuthorization: request.isAuthorization, outcome, durationMs });
      for (const ignored of implausibleWaits(response.headers, Date.now()))
        onIgnoredWait({ call: request.label, ...ignored });
      return response;
    } finally {
      permit.complete(response);
    }
  }

  /**
   * Masks the API key in a success body, which can quote it. Does not mask parts of the key, because a search for parts
   * would take too long in a long body.
   */
  const withoutKey = (body: string): string => secrets.reduce((text, secret) => text.replaceAll(secret, MASK), body);

  async function makeCall<T>(call: Call, parse: (response: HttpResponse, label: string) => T, options: CallOptions) {
    const request = requestOf(call);
    const budget = new RetryBudget(retry, onWait, options);
    for (;;) {
      try {
        const response = await attempt(request, budget, options);
        if (!isSuccess(response)) {
          const error = errorFromResponse(request.label, response, [...(call.secrets ?? []), ...secrets]);
          if (!isDeleted(error, call, budget.isRetrying)) throw error;
        }
        const correlationId = correlationIdOf(response);
        const { durationMs } = response;
        return {
          value: parse({ ...response, body: withoutKey(response.body) }, request.label),
          ...(correlationId !== undefined && { correlationId }),
          durationMs,
        };
      } catch (error) {
        if (!(error instanceof CompanyDataError && mayRetry(error, call, budget.isRetrying))) throw error;
        await budget.wait(error);
      }
    }
  }

  return {
    read: (call, schema, options = {}) =>
      makeCall(call, (response, label) => parseBody(response, label, schema), options),
    send: (call, options = {}) =>
      makeCall(call, call.isAnsweredWith204 === true ? checkNoContent : checkUnexpectedBody, options),
  };
}

/** Returns the method and path that identify a call in errors. The query is omitted, because it can contain names. */
export function labelOf({ method, path }: Call): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}

function requestOf(call: Call): HttpRequest {
  return {
    label: labelOf(call),
    method: call.method,
    path: call.path,
    json: call.body === undefined ? undefined : JSON.stringify(call.body),
    idempotencyKey: call.idempotencyKey,
    timeoutMs: call.timeoutMs,
    isAuthorization: call.isAuthorization ?? false,
  };
}

function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns whether the service answered a retried deletion with 404. That counts as success, because an earlier attempt
 * whose response was lost might have deleted the resource.
 */
function isDeleted(error: ErrorResponse, { method }: Call, isRetry: boolean): boolean {
  return error instanceof NotFound && method === 'DELETE' && isRetry;
}

/** Creates the error of a call that the rate limiter would admit only after the call's budget has ended. */
function deferredByRateLimit(call: string, until: Date): DeferredUntil {
  const error = 'rate limit reached, according to an earlier response';
  const retryAfterMs = until.getTime() - Date.now();
  return new DeferredUntil(call, until, {
    ...{ kind: 'response', status: 429, isFromService: false, error, service: '', retryAfterMs },
  });
}

/** Returns whether a call that failed with `error` may be retried. */
function mayRetry(error: CompanyDataError, call: Idempotency, isRetry: boolean): boolean {
  if (error instanceof DeferredUntil) return false;
  if (error instanceof NotReady) return call.isCreation === true || (call.idempotencyKey !== undefined && isRetry);
  return error.retrySafety === 'safe' || (error.retrySafety === 'risky' && call.idempotent);
}
