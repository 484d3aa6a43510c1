/** Limits on requests: how many, how large, how deep, and how long. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { Api } from './api';
import { badRequest, busy, tooMany } from './errors';

/** Limit on every body but those of sealed credentials and of manifests. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Limit on a body with sealed credentials. */
export const MAX_CREDENTIALS_BYTES = 30 * 1024 * 1024;
/** Limit on a body with a part of a manifest. 1,000 rows of the greatest length have 3 MB. */
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
/** Limit on the headers and the URL of a request, together. */
export const MAX_HEADER_BYTES = 8 * 1024;
/** Time within which the headers, and the complete request, must arrive. */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the idle limit of common load balancers (60 s), so that they never use a connection that just closed. */
export const KEEP_ALIVE_MS = 65_000;
const MAX_DEPTH = 32;

export interface PortalLimits {
  /** Redemptions of invitations per minute and address. */
  readonly redemptionsPerMinute: number;
  /** Requests per minute and address. An office shares one address. */
  readonly requestsPerAddress: number;
  /** Requests per minute and session. */
  readonly requestsPerSession: number;
  /** Requests per minute and address with the token of no current session. */
  readonly refusalsPerAddress: number;
  /** Open event streams of the process, and of one session. */
  readonly streams: number;
  readonly streamsPerSession: number;
  /** After this time without an event, a comment keeps a stream open. In milliseconds. */
  readonly silenceMs: number;
  /** A browser that has read nothing of a view for this time loses its stream. In milliseconds. */
  readonly stalledMs: number;
  /** Connections of the process. */
  readonly connections: number;
  /** Bodies with sealed credentials or a part of a manifest that are read at the same time. Each one needs about 100 MB of memory. */
  readonly largeBodies: number;
}

export const DEFAULT_LIMITS: PortalLimits = {
  redemptionsPerMinute: 10,
  requestsPerAddress: 3_000,
  requestsPerSession: 600,
  refusalsPerAddress: 60,
  streams: 2_500,
  streamsPerSession: 10,
  silenceMs: 15_000,
  stalledMs: 60_000,
  connections: 5_000,
  largeBodies: 4,
};

/** Limits the requests of each address, before anything else is done for them. */
export async function limitRequests(app: Api, { requestsPerAddress }: PortalLimits): Promise<void> {
  // Of the addresses and sessions, the least recently seen ones are forgotten when there are more than these.
  await app.register(rateLimit, { global: false, timeWindow: '1 minute', cache: 20_000, ipv6Subnet: 64 });
  app.addHook('onRequest', limiter(app, requestsPerAddress));
}

/**
 * Returns a function that counts a request, and throws a 429 if there were more than `max` with the same key in a
 * minute.
 *
 * @param keyOf default: the address of the request; of an IPv6 address, the first half, because one client usually has
 *   all addresses of a /64 network
 */
export function limiter(
  app: Api,
  max: number,
  keyOf?: (request: FastifyRequest) => string,
): (request: FastifyRequest) => Promise<void> {
  const count = app.createRateLimit({ max, ...(keyOf && { keyGenerator: keyOf }) });
  return async (request) => {
    const result = await count(request);
    if (!result.isAllowed && result.isExceeded) throw tooMany('Too many requests.', Math.max(1, result.ttlInSeconds));
  };
}

/** Limits how many large bodies are in memory at the same time. */
export function limitLargeBodies(app: Api, { largeBodies }: PortalLimits): void {
  let reading = 0;
  app.addHook('preParsing', async (request, reply) => {
    if (request.routeOptions.config.isLargeBody !== true) return;
    if (reading >= largeBodies) throw busy(2);
    reading += 1;
    reply.raw.once('close', () => (reading -= 1));
  });
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON, and refuses invalid UTF-8, deep nesting and keys that would change an object's prototype. */
export function acceptJsonOnly(app: Api): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    let text: string;
    try {
      text = UTF8.decode(bytes);
    } catch {
      return done(badRequest('The request is not valid UTF-8.'));
    }
    if (isTooDeep(text)) return done(badRequest('The request is nested too deeply.'));
    void parseJson(request, text, done);
  });
}

/** Returns whether JSON is nested so deeply that handling it recursively could exhaust the stack. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
