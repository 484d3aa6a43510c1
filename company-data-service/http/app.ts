/** The HTTP side of the service: what every request goes through, and where the routes are put together. */
import { randomUUID } from 'node:crypto';
import fastify, { LogController } from 'fastify';
import {
  hasZodFastifySchemaValidationErrors,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseError } from 'pg';
import { Authenticator } from './authentication';
import type { Api, ServiceContext } from './context';
import { ServiceError, badRequest, errorBody, notFound } from './errors';
import { answerOtherMethods } from './other-methods';
import { RateLimiter } from './rate-limit';
import { accountRoutes } from './routes/account';
import { companyRoutes } from './routes/companies';
import { connectionRoutes } from './routes/connections';
import { healthRoutes } from './routes/health';
import { integrationRoutes } from './routes/integrations';
import { linkRoutes } from './routes/link';
import { recordRoutes } from './routes/records';
import { sandboxTokenRoutes } from './routes/sandbox-token';
import { syncRoutes } from './routes/syncs';

export interface AppOptions {
  readonly context: ServiceContext;
  readonly logger: FastifyBaseLogger;
  /** Starts with a slash and does not end with one; empty for none. */
  readonly basePath: string;
  readonly requestsPerMinute: number;
}

export async function createApp({ context, logger, basePath, requestsPerMinute }: AppOptions): Promise<Api> {
  const app: Api = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    logController: new LogController({ requestIdLogLabel: 'correlationId' }),
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    frameworkErrors: sendError,
    clientErrorHandler: answerUnreadableRequest,
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  // Responses are checked against their schemas by the compiler and the tests, not again for each request.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request) => {
    throw notFound(`${request.method} ${request.url.split('?', 1)[0] ?? ''}`);
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-correlation-id', request.id);
  });
  acceptEmptyJson(app);

  const otherMethods = answerOtherMethods(app);
  await app.register(
    async (open: Api) => {
      healthRoutes(open, context);
      linkRoutes(open, context);
      sandboxTokenRoutes(open, context);
      await open.register(async (keyed: Api) => {
        requireKey(keyed, context, requestsPerMinute);
        companyRoutes(keyed, context);
        connectionRoutes(keyed, context);
        syncRoutes(keyed, context);
        recordRoutes(keyed, context);
        integrationRoutes(keyed, context);
        accountRoutes(keyed, context);
      });
    },
    { prefix: basePath },
  );
  otherMethods.register();
  return app;
}

/** Every route of `app` needs a key, and counts against its limit. */
function requireKey(app: Api, { db }: ServiceContext, requestsPerMinute: number): void {
  const authenticator = new Authenticator(db);
  const limiter = new RateLimiter(requestsPerMinute);
  app.addHook('onRequest', async (request, reply) => {
    request.caller = await authenticator.authenticate(request.headers.authorization);
    reply.headers(limiter.count(request.caller.keyId));
  });
}

/** Clients that name a content type for a request without a body are common, and mean no body. */
function acceptEmptyJson(app: Api): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, body, done);
  });
}

function sendError(failure: FastifyError | ServiceError, request: FastifyRequest, reply: FastifyReply): void {
  const error = failure instanceof ServiceError ? failure : asServiceError(failure);
  if (error.statusCode >= 500) request.log.error({ err: withoutValues(failure) }, 'the request failed');
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
  // Bad JSON, an oversized body, a content type that is not read: there is no 413 and no 415.
  if (failure instanceof DatabaseError && UNSTORABLE.has(failure.code ?? '')) {
    return badRequest([{ message: 'A text contains a character that cannot be stored.' }]);
  }
  const { statusCode = 500 } = failure;
  if (statusCode >= 400 && statusCode < 500) return badRequest([{ message: failure.message }]);
  return new ServiceError(500, 'The service failed. Please try again later.');
}

/** What may be logged of a failure: details that the database adds can hold the values of a row, credentials too. */
function withoutValues({ name, message, stack, code }: FastifyError | (ServiceError & { readonly code?: string })) {
  return { type: name, message, stack, code };
}

/** Answers what is not even HTTP. */
function answerUnreadableRequest(_failure: Error, socket: NodeJS.WritableStream & { readonly writable: boolean }) {
  if (!socket.writable) return;
  const correlationId = randomUUID();
  const body = JSON.stringify(errorBody(badRequest([{ message: 'The request is not valid HTTP.' }]), correlationId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Correlation-Id: ${correlationId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
