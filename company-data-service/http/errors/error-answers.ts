/** Converts every error into the error body that the service's specification defines. */
import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { DatabaseError } from 'pg';
import { failureForLog } from '../../database/database';
import { ServiceError, badRequest, errorBody } from './errors';

/** Sends the error body, and logs failures of the service itself. */
export function sendError(failure: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply): void {
  const error = failure instanceof ServiceError ? failure : asServiceError(failure);
  if (error.statusCode >= 500) request.log.error({ err: failureForLog(failure) }, 'the request failed');
  void reply
    .code(error.statusCode)
    .headers({ ...error.options.headers, 'x-correlation-id': request.id })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, request.id)));
}

/** Postgres error codes for text that cannot be stored: NUL, half a surrogate pair, invalid UTF-8. */
const UNSTORABLE_TEXT = new Set(['22021', '22P02', '22P05']);

/** Converts an error of Fastify or another library. */
function asServiceError(failure: FastifyError): ServiceError {
  if (hasZodFastifySchemaValidationErrors(failure)) {
    return badRequest(
      failure.validation.map(({ instancePath, message = 'is invalid' }) => {
        const itemId = instancePath.replace(/^\//, '').replaceAll('/', '.') || failure.validationContext || 'body';
        return { itemId, message: `${itemId}: ${message}` };
      }),
    );
  }
  if (failure instanceof DatabaseError && UNSTORABLE_TEXT.has(failure.code ?? '')) {
    return badRequest([{ message: 'A text contains a character that cannot be stored.' }]);
  }
  // Invalid JSON, an oversized body and an unsupported content type are all a 400, because the specification has no 413
  // or 415.
  const { statusCode = 500 } = failure;
  if (statusCode >= 400 && statusCode < 500) return badRequest([{ message: failure.message }]);
  return new ServiceError(500, 'The service failed. Please try again later.');
}

type Connection = NodeJS.WritableStream & { readonly writable: boolean };

/** Returns the handler for invalid HTTP, an overlong URL or headers, and requests that arrive too slowly. */
export function answerUnreadableRequest(log: FastifyBaseLogger) {
  return (failure: Error & { readonly code?: string }, connection: Connection) =>
    refuseConnection(log, connection, unreadable(failure.code));
}

/**
 * Returns the handler for CONNECT, which answers 400. A CONNECT request names another server instead of a resource of
 * this API, so 405 would be wrong.
 */
export function answerConnect(log: FastifyBaseLogger) {
  return (_request: unknown, connection: Connection) =>
    refuseConnection(log, connection, 'The method CONNECT is not supported.');
}

function unreadable(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The URL or the headers are too long.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'The request is not valid HTTP.';
}

/** Answers 400, and closes the connection. */
function refuseConnection(log: FastifyBaseLogger, connection: Connection, message: string): void {
  if (!connection.writable) return;
  const correlationId = randomUUID();
  log.info({ correlationId, reason: message }, 'refused a request');
  const body = JSON.stringify(errorBody(badRequest([{ message }]), correlationId));
  connection.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Correlation-Id: ${correlationId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
