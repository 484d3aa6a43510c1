/** Turns HTTP error responses into typed errors, and reads the correlation id of any response. */
import { redactErrorText } from '../security/redaction';
import { retryAfterMs } from './announced-waits';
import {
  AccessDenied,
  BadRequest,
  type ResponseFailure,
  ErrorResponse,
  ForeignResponse,
  KeyRefused,
  LimitReached,
  NotFound,
  NotReady,
  ServiceFailing,
  Throttled,
} from './errors';
import { errorBodySchema } from './schemas';
import type { HttpResponse } from './transport';

/**
 * Creates the error for a response whose status is not a success. Accepts any body: the service's error body, a proxy's
 * HTML page, a truncated body or none. If the body is not the service's error body, only the status decides: 429 gives
 * `Throttled`, any other status below 500 gives `ForeignResponse`, 500 and 502 to 504 give `ServiceFailing`, and all
 * other statuses give `ErrorResponse`.
 *
 * @param secrets values that the call sent; they are masked in the error's text
 */
export function errorFromResponse(call: string, response: HttpResponse, secrets: readonly string[]): ErrorResponse {
  const clean = (text: string) => redactErrorText(text, secrets);
  const body = errorBody(response);
  const correlationId = body?.correlationId ?? correlationIdOf(response);
  const waitMs = retryAfterMs(response.headers, Date.now());
  const failure: ResponseFailure = {
    kind: 'response',
    status: response.status,
    isFromService: body !== undefined,
    error: clean(body?.error || textOfPage(response)),
    service: clean(body?.service ?? ''),
    ...(correlationId !== undefined && { correlationId }),
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
  const validation = body?.validation?.errors.map(({ message }) => clean(message)) ?? [];
  return new (classOf(failure))(call, failure, validation);
}

/** Returns the correlation id that the service sends with every response; undefined if it is missing or not a UUID. */
export function correlationIdOf({ headers }: HttpResponse): string | undefined {
  return uuidIn(headers['x-correlation-id']);
}

/** Returns the value only if it is a UUID, because any other text could contain a credential. */
function uuidIn(value: unknown): string | undefined {
  return typeof value === 'string' && UUID.test(value) ? value : undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function classOf({ status, isFromService }: ResponseFailure): typeof ErrorResponse {
  if (status === 429) return Throttled;
  if (!isFromService && status < 500) return ForeignResponse;
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
    case 500:
    case 502:
    case 503:
    case 504:
      return ServiceFailing;
    default:
      return ErrorResponse;
  }
}

/** Returns the service's error body; undefined if the body has another form or states another status. */
function errorBody({ status, body }: HttpResponse) {
  try {
    const parsed = errorBodySchema.safeParse(JSON.parse(body)).data;
    return parsed?.statusCode === status ? parsed : undefined;
  } catch {
    return undefined; // The body is not JSON or is truncated. `textOfPage` extracts its text.
  }
}

/**
 * Extracts readable text from a response that does not contain the service's error body: a redirect's target or a
 * page's text.
 */
function textOfPage({ status, headers, body }: HttpResponse): string {
  if (status >= 300 && status < 400) return `redirect to ${headers.location ?? 'an unknown location'}`;
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  if (title) return title;
  const text = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? 'no error text' : text;
}
