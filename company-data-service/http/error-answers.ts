/** Every error leaves the service through here, with the error body of the specification. */
import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { DatabaseError } from 'pg';
import { failureForLog } from '../failure-for-log';
import { ServiceError, badRequest, errorBody } from './errors';

/** Answers whatever was thrown with the error body. */
export function sendError(failure: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply): void {
  const error = failure instanceof ServiceError ? failure : asServiceError(failure);
  if (error.statusCode >= 500) request.log.error({ err: failureForLog(failure) }, 'the request failed');
  void reply
    .code(error.statusCode)
    .headers({ ...error.options.headers, 'x-correlation-id': request.id })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, request.id)));
}

/** Postgres: a NUL, half a surrogate pair, bytes that are not UTF-8. */
const UNSTORABLE = new Set(['22021', '22P02', '22P05']);

/** Whatever the framework or the code beneath threw, in the service's own terms. */
function asServiceError(failure: FastifyError): ServiceError {
  if (hasZodFastifySchemaValidationErrors(failure)) {
    return badRequest(
      failure.validation.map(({ instancePath, message = 'is invalid' }) => {
        const itemId = instancePath.replace(/^\//, '').replaceAll('/', '.') || failure.validationContext || 'body';
        return { itemId, message: `${itemId}: ${message}` };
      }),
    );
  }
  if (failure instanceof DatabaseError && UNSTORABLE.has(failure.code ?? '')) {
    return badRequest([{ message: 'A text contains a character that cannot be stored.' }]);
  }
  // Bad JSON, an oversized body, a content type that is not read: there is no 413 and no 415.
  const { statusCode = 500 } = failure;
  if (statusCode >= 400 && statusCode < 500) return badRequest([{ message: failure.message }]);
  return new ServiceError(500, 'The service failed. Please try again later.');
}

/** Answers what is not even HTTP. */
export function answerUnreadableRequest(log: FastifyBaseLogger) {
  return (_failure: Error, socket: NodeJS.WritableStream & { readonly writable: boolean }) => {
    if (!socket.writable) return;
    const correlationId = randomUUID();
    log.info({ correlationId }, 'answered what is not HTTP');
    const body = JSON.stringify(errorBody(badRequest([{ message: 'The request is not valid HTTP.' }]), correlationId));
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Correlation-Id: ${correlationId}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  };
}
