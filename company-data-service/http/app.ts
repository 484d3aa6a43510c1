/** Builds the HTTP app: the hooks that run for every request, and the routes. */
import { randomUUID } from 'node:crypto';
import fastify, { LogController, type FastifyBaseLogger } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Faults } from '../faults/faults';
import { allowanceHeaders, assertAllowed, tightestAllowance } from './limits/allowance';
import { AddressLimit } from './limits/address-limit';
import { Authenticator } from './authentication';
import type { Api, ServiceContext } from './context';
import { countDailyRequest } from './limits/daily-quota';
import { answerConnect, answerUnreadableRequest, sendError } from './errors/error-answers';
import { badRequest, notFound } from './errors/errors';
import { applyFaults } from './fault-hooks';
import { describeRoutes, documentationRoutes } from './openapi/openapi';
import { answerOtherMethods } from './other-methods';
import { RateLimiter } from './limits/rate-limit';
import { REQUEST_TIMEOUT_MS, assertShallow, decodeUtf8, MAX_BODY_BYTES } from './limits/request-limits';
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
import { addTraces, type ContinueTrace } from './trace-hooks';

/** With these headers, responses are not cached, framed or sniffed, and pages cannot run scripts or load files. */
const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The URL of a link page must not leak, because anyone who knows the URL can authorize the company's connections.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Requests with a wrong API key are limited per address: to the rate limit of a valid key, divided by this number. */
const WRONG_KEY_LIMIT_DIVISOR = 10;

export interface AppOptions {
  readonly context: ServiceContext;
  readonly logger: FastifyBaseLogger;
  /** The path before every endpoint: empty, or with a leading slash and no trailing slash. */
  readonly basePath: string;
  /** The path of the service's public URL. */
  readonly publicPath: string;
  readonly requestsPerMinute: number;
  /** See `ServiceOptions`. Absent if there is no quota. */
  readonly requestsPerDay?: number;
  /** True adds the routes that make the service fail, for tests of programs that call it. */
  readonly faults: boolean;
  /** See `ServiceOptions`. */
  readonly continueTrace?: ContinueTrace;
}

export async function createApp(options: AppOptions): Promise<Api> {
  const { context, logger, basePath, publicPath } = options;
  const app: Api = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    logController: new LogController({ requestIdLogLabel: 'correlationId' }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // The first hook refuses a request without a Host header, because Node would refuse it without the error body.
    http: { requireHostHeader: false },
    frameworkErrors: sendError,
    clientErrorHandler: answerUnreadableRequest(logger),
  }).withTypeProvider<ZodTypeProvider>();

  // Without these listeners, Node would answer an unknown `Expect` with an empty 417, and close the connection of a
  // CONNECT without an answer.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Without a listener for errors, a caller that resets the connection of a CONNECT would end the process.
  app.server.on('connect', (_request, socket) => socket.on('error', () => undefined));
  app.server.on('connect', answerConnect(logger));

  app.setValidatorCompiler(validatorCompiler);
  // Responses are not validated at run time, because the compiler checks them against their schemas, and the tests
  // check them against the specification.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(sendError);
  app.addHook('onRequest', async (request, reply) => {
    // A route can override these headers. `Strict-Transport-Security` must be added by the proxy that terminates TLS.
    reply.headers(SECURITY_HEADERS);
    reply.header('x-correlation-id', request.id);
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw badRequest([{ message: 'The request has no Host header.' }]);
    // There is no not-found handler, because it would run only after the body has been read.
    if (request.is404) throw notFound(`${request.method} ${request.url.split('?', 1)[0] ?? ''}`);
  });
  if (options.continueTrace) addTraces(app, options.continueTrace);
  acceptJson(app);

  const otherMethods = answerOtherMethods(app);
  await describeRoutes(app, basePath);
  await app.register(
    async (publicApi: Api) => {
      await documentationRoutes(publicApi, context, publicPath);
      healthRoutes(publicApi, context);
      logoRoutes(publicApi);
      await publicApi.register(async (limitedApi: Api) => {
        limitAddresses(limitedApi, options);
        linkRoutes(limitedApi, context);
        sandboxTokenRoutes(limitedApi, context);
      });
      await publicApi.register(async (keyedApi: Api) => {
        requireKey(keyedApi, options);
        const faults = options.faults ? new Faults() : null;
        if (faults) faultRoutes(keyedApi, faults);
        // Faults must not affect the routes that configure them. Fastify applies the hooks of an instance to all its
        // routes, so the other routes get an instance with the fault hooks.
        await keyedApi.register(async (api: Api) => {
          if (faults) applyFaults(api, faults, basePath);
          companyRoutes(api, context);
          connectionRoutes(api, context);
          syncRoutes(api, context);
          recordRoutes(api, context);
          syncSettingRoutes(api, context);
          pushRoutes(api, context);
          integrationRoutes(api, context);
          accountRoutes(api, context);
        });
      });
    },
    { prefix: basePath },
  );
  otherMethods.register();
  return app;
}

/** Makes every route of `app` require an API key, and counts each request against the limits of its key. */
function requireKey(app: Api, { context: { db }, requestsPerMinute, requestsPerDay }: AppOptions): void {
  const authenticator = new Authenticator(db, Math.ceil(requestsPerMinute / WRONG_KEY_LIMIT_DIVISOR));
  const limiter = new RateLimiter(db, requestsPerMinute);
  app.addHook('onRequest', async (request, reply) => {
    const { caller, refusal } = await authenticator.authenticate(request);
    request.caller = caller;
    const perMinute = await limiter.count(caller.keyId);
    const perDay = requestsPerDay === undefined ? [] : [await countDailyRequest(db, caller, requestsPerDay)];
    const tightest = tightestAllowance([perMinute, ...perDay]);
    reply.headers(allowanceHeaders(tightest));
    // Refuse an unusable key before the limits are checked, because its caller must not be told to retry later.
    if (refusal) throw refusal;
    assertAllowed(tightest);
  });
}

/**
 * Limits how many requests per minute each address can send to the routes of `app`, because these routes use the
 * database without an API key.
 */
function limitAddresses(app: Api, { requestsPerMinute }: AppOptions): void {
  const limit = new AddressLimit(requestsPerMinute);
  app.addHook('onRequest', async (request) => {
    limit.assertBelow(request);
    limit.count(request);
  });
}

/** Parses JSON within limits. Accepts an empty body, because some callers send a content type without a body. */
function acceptJson(app: Api): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    let body: string;
    try {
      body = decodeUtf8(bytes);
      assertShallow(body);
    } catch (refusal) {
      return done(refusal instanceof Error ? refusal : null);
    }
    void parseJson(request, body, done);
  });
}
