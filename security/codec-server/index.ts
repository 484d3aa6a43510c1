/**
 * The codec server: lets Temporal's UI and command show payloads to those who may read them.
 *
 * Its two calls are Temporal's: `POST /decode` and `POST /encode`, with `{"payloads": [{"metadata", "data"}]}` in
 * protobuf's JSON, and the namespace in `X-Namespace`.
 */
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createPayloadCodec, UnknownPayloadKey } from '../payload-codec';
import type { KeyRing } from '../key-ring';
import type { Reader, ReadToken } from './access';
import { KeySetUnavailable, TokenRefused } from './access';
import { isLoopback } from './loopback';

export { KeySetUnavailable, tokenReader } from './access';
export { isLoopback } from './loopback';

export interface CodecServerOptions {
  readonly payloadKeys: KeyRing;
  /** Whose pages may ask: `https://temporal.example.com`. */
  readonly origins: readonly string[];
  /** Null: nobody is asked for a token. Only for an address that nobody else reaches. */
  readonly readToken: ReadToken | null;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly log: Logger;
}

export interface CodecServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Of one reader; a page of Temporal's UI asks for some dozens. */
const CALLS_PER_MINUTE = 600;
/** From one address: whoever has no good token need not try on. */
const REFUSALS_PER_MINUTE = 60;
/** Temporal itself takes no larger message than 4 MB; in base64 that is a third more. */
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

/** Thrown when a call is not answered as asked; the message is for whoever asked. */
class CallRefused extends Error {
  override readonly name = 'CallRefused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** @throws when nobody is asked for a token and the address is not this machine's own */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const { payloadKeys, origins, readToken, host, port, log } = options;
  if (!readToken && !isLoopback(host))
    throw new Error(`without tokens the codec server listens on 127.0.0.1, not ${host}`);
  const codec = createPayloadCodec(payloadKeys);
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
    keyGenerator: keyOf,
  });

  const refusals = app.createRateLimit({
    max: REFUSALS_PER_MINUTE,
    timeWindow: '1 minute',
    keyGenerator: ({ ip }) => `refused ${ip}`,
  });

  const readers = new WeakMap<FastifyRequest, Reader>();
  function keyOf(request: FastifyRequest): string {
    return readers.get(request)?.subject ?? request.ip;
  }

  async function readerOf(request: FastifyRequest, read: ReadToken): Promise<Reader> {
    try {
      const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      if (token === undefined) throw new CallRefused(401, 'a bearer token is needed');
      return await read(token);
    } catch (error) {
      if (error instanceof KeySetUnavailable) throw error;
      // After it was looked at: behind a proxy everybody has one address, and whoever has a good token is let in.
      const soFar = await refusals(request);
      if (soFar.isAllowed || !soFar.isExceeded) throw error;
      throw new CallRefused(429, 'too many calls were refused, try again in a minute');
    }
  }

  app.addHook('onRequest', async (request) => {
    if (request.method === 'OPTIONS') return;
    const { origin } = request.headers;
    if (origin !== undefined && !origins.includes(origin)) throw new CallRefused(403, 'this page may not ask');
    if (!readToken) {
      // A page whose name was made to lead to this machine is of the same origin as what it calls.
      if (!isLoopback(request.hostname)) throw new CallRefused(403, 'without tokens only this machine may ask');
      return;
    }
    const reader = await readerOf(request, readToken);
    readers.set(request, reader);
    const namespace = namespaceOf(request);
    if (!reader.namespaces.includes(namespace))
      throw new CallRefused(403, `this token may not read namespace ${namespace}`);
  });

  app.addHook('onSend', async (_request, reply) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  for (const call of ['decode', 'encode'] as const) {
    app.post(`/${call}`, async (request) => {
      const parsed = body.safeParse(request.body);
      if (!parsed.success) throw new CallRefused(400, 'the body has to be {"payloads": [...]} in base64');
      const payloads = await codec[call](parsed.data.payloads.map((each) => StoredPayload.fromObject(each)));
      return { payloads: payloads.map(inJson) };
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
      'payloads were asked for',
    );
  });

  app.setErrorHandler(async (error, _request, reply) => refuse(reply, error, log));
  await app.listen({ host, port });
  const address = app.server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  return { url: `http://${host}:${listening}`, close: () => app.close() };
}

function refuse(reply: FastifyReply, error: unknown, log: Logger): FastifyReply {
  const [status, message] = refusalOf(error);
  if (status >= 500) log.error({ err: error }, 'a call of the codec server failed');
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply.status(status).send({ message });
}

function refusalOf(error: unknown): readonly [status: number, message: string] {
  if (error instanceof CallRefused) return [error.status, error.message];
  if (error instanceof TokenRefused) return [401, `this token is not accepted: ${error.message}`];
  if (error instanceof KeySetUnavailable) return [503, 'no token can be verified at the moment'];
  if (error instanceof UnknownPayloadKey) return [422, error.message];
  // Fastify's own: a body that is too large, no JSON, too many calls.
  if (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500
  ) {
    return [error.statusCode, error.message];
  }
  return [500, 'something is wrong here; the log says what'];
}

function namespaceOf(request: FastifyRequest): string {
  const { 'x-namespace': namespace } = request.headers;
  return typeof namespace === 'string' ? namespace : '';
}

function inJson({ metadata, data }: Payload): object {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]);
  return { metadata: Object.fromEntries(entries) as Record<string, string>, data: text(data ?? new Uint8Array()) };
}
