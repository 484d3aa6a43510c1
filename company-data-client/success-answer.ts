/** Parses the bodies of success responses. */
import type { z } from 'zod';
import { redactErrorText } from '../security/redaction';
import { correlationIdOf } from './error-answer';
import { UnreadableResponse } from './errors';
import type { HttpResponse } from './transport';

/** Parses a body. Errors do not quote values from the response, which can be names of people and businesses. */
export function parseBody<S extends z.ZodType>(response: HttpResponse, call: string, schema: S): z.output<S> {
  if (response.cutOff) throw response.cutOff;
  if (response.body === '') throw unreadable(response, call, 'with an empty body');
  const parsed = schema.safeParse(parseJson(response, call));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw unreadable(response, call, `in an unexpected form (${redactErrorText(issues.join('; '))})`);
}

/**
 * Checks the response to a call that expects no body. A JSON body is accepted, because implementations of the service
 * differ. Any other text is refused, because it is probably a proxy's HTML page, and then the service might not have
 * received the call.
 */
export function checkUnexpectedBody(response: HttpResponse, call: string): void {
  if (response.cutOff) throw response.cutOff;
  if (response.body !== '') parseJson(response, call);
}

/** Checks a response to a call that the service answers with 204. Another success status is probably a proxy's. */
export function checkNoContent(response: HttpResponse, call: string): void {
  if (response.cutOff) throw response.cutOff;
  if (response.status !== 204) throw unreadable(response, call, 'instead of 204');
}

function parseJson(response: HttpResponse, call: string): unknown {
  try {
    return JSON.parse(response.body) as unknown;
  } catch {
    // The parser's message is dropped, because it quotes the text.
    throw unreadable(response, call, 'with a body that is not JSON');
  }
}

function unreadable(response: HttpResponse, call: string, problem: string): UnreadableResponse {
  return new UnreadableResponse(
    call,
    response.status,
    correlationIdOf(response),
    `answered ${response.status} ${problem}`,
  );
}
