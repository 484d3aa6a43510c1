import type { z } from 'zod';
import { correlationIdOf, errorOf } from './error-answer';
import { CompanyDataError, DeferredUntil, NoAnswer, UnreadableAnswer } from './errors';
import { createRateLimiter } from './rate-limiter';
import { redact } from './redaction';
import { mayRepeat, RetryBudget, type Repeatable, type RetryPolicy, type Wait } from './retrying';
import type { HttpAnswer, HttpRequest, Transport } from './transport';

/** What every call can be given. */
export interface CallOptions {
  /** Ends the call, its waits included; the signal's reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Nothing is sent after this moment, whatever the retry budget says: the call then fails as one that was never sent.
   * For whoever may do the same again from then on.
   */
  readonly sendBefore?: Date | undefined;
  /** Called each time before the request leaves, after every wait for its turn. What it throws ends the call: nothing is sent. */
  readonly recordSendIntent?: (() => Promise<void>) | undefined;
}

/** What a call gave, and how to speak about it with support. */
export interface Answered<T> {
  readonly value: T;
  /** The service's id of the answer. */
  readonly correlationId?: string;
  /** The attempt that succeeded, without waits and earlier attempts. */
  readonly durationMs: number;
}

/** One endpoint's request, and what it takes to judge its answer. */
export interface Call extends Repeatable {
  readonly method: HttpRequest['method'];
  /** Path and query on the service's origin. */
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly freshConnection?: boolean;
  /** Values in the body that must not turn up in an error, should the service quote them. */
  readonly secrets?: readonly string[];
}

/** Makes calls: paced, sent again where that is safe, and read by a schema. */
export interface Caller {
  /** @throws {CompanyDataError} */
  read<S extends z.ZodType>(call: Call, schema: S, options?: CallOptions): Promise<Answered<z.output<S>>>;
  /**
   * A call whose success has no content, or none that matters.
   * @throws {CompanyDataError}
   */
  done(call: Call, options?: CallOptions): Promise<Answered<void>>;
}

export interface CallerOptions {
  readonly transport: Transport;
  readonly retry: RetryPolicy;
  /** What must not turn up in any error: the key, in every form in which it is sent. */
  readonly secrets: readonly string[];
  readonly onWait: (wait: Wait) => void;
}

export function createCaller({ transport, retry, secrets, onWait }: CallerOptions): Caller {
  const pacer = createRateLimiter();

  async function sendInTurn(request: HttpRequest, patience: RetryBudget, options: CallOptions) {
    const { signal, sendBefore, recordSendIntent: beforeSending } = options;
    const turn = await pacer.turn(patience.endsAt, signal);
    if (turn instanceof Date) throw heldBack(request.call, turn);
    let answer: HttpAnswer | undefined;
    try {
      await beforeSending?.();
      if (sendBefore && new Date() >= sendBefore) throw new NoAnswer(request.call, 'refused', 'never sent: too late');
      answer = await transport.send(request, patience.endsAt, signal);
      return answer;
    } finally {
      turn.settled(answer);
    }
  }

  async function make<T>(call: Call, judge: (answer: HttpAnswer, label: string) => T, options: CallOptions) {
    const request = requestOf(call);
    const patience = new RetryBudget(retry, onWait, options);
    for (;;) {
      try {
        const answer = await sendInTurn(request, patience, options);
        if (!succeeded(answer, call, patience.isRepeating))
          throw errorOf(request.call, answer, [...(call.secrets ?? []), ...secrets]);
        const correlationId = correlationIdOf(answer);
        const { durationMs } = answer;
        return {
          value: judge(answer, request.call),
          ...(correlationId !== undefined && { correlationId }),
          durationMs,
        };
      } catch (error) {
        if (!(error instanceof CompanyDataError && mayRepeat(error, call, patience.isRepeating))) throw error;
        await patience.wait(error);
      }
    }
  }

  return {
    read: (call, schema, options = {}) => make(call, (answer, label) => parse(answer, label, schema), options),
    done: (call, options = {}) => make(call, () => undefined, options),
  };
}

/** How a call is named in errors: without its query, which may hold names. */
export function labelOf({ method, path }: Call): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}

function requestOf(call: Call): HttpRequest {
  return {
    call: labelOf(call),
    method: call.method,
    path: call.path,
    json: call.body === undefined ? undefined : JSON.stringify(call.body),
    idempotencyKey: call.idempotencyKey,
    timeoutMs: call.timeoutMs,
    freshConnection: call.freshConnection ?? false,
  };
}

/** Any 2xx; and what a repeated deletion does not find has been deleted by the attempt whose answer was lost. */
function succeeded({ status }: HttpAnswer, { method }: Call, isRepeated: boolean): boolean {
  return (status >= 200 && status < 300) || (status === 404 && method === 'DELETE' && isRepeated);
}

/**
 * Neither what was read nor what was expected of a field's value is quoted: answers hold names of people and
 * businesses.
 */
function parse<S extends z.ZodType>(answer: HttpAnswer, call: string, schema: S): z.output<S> {
  if (answer.cutOff) throw answer.cutOff;
  const unreadable = (what: string) => new UnreadableAnswer(call, answer.status, correlationIdOf(answer), what);
  const json = parseJson(answer.body);
  if (json === undefined)
    throw unreadable(`answered ${answer.status} with ${answer.body === '' ? 'nothing' : 'no JSON'}`);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw unreadable(`answered ${answer.status} in an unexpected form (${redact(issues.join('; '))})`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // The parser's own message would quote the text.
  }
}

/** An earlier answer said when requests are welcome again, and that is too far away for this call. */
function heldBack(call: string, until: Date): DeferredUntil {
  const error = 'too many requests, an earlier answer said';
  const retryAfterMs = until.getTime() - Date.now();
  return new DeferredUntil(call, until, { kind: 'answer', status: 429, error, service: '', retryAfterMs });
}
