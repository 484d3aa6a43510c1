/** The HTTP side of the service: what every request goes through, and where the routes are put together. */
import { randomUUID } from 'node:crypto';
import fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Authenticator } from './authentication';
import type { Api, ServiceContext } from './context';
import { answerUnreadableRequest, sendError } from './error-answers';
import { notFound } from './errors';
import { describeRoutes, documentationRoutes } from './openapi';
import { answerOtherMethods } from './other-methods';
import { RateLimiter } from './rate-limit';
import { accountRoutes } from './routes/account';
import { companyRoutes } from './routes/companies';
import { connectionRoutes } from './routes/connections';
import { healthRoutes } from './routes/health';
import { integrationRoutes } from './routes/integrations';
import { linkRoutes } from './routes/link';
import { logoRoutes } from './routes/logos';
import { pushRoutes } from './routes/pushes';
import { recordRoutes } from './routes/records';
import { sandboxTokenRoutes } from './routes/sandbox-token';
import { syncSettingRoutes } from './routes/sync-settings';
import { syncRoutes } from './routes/syncs';

export interface AppOptions {
  readonly context: ServiceContext;
  readonly logger: FastifyBaseLogger;
  /** Starts with a slash and does not end with one; empty for none. */
  readonly basePath: string;
  /** The base path, as it is seen from outside. */
  readonly publicPath: string;
  readonly requestsPerMinute: number;
}

export async function createApp({
  context,
  logger,
  requestsPerMinute,
  basePath,
  publicPath,
}: AppOptions): Promise<Api> {
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
  await describeRoutes(app, basePath);
  await app.register(
    async (open: Api) => {
      await documentationRoutes(open, context, publicPath);
      healthRoutes(open, context);
      linkRoutes(open, context);
      logoRoutes(open);
      sandboxTokenRoutes(open, context);
      await open.register(async (keyed: Api) => {
        requireKey(keyed, context, requestsPerMinute);
        companyRoutes(keyed, context);
        connectionRoutes(keyed, context);
        syncRoutes(keyed, context);
        recordRoutes(keyed, context);
        syncSettingRoutes(keyed, context);
        pushRoutes(keyed, context);
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
