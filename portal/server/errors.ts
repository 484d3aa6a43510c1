/** Errors of the portal's API. They reveal nothing about the portal's internals, and most of them say what to do. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { counted } from '../../domain/text/sentences';
import { failureText, isDatabaseOutage } from '../../postgres/pool';
import type { ErrorSchema } from '../contract/requests';

/** Thrown to answer a request with an error. */
export class PortalError extends Error {
  override readonly name = 'PortalError';

  constructor(
    readonly statusCode: number,
    message: string,
    readonly advice?: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export const badRequest = (message: string) => new PortalError(400, message);

export const noSession = () =>
  new PortalError(
    401,
    'You are not signed in.',
    'Open the link of your invitation. If the link no longer works, ask your contact for a new invitation.',
    { 'www-authenticate': 'Bearer' },
  );

export const forbidden = (message: string, advice?: string) => new PortalError(403, message, advice);

/**
 * Returns the same error for every invitation that cannot be redeemed, so that the error reveals nothing about the
 * invitation.
 */
export const unusableInvitation = () =>
  forbidden(
    'This invitation cannot be used.',
    'An invitation works once, and for a limited time. Ask your contact for a new invitation.',
  );

const incompleteInvitation = () =>
  new PortalError(
    400,
    'The link of this invitation is incomplete.',
    'Copy the whole link from the message that you received, and open it. If it is incomplete there too, ask your contact for a new invitation.',
  );

export const notFound = () => new PortalError(404, 'There is nothing at this address.');

/**
 * Returns the same error whether the request does not exist, was sent by another person, or belongs to another
 * migration.
 */
export const noSuchRequest = () =>
  new PortalError(
    404,
    'No answer was found for this request.',
    'Look at the migration to see whether the request was carried out.',
  );

/** Returns the same error whether the report does not exist, is no longer stored, or belongs to another person. */
export const noSuchReport = () =>
  new PortalError(404, 'This report is not available.', 'A report is kept for a day at most. Create the report again.');

/** Returns the error for the person who has requested the report, while no worker has created it. */
export const reportNotReady = () =>
  new PortalError(404, 'This report is not ready yet.', 'Try again in a few seconds.');

export const tooMany = (message: string, retryAfterS: number) =>
  new PortalError(429, message, ...tryAgainIn(retryAfterS));

/**
 * Returns a 429 for a limit of the database that does not say when the same request can succeed. `retryAfterS` tells
 * programs when to try again.
 */
export const storedTooMany = (message: string, retryAfterS: number) =>
  new PortalError(429, message, 'Try again in a few minutes. If this happens again, tell your contact.', {
    'retry-after': String(retryAfterS),
  });

export const busy = (retryAfterS: number) => new PortalError(503, 'The portal is busy.', ...tryAgainIn(retryAfterS));

/** Returns a 503. `retryAfterS` tells programs when to try again; people read the advice. */
export const unavailable = (message: string, advice: string, retryAfterS: number) =>
  new PortalError(503, message, advice, { 'retry-after': String(retryAfterS) });

/** Returns the advice to try again, and the header that says the same. */
function tryAgainIn(seconds: number): readonly [advice: string, headers: Readonly<Record<string, string>>] {
  return [`Try again in ${waitText(seconds)}.`, { 'retry-after': String(seconds) }];
}

/** Returns a time in seconds, or if it is long, in minutes: `90 seconds`, `48 minutes`. */
export const waitText = (seconds: number): string =>
  seconds > 120 ? counted(Math.ceil(seconds / 60), 'minute') : counted(seconds, 'second');

/** Sends the error body, and logs failures of the portal itself. */
export function sendError(failure: FastifyError | PortalError, request: FastifyRequest, reply: FastifyReply): void {
  const error = failure instanceof PortalError ? failure : asPortalError(failure);
  if (error.statusCode >= 500 && !(failure instanceof PortalError))
    request.log.error({ err: forLog(failure), request: request.id }, 'a request failed');
  // The unread rest of the body would keep the connection busy.
  if (!request.raw.complete) void reply.header('connection', 'close');
  void reply
    .code(error.statusCode)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error)));
}

/** Postgres error codes for text that cannot be stored: NUL, half a surrogate pair, invalid UTF-8. */
const UNSTORABLE_TEXT = new Set(['22021', '22P02', '22P05']);

/** The problem of a request, by Fastify's error code. */
const INVALID_REQUESTS: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The address is not valid.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The request is not valid JSON.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The request is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body differs from its Content-Length.',
};

/** The problem of a field, by zod's code. People can read it, so it does not contain zod's message. */
const INVALID_FIELDS: Readonly<Record<string, string>> = {
  invalid_type: 'is missing or has the wrong type',
  too_big: 'is too long or too large',
  too_small: 'is too short or too small',
  unrecognized_keys: 'has an unknown field',
};

/** Converts an error of Fastify or another library. */
function asPortalError(failure: FastifyError): PortalError {
  if (hasZodFastifySchemaValidationErrors(failure)) {
    const [{ instancePath, keyword } = { instancePath: '', keyword: '' }] = failure.validation;
    const field = instancePath.replace(/^\//, '').replaceAll('/', '.');
    if (field === 'invitation' && keyword === 'too_small') return incompleteInvitation();
    const subject = field === '' ? 'The request' : `The field ${field}`;
    return badRequest(`${subject} ${INVALID_FIELDS[keyword] ?? 'is invalid'}.`);
  }
  if (UNSTORABLE_TEXT.has(failure.code)) return badRequest('A text contains a character that cannot be stored.');
  const { statusCode = 500 } = failure;
  if (statusCode === 413) return new PortalError(413, 'The request is too large.');
  if (statusCode === 415) return new PortalError(415, 'Send JSON, with the content type application/json.');
  // No resource has an address with a parameter of this length.
  if (statusCode === 414) return notFound();
  if (statusCode >= 400 && statusCode < 500)
    return badRequest(INVALID_REQUESTS[failure.code] ?? 'The request is invalid.');
  if (isDatabaseOutage(failure)) return new PortalError(503, 'The portal cannot answer now.', ...tryAgainIn(5));
  return new PortalError(
    500,
    'Something went wrong in the portal.',
    'Try again later. If it happens again, tell your contact.',
  );
}

/** Removes the details of a database error, because they can contain the values of the statement. */
function forLog(failure: Error): Error {
  const reduced = new Error(failureText(failure));
  if (failure.stack !== undefined) reduced.stack = failure.stack;
  return 'code' in failure ? Object.assign(reduced, { code: failure.code }) : reduced;
}

function errorBody({ message, advice }: PortalError): z.infer<typeof ErrorSchema> {
  return { error: message, ...(advice !== undefined && { advice }) };
}

/** The code of Node's error about a request that has not arrived in time. */
export const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';
/** After this time, the connection is closed even if the sender of the request keeps its side open. */
const CLOSE_AFTER_MS = 1_000;

/**
 * Returns the handler for invalid HTTP, for headers that are too long, and for requests that take too long to arrive.
 */
export function answerUnreadableRequest(log: FastifyBaseLogger) {
  return (failure: Error & { readonly code?: string }, socket: Socket) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    setTimeout(() => socket.destroy(), CLOSE_AFTER_MS).unref();
    log.info({ request: randomUUID(), reason: failure.code ?? 'unknown' }, 'received a request that cannot be read');
    const [status, text] = unreadable(failure.code);
    const body = JSON.stringify({ error: text });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
  };
}

function unreadable(code: string | undefined): readonly [status: string, text: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['431 Request Header Fields Too Large', 'The headers are too long.'];
  if (code === TOO_SLOW) return ['408 Request Timeout', 'The request did not arrive in time.'];
  return ['400 Bad Request', 'The request is not valid HTTP.'];
}
