/**
 * The codec server: decrypts payloads so that Temporal's UI and CLI can show them to authorized readers.
 *
 * It implements Temporal's protocol: `POST /decode` and `POST /encode` with `{"payloads": [{"metadata", "data"}]}` in
 * protobuf's JSON form, and the namespace in the header `X-Namespace`.
 *
 * The server has the payload keys, so it checks every call: the `Origin`, if there is one, must be allowed, the bearer
 * token must be valid for the namespace, and calls are rate limited. Without token checks, the server accepts only
 * calls whose `Host` header names this machine. It logs the subject of every call, but not the content.
 */
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createPayloadCodec, UnknownPayloadKey } from '../payload-codec';
import type { KeyRing } from '../key-ring';
import { isLoopback, KeySetUnavailable, TokenRefused, type TokenBearer, type VerifyToken } from './access';

export { createTokenVerifier, isLoopback, KeySetUnavailable } from './access';

export interface CodecServerOptions {
  /** Keys that decrypt payloads. The newest key encrypts. */
  readonly payloadKeys: KeyRing;
  /** Allowed origins of pages, for example `https://temporal.example.com`. Pages of other origins get a 403. */
  readonly origins: readonly string[];
  /**
   * Null disables token checks: every caller whose `Host` header names this machine can decrypt. Only allowed on a
   * loopback address, or with `trustNetwork`.
   */
  readonly verifyToken: VerifyToken | null;
  /**
   * True if only trusted callers can reach `host`: it is in a separate network, and its port is published on this
   * machine only. The `Host` header must still name this machine, because a browser on this machine can reach the port.
   * Default: false.
   */
  readonly trustNetwork?: boolean;
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on; 0 for any free port. */
  readonly port: number;
  readonly log: Logger;
}

export interface CodecServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Limit of calls per reader, or per address if token checks are disabled. Temporal's UI makes one call for each event
 * of a page, so opening ten pages can take 1,000 calls.
 */
const CALLS_PER_MINUTE = 6_000;
/** Limit of calls without a valid token, per address. It slows down guessing. */
const REFUSALS_PER_MINUTE = 60;
/** Maximum size of a body: Temporal's largest message is 4 MB, and base64 makes it a third larger. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;
const MAX_PAYLOADS = 10_000;

const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/);
const body = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() }))
    .max(MAX_PAYLOADS)
    .default([]),
});

const { Payload: StoredPayload } = temporal.api.common.v1;

/** Thrown when a call is refused. The caller receives the message. */
class CallRefused extends Error {
  override readonly name = 'CallRefused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Starts the codec server.
 *
 * @throws when token checks are disabled, the network is not trusted, and `host` is not a loopback address
 */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { payloadKeys, origins, verifyToken, trustNetwork = false, host, port, log } = options;
  if (!verifyToken && !trustNetwork && !isLoopback(host))
    throw new Error(
      `without token checks, the codec server listens only on a loopback address such as 127.0.0.1, not on ${host}; ` +
        'omit --host, or check tokens with --issuer, --audience and --key-set',
    );
  const app = fastify({ bodyLimit: MAX_BODY_BYTES, trustProxy: false });
  await app.register(cors, {
    origin: [...origins],
    methods: ['POST'],
    allowedHeaders: ['authorization', 'content-type', 'x-namespace'],
    credentials: true,
    maxAge: 600,
  });
  await app.register(rateLimit, {
    max: CALLS_PER_MINUTE,
    timeWindow: '1 minute',
    hook: 'preHandler',
    keyGenerator: rateLimitKey,
  });

  const refusals = app.createRateLimit({
    max: REFUSALS_PER_MINUTE,
    timeWindow: '1 minute',
    keyGenerator: ({ ip }) => `refused ${ip}`,
  });

  const readers = new WeakMap<FastifyRequest, TokenBearer>();
  function rateLimitKey(request: FastifyRequest): string {
    return readers.get(request)?.subject ?? request.ip;
  }

  async function authenticate(request: FastifyRequest, verify: VerifyToken): Promise<TokenBearer> {
    try {
      const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      if (token === undefined) throw new CallRefused(401, 'a bearer token is required');
      return await verify(token);
    } catch (error) {
      if (error instanceof KeySetUnavailable) throw error;
      // Counts only calls without a valid token. Behind a proxy, all callers share one address, and this limit must not
      // block calls with valid tokens.
      const refused = await refusals(request);
      if (refused.isAllowed || !refused.isExceeded) throw error;
      throw new CallRefused(429, 'too many calls without a valid token; try again in a minute');
    }
  }

  app.addHook('onRequest', async (request) => {
    if (request.method === 'OPTIONS') return;
    const { origin } = request.headers;
    if (origin !== undefined && !origins.includes(origin))
      throw new CallRefused(403, 'pages from this origin may not call the codec server; allow an origin with --origin');
    if (!verifyToken) {
      // Prevents DNS rebinding: without this check, a page whose host name resolves to 127.0.0.1 could call this
      // server. The Host header of such a call contains that host name.
      if (!isLoopback(request.hostname))
        throw new CallRefused(403, 'without token checks, the Host header must name this machine, such as 127.0.0.1');
      return;
    }
    const reader = await authenticate(request, verifyToken);
    readers.set(request, reader);
    const namespace = namespaceOf(request);
    if (namespace === '') throw new CallRefused(400, 'the header X-Namespace is missing; it must name the namespace');
    if (!reader.namespaces.includes(namespace))
      throw new CallRefused(403, `this token does not give access to namespace ${namespace}`);
  });

  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  for (const call of ['decode', 'encode'] as const) {
    app.post(`/${call}`, async (request) => {
      const parsed = body.safeParse(request.body);
      if (!parsed.success)
        throw new CallRefused(
          400,
          'the body must be {"payloads": [...]} with at most 10,000 payloads, and with metadata and data in base64',
        );
      const namespace = namespaceOf(request);
      // The caller does not specify a workflow, so `encode` binds a payload at most to the namespace. `decode` does not
      // check to which namespace or workflow a payload is bound.
      const codec = createPayloadCodec(payloadKeys, namespace === '' ? {} : { namespace });
      const payloads = await codec[call](parsed.data.payloads.map((each) => StoredPayload.fromObject(each)));
      return { payloads: payloads.map(toJsonPayload) };
    });
  }

  app.addHook('onResponse', async (request, reply) => {
    if (request.method === 'OPTIONS') return;
    const { subject = null } = readers.get(request) ?? {};
    const { payloads } = (request.body ?? {}) as { readonly payloads?: readonly unknown[] };
    log.info(
      {
        subject,
        namespace: namespaceOf(request),
        call: request.routeOptions.url ?? null,
        payloads: Array.isArray(payloads) ? payloads.length : 0,
        status: reply.statusCode,
        from: request.ip,
      },
      'codec call',
    );
  });

  app.setErrorHandler(async (error, _request, reply) => sendRefusal(reply, error, log));
  await app.listen({ host, port });
  const address = app.server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  return { url: `http://${host}:${listening}`, close: () => app.close() };
}

function sendRefusal(reply: FastifyReply, error: unknown, log: Logger): FastifyReply {
  const [status, message] = refusalOf(error);
  if (status >= 500) log.error({ err: error }, 'codec call failed');
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply.status(status).send({ message });
}

function refusalOf(error: unknown): readonly [status: number, message: string] {
  if (error instanceof CallRefused) return [error.status, error.message];
  if (error instanceof TokenRefused) return [401, `this token is not valid: ${error.message}`];
  if (error instanceof KeySetUnavailable) return [503, 'tokens cannot be verified at the moment; try again later'];
  if (error instanceof UnknownPayloadKey) return [422, error.message];
  // Fastify's own errors: body too large, invalid JSON, too many calls.
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    return [error.statusCode, error.message];
  }
  return [500, 'internal error; see the log of the codec server'];
}

function namespaceOf(request: FastifyRequest): string {
  const { 'x-namespace': namespace } = request.headers;
  return typeof namespace === 'string' ? namespace : '';
}

function toJsonPayload({ metadata, data }: Payload): object {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]);
  return { metadata: Object.fromEntries(entries) as Record<string, string>, data: text(data ?? new Uint8Array()) };
}
