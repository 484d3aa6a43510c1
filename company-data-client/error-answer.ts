import type { CallFailure } from '../domain/companies/call-failure';
import {
  AccessDenied,
  BadRequest,
  ErrorAnswer,
  KeyRefused,
  LimitReached,
  NotFound,
  NotReady,
  ServiceFailing,
  Throttled,
} from './errors';
import { redact } from './redaction';
import { retryAfterMs } from './retry-after';
import { errorBodySchema } from './schemas';
import type { HttpAnswer } from './transport';

/**
 * The error that an answer without success is, whatever its body may be: the service's error body, a proxy's page, a
 * piece, nothing.
 */
export function errorOf(call: string, answer: HttpAnswer, secrets: readonly string[]): ErrorAnswer {
  const clean = (text: string) => redact(text, secrets);
  const body = errorBody(answer.body);
  const correlationId = idIn(body?.correlationId) ?? correlationIdOf(answer);
  const waitMs = retryAfterMs(answer.headers, Date.now());
  const failure: Extract<CallFailure, { kind: 'answer' }> = {
    kind: 'answer',
    status: answer.status,
    error: clean(body?.error || pageText(answer)),
    service: clean(body?.service ?? ''),
    ...(correlationId !== undefined && { correlationId }),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
  const validation = body?.validation?.errors.map(({ message }) => clean(message)) ?? [];
  return new (classOf(answer.status))(call, failure, validation);
}

/** The answer's correlation id, as the service sends it with every answer. */
export function correlationIdOf({ headers }: HttpAnswer): string | undefined {
  return idIn(headers['x-correlation-id']);
}

/** It is a UUID; whatever else stands in its place is quoted to nobody. */
function idIn(value: unknown): string | undefined {
  return typeof value === 'string' && UUID.test(value) ? value : undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function classOf(status: number): typeof ErrorAnswer {
  switch (status) {
    case 400:
      return BadRequest;
    case 401:
      return KeyRefused;
    case 402:
      return LimitReached;
    case 403:
      return AccessDenied;
    case 404:
      return NotFound;
    case 409:
      return NotReady;
    case 429:
      return Throttled;
    case 500:
    case 502:
    case 503:
    case 504:
      return ServiceFailing;
    default:
      return ErrorAnswer;
  }
}

function errorBody(text: string) {
  try {
    return errorBodySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Not JSON, or cut off: what can be said is said by `pageText`.
  }
}

/** What a person can make of a body that is not the service's: the title of a page, or where it wanted to send us. */
function pageText({ status, headers, body }: HttpAnswer): string {
  if (status >= 300 && status < 400) return `redirect to ${headers.location ?? 'nowhere'}: is the base URL right?`;
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  if (title) return title;
  const text = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? 'no error text' : text;
}
