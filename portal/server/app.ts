/** Builds the HTTP app: the hooks that run for every request, and the routes. */
import { randomUUID } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { authorize } from './access';
import type { Api } from './api';
import { limitConnections } from './connections';
import type { PortalContext } from './context';
import { answerUnreadableRequest, notFound, sendError } from './errors';
import { addHeaders } from './headers';
import { acceptJsonOnly, limitBodies, limitRequests, MAX_BODY_BYTES, MAX_HEADER_BYTES } from './limits';
import { describeRoutes } from './openapi/openapi';
import { identityRoutes } from './routes/identity';
import { migrationRoutes } from './routes/migration';
import { pageRoutes } from './routes/page';
import { requestRoutes } from './routes/requests';
import { serviceRoutes } from './routes/service';
import { sessionRoutes } from './routes/session';

export interface AppOptions {
  readonly context: PortalContext;
  readonly logger: FastifyBaseLogger;
  readonly publicUrl: string;
  /** Certificate and key; absent if the portal serves HTTP. */
  readonly tls: Pick<ServerOptions, 'cert' | 'key'> | undefined;
  /** The proxies whose `X-Forwarded-For` is trusted; false for none. */
  readonly trustProxy: readonly string[] | false;
  /** True if only a proxy can reach the portal. */
  readonly behindProxy: boolean;
}

export async function createApp({
  context,
  logger,
  publicUrl,
  tls,
  trustProxy,
  behindProxy,
}: AppOptions): Promise<Api> {
  const { limits } = context;
  const server = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(2_000, limits.headersMs),
  };
  const app: Api = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxRequestsPerSocket: limits.requestsPerConnection,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    trustProxy: trustProxy === false ? false : [...trustProxy],
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: sendError,
    clientErrorHandler: answerUnreadableRequest(logger),
    ...(tls ? { https: { ...server, ...tls } } : { http: server }),
  }).withTypeProvider<ZodTypeProvider>();
  limitConnections(
    app,
    behindProxy || trustProxy !== false ? { ...limits, connectionsPerAddress: limits.connections } : limits,
  );

  app.setValidatorCompiler(validatorCompiler);
  // Answers are not validated at run time, because the compiler and the tests check them against their schemas.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(async () => {
    throw notFound();
  });
  acceptJsonOnly(app);
  addHeaders(app, publicUrl.startsWith('https:'));
  logRequests(app);
  await limitRequests(app, limits);
  await describeRoutes(app, publicUrl);
  authorize(app, context);
  limitBodies(app, limits);

  sessionRoutes(app, context);
  identityRoutes(app, context);
  migrationRoutes(app, context);
  requestRoutes(app, context);
  serviceRoutes(app, context);
  pageRoutes(app, context);
  return app;
}

/**
 * Logs a line for each answer, except those of `/health`. The line contains the pattern of the route instead of the
 * URL, because a URL can contain names.
 */
function logRequests(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const { signedIn, routeOptions, method, ip, log } = request;
    const invitation = (signedIn as typeof signedIn | undefined)?.invitationId;
    log.info(
      {
        ...{ method, route: routeOptions.url ?? null, status: reply.statusCode },
        ...{ ms: Math.round(reply.elapsedTime), from: ip, invitation },
      },
      'request',
    );
  });
}
