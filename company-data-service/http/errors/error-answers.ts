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

/**
 * Returns the handler that answers 400 to invalid HTTP, to CONNECT, to a URL or headers that are too long, and to
 * requests that take too long to arrive.
 */
export function answerUnreadableRequest(log: FastifyBaseLogger) {
  return (_failure: Error, socket: NodeJS.WritableStream & { readonly writable: boolean }) => {
    if (!socket.writable) return;
    const correlationId = randomUUID();
    log.info({ correlationId }, 'received a request that cannot be read');
    const body = JSON.stringify(
      errorBody(
        badRequest([
          { message: 'The request is not valid HTTP, its URL or headers are too long, or it did not arrive in time.' },
        ]),
        correlationId,
      ),
    );
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Correlation-Id: ${correlationId}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
}
