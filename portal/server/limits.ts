/** Limits on connections and requests: how many, how large, how deep, and how long. */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import rateLimit from '@fastify/rate-limit';
import type { Api } from './api';
import { badRequest, busy, TOO_SLOW, tooMany } from './errors';

/** Limit on every body except those with sealed credentials or a part of a manifest. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Limit on a body with sealed credentials. */
export const MAX_CREDENTIALS_BYTES = 30 * 1024 * 1024;
/** Limit on a body with a part of a manifest. 1,000 rows of the greatest length take 3 MB. */
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
/** Limit on the headers and the URL of a request, together. */
export const MAX_HEADER_BYTES = 8 * 1024;
/** The minimum rate at which a body must arrive, in bytes per check. */
const MIN_BYTES_PER_CHECK = 8 * 1024;
const MAX_DEPTH = 32;

export interface PortalLimits {
  /** Requests per minute and address to each route that signs people in. */
  readonly redemptionsPerMinute: number;
  /** Requests per minute and address. An office shares one address. */
  readonly requestsPerAddress: number;
  /** Requests per minute and session. */
  readonly requestsPerSession: number;
  /** Requests whose token does not belong to a current session, per minute and address. */
  readonly refusalsPerAddress: number;
  /** How many event streams may be open: in this process, and for one session. */
  readonly streams: number;
  readonly streamsPerSession: number;
  /** After this time without an event, the portal sends an SSE comment to keep the stream open. In milliseconds. */
  readonly silenceMs: number;
  /** A browser loses its stream if it leaves events unread for this time. In milliseconds. */
  readonly stalledMs: number;
  /** Requests of one session that are in progress, not counting its event streams. */
  readonly requestsAtOnce: number;
  /**
   * How many connections may be open: to this process, and from one address. The limit per address does not apply
   * behind a proxy, because all connections come from the proxy.
   */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** After this number of requests, a connection is closed. */
  readonly requestsPerConnection: number;
  /**
   * How many requests with sealed credentials or a part of a manifest may be in progress: in this process, and for one
   * migration. Each of these requests needs about 100 MB of memory.
   */
  readonly largeBodies: number;
  readonly largeBodiesPerMigration: number;
  /** How many reports and lists of links may be sent at once: by this process, and for one migration. */
  readonly largeAnswers: number;
  readonly largeAnswersPerMigration: number;
  /** Time within which the headers, and the complete request, must arrive. In milliseconds. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often the rate of an arriving body is checked. In milliseconds. */
  readonly bodyCheckMs: number;
  /** How long a connection without a request is kept. In milliseconds. */
  readonly keepAliveMs: number;
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
  requestsAtOnce: 50,
  connections: 5_000,
  connectionsPerAddress: 1_500,
  requestsPerConnection: 1_000,
  largeBodies: 4,
  largeBodiesPerMigration: 2,
  largeAnswers: 20,
  largeAnswersPerMigration: 4,
  headersMs: 10_000,
  requestMs: 60_000,
  bodyCheckMs: 10_000,
  // Longer than the idle limit of common load balancers (60 s), so that they never use a connection that was closed.
  keepAliveMs: 65_000,
};

/** Limits the requests of each address, before anything else is done for them. */
export async function limitRequests(app: Api, { requestsPerAddress }: PortalLimits): Promise<void> {
  // Each limit remembers the 5,000 addresses or sessions that were seen last, which is the default of the plugin.
  await app.register(rateLimit, { global: false, timeWindow: '1 minute', ipv6Subnet: 64 });
  app.addHook('onRequest', limiter(app, requestsPerAddress));
}

/**
 * Returns a function that counts a request, and throws a 429 if there were more than `max` with the same key in a
 * minute.
 *
 * @param keyOf default: the address of the request; of an IPv6 address, the first half, because all addresses of a /64
 *   network usually belong to one owner
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

/**
 * Returns a function that counts a request until its answer has been sent.
 *
 * @param refusal thrown if `max` requests with the same key are in progress
 */
export function concurrencyLimiter(max: number, refusal: () => Error): (key: string, reply: FastifyReply) => void {
  const isAdmitted = countUntilClosed(max);
  return (key, reply) => {
    if (!isAdmitted(key, reply.raw)) throw refusal();
  };
}

/** Returns a function that counts `source` until it is closed, or returns false if `max` with the same key are open. */
export function countUntilClosed(max: number): (key: string, source: EventEmitter) => boolean {
  const open = new Map<string, number>();
  return (key, source) => {
    const before = open.get(key) ?? 0;
    if (before >= max) return false;
    open.set(key, before + 1);
    source.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    });
    return true;
  };
}

/** Limits the large bodies and answers in memory at one time, and ends connections whose body arrives too slowly. */
export function limitBodies(app: Api, limits: PortalLimits): void {
  const { largeBodies, largeBodiesPerMigration, largeAnswers, largeAnswersPerMigration, bodyCheckMs } = limits;
  const countAll = concurrencyLimiter(largeBodies, () => busy(2));
  const countOfMigration = concurrencyLimiter(largeBodiesPerMigration, () => busy(2));
  const countAnswers = concurrencyLimiter(largeAnswers, () => busy(5));
  const countAnswersOfMigration = concurrencyLimiter(largeAnswersPerMigration, () => busy(5));
  app.addHook('preParsing', async (request, reply) => {
    if (request.routeOptions.config.isLargeBody === true) {
      countOfMigration(request.signedIn.migrationId, reply);
      countAll('all', reply);
    }
    if (request.routeOptions.config.isLargeAnswer === true) {
      countAnswersOfMigration(request.signedIn.migrationId, reply);
      countAnswers('all', reply);
    }
    if (!request.raw.complete) endIfSlow(app, request.raw, bodyCheckMs);
  });
}

/**
 * Ends a request whose body arrives too slowly. Without this check, a sender of one byte a second could keep a request
 * in progress until the time limit.
 */
function endIfSlow({ server }: Api, raw: IncomingMessage, everyMs: number): void {
  const { socket } = raw;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    const now = socket.bytesRead;
    // Emit the same error as Node does for a request that arrives too slowly, so that it is answered in the same way.
    if (!raw.complete && now - before < MIN_BYTES_PER_CHECK)
      server.emit('clientError', Object.assign(new Error('the body is slow'), { code: TOO_SLOW }), socket);
    before = now;
  }, everyMs);
  for (const event of ['end', 'close'] as const) raw.once(event, () => clearInterval(timer));
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

/** Returns whether JSON is nested deeper than `MAX_DEPTH`. Recursion through very deep JSON could exhaust the stack. */
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
