/** The HTTP side of the service: what every request goes through, and where the routes are put together. */
import { randomUUID } from 'node:crypto';
import fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Faults } from '../faults/faults';
import { allowanceHeaders, assertAllowed, tightestOf } from './allowance';
import { Authenticator } from './authentication';
import type { Api, ServiceContext } from './context';
import { countDailyRequest } from './daily-quota';
import { answerUnreadableRequest, sendError } from './error-answers';
import { notFound } from './errors';
import { meetFaults } from './faulty';
import { describeRoutes, documentationRoutes } from './openapi';
import { answerOtherMethods } from './other-methods';
import { RateLimiter } from './rate-limit';
import { ARRIVES_WITHIN_MS, assertShallow, MAX_BODY_BYTES } from './request-limits';
import { accountRoutes } from './routes/account';
import { companyRoutes } from './routes/companies';
import { connectionRoutes } from './routes/connections';
import { faultRoutes } from './routes/faults';
import { healthRoutes } from './routes/health';
import { integrationRoutes } from './routes/integrations';
import { linkRoutes } from './routes/link';
import { logoRoutes } from './routes/logos';
import { pushRoutes } from './routes/pushes';
import { recordRoutes } from './routes/records';
import { sandboxTokenRoutes } from './routes/sandbox-token';
import { syncSettingRoutes } from './routes/sync-settings';
import { syncRoutes } from './routes/syncs';
import { secureHeaders } from './security-headers';

export interface AppOptions {
  readonly context: ServiceContext;
  readonly logger: FastifyBaseLogger;
  /** Starts with a slash and does not end with one; empty for none. */
  readonly basePath: string;
  /** The base path, as it is seen from outside. */
  readonly publicPath: string;
  readonly requestsPerMinute: number;
  /** Per key and day, for the account itself and for each company with a linked connection. Absent: no quota. */
  readonly requestsPerDay?: number;
  /** Started for testing: faults can be ordered. */
  readonly faults: boolean;
}

export async function createApp(options: AppOptions): Promise<Api> {
  const { context, logger, basePath, publicPath } = options;
  const app: Api = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    logController: new LogController({ requestIdLogLabel: 'correlationId' }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: ARRIVES_WITHIN_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    frameworkErrors: sendError,
    clientErrorHandler: answerUnreadableRequest(logger),
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  // Responses are checked against their schemas by the compiler and the tests, not again for each request.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(sendError);
  secureHeaders(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-correlation-id', request.id);
    // Not in a handler of its own, which would read the body first.
    if (request.is404) throw notFound(`${request.method} ${request.url.split('?', 1)[0] ?? ''}`);
  });
  acceptJson(app);

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
        requireKey(keyed, options);
        if (options.faults) await orderedFaults(keyed, basePath);
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

/** Every route of `app` needs a key, and counts against its limits. */
function requireKey(app: Api, { context: { db }, requestsPerMinute, requestsPerDay }: AppOptions): void {
  const authenticator = new Authenticator(db);
  const limiter = new RateLimiter(db, requestsPerMinute);
  app.addHook('onRequest', async (request, reply) => {
    const { caller, refusal } = await authenticator.authenticate(request.headers.authorization);
    request.caller = caller;
    const perMinute = await limiter.count(caller.keyId);
    const perDay = requestsPerDay === undefined ? [] : [await countDailyRequest(db, caller, requestsPerDay)];
    const tightest = tightestOf([perMinute, ...perDay]);
    reply.headers(allowanceHeaders(tightest));
    // Before the limits: a key that opens nothing is not told to come back later.
    if (refusal) throw refusal;
    assertAllowed(tightest);
  });
}

/** The routes that are added from now on meet faults; those that order them do not. */
async function orderedFaults(app: Api, basePath: string): Promise<void> {
  const faults = new Faults();
  await app.register(async (orders: Api) => faultRoutes(orders, faults));
  meetFaults(app, faults, basePath);
}

/** Within limits. Clients that name a content type for a request without a body are common, and mean no body. */
function acceptJson(app: Api): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    try {
      assertShallow(body);
    } catch (refusal) {
      return done(refusal instanceof Error ? refusal : null);
    }
    void parseJson(request, body, done);
  });
}
