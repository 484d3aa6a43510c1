import type { CallFailure } from '../domain/companies/call-failure';

/**
 * Whether the same call may succeed later. `safe`: it has had no effect, and may. `risky`: it may, and it may have taken
 * effect already. `useless`: the same answer would come again.
 */
type Repetition = 'safe' | 'risky' | 'useless';

/** Every way in which a call can fail, except being cancelled: then the reason of its `AbortSignal` is thrown. */
export abstract class CompanyDataError extends Error {
  /** @param call method and path, without query and body: `PUT /companies/…/authorization`. */
  constructor(
    readonly call: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${call}: ${message}`, options);
  }

  /** How long to wait before trying again, where the service says so. */
  get retryAfterMs(): number | undefined {
    const failure = this.toFailure();
    return failure.kind === 'unreadable' ? undefined : failure.retryAfterMs;
  }

  /** By which the service's own people find the call, where it gave one. */
  get correlationId(): string | undefined {
    const failure = this.toFailure();
    return 'correlationId' in failure ? failure.correlationId : undefined;
  }

  get repetition(): Repetition {
    return 'useless';
  }

  /** The failure as plain data, to be judged, stored and sent. */
  abstract toFailure(): CallFailure;
}

type AnswerFailure = Extract<CallFailure, { kind: 'answer' }>;

/** The service answered with an error status. Thrown as one of the classes below, by status. */
export class ErrorAnswer extends CompanyDataError {
  override readonly name: string = 'ErrorAnswer';

  /** @param validation the messages of `validation.errors`, in the service's words. */
  constructor(
    call: string,
    readonly answer: AnswerFailure,
    readonly validation: readonly string[],
  ) {
    const from = answer.service === '' ? [] : [`from ${answer.service}`];
    const quote = answer.correlationId === undefined ? [] : [`correlation id ${answer.correlationId}`];
    const source = [...from, ...quote].join(', ');
    const said = [answer.error, ...validation.filter((message) => message !== answer.error)].join('; ');
    super(call, `answered ${answer.status} ${said}${source === '' ? '' : ` (${source})`}`);
  }

  get status(): number {
    return this.answer.status;
  }

  toFailure(): CallFailure {
    return this.answer;
  }
}

/** Thrown when the service does not accept the request itself (400): see `validation`. */
export class BadRequest extends ErrorAnswer {
  override readonly name = 'BadRequest';
}

/** Thrown when the API key is missing, malformed or wrong (401). */
export class KeyRefused extends ErrorAnswer {
  override readonly name = 'KeyRefused';
}

/** Thrown when a limit of the account is reached or the account has expired (402): the error text says which. */
export class LimitReached extends ErrorAnswer {
  override readonly name = 'LimitReached';
}

/**
 * Thrown when the key may not do this, or the platform behind the service cannot be reached (403): `answer.service`
 * says which.
 */
export class AccessDenied extends ErrorAnswer {
  override readonly name = 'AccessDenied';
}

/** Thrown when the resource does not exist, or the platform has no such data type (404). */
export class NotFound extends ErrorAnswer {
  override readonly name = 'NotFound';
}

/** Thrown when the resource is not ready for the call (409): not synced yet, a sync under way, no linked connection. */
export class NotReady extends ErrorAnswer {
  override readonly name = 'NotReady';

  override get repetition(): Repetition {
    return 'safe';
  }
}

/** Thrown when there were too many requests (429) and no more time to wait. */
export class Throttled extends ErrorAnswer {
  override readonly name = 'Throttled';

  override get repetition(): Repetition {
    return 'safe';
  }
}

/** Thrown when the service, or a proxy before it, fails at the moment (500, 502, 503, 504). */
export class ServiceFailing extends ErrorAnswer {
  override readonly name = 'ServiceFailing';

  override get repetition(): Repetition {
    return 'risky';
  }
}

/** Thrown when no whole answer came; unless the connection was refused, the call may have taken effect. */
export class NoAnswer extends CompanyDataError {
  override readonly name = 'NoAnswer';

  constructor(
    call: string,
    readonly reason: 'time-out' | 'dropped' | 'refused',
    message: string,
    options?: ErrorOptions,
  ) {
    super(call, message, options);
  }

  override get repetition(): Repetition {
    return this.reason === 'refused' ? 'safe' : 'risky';
  }

  toFailure(): CallFailure {
    return { kind: 'no-answer', reason: this.reason };
  }
}

/** Thrown when the service answered with success, but not in the form that the call expects. */
export class UnreadableAnswer extends CompanyDataError {
  override readonly name: string = 'UnreadableAnswer';

  constructor(
    call: string,
    readonly status: number,
    private readonly quoted: string | undefined,
    message: string,
    options?: ErrorOptions,
  ) {
    super(call, message, options);
  }

  toFailure(): CallFailure {
    const { status, quoted } = this;
    return { kind: 'unreadable', status, ...(quoted !== undefined && { correlationId: quoted }) };
  }
}

/** Thrown when the links of a list cannot be followed: they go in a circle, or to another host. */
export class BrokenPaging extends UnreadableAnswer {
  override readonly name = 'BrokenPaging';
}

/**
 * Thrown when the service asks for a longer wait than the call's budget allows, so that the caller can wait in its own
 * way. The call has not taken effect. `cause` is the last error answer, if there was one.
 */
export class DeferredUntil extends CompanyDataError {
  override readonly name = 'DeferredUntil';

  constructor(
    call: string,
    /** Not before this moment. */
    readonly until: Date,
    private readonly failure: CallFailure,
    options?: ErrorOptions,
  ) {
    super(call, `the service asks to come back at ${until.toISOString()}`, options);
  }

  override get repetition(): Repetition {
    return 'safe';
  }

  toFailure(): CallFailure {
    return this.failure;
  }
}
