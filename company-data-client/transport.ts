/**
 * Transport: sends one HTTP request to the service, at most once, over a pooled connection.
 *
 * The pools connect to one origin only, so the API key cannot be sent anywhere else. There are two pools, each with the
 * same number of connections: one reuses connections, the other opens a new connection for each request. A semaphore
 * per pool limits the requests in flight, because undici's own queue has no deadline. The time limit of a request
 * starts when it gets a connection and covers the complete response.
 *
 * The reason for a failure shows whether the request could have left this machine: `refused` if it certainly did not,
 * `dropped`, `malformed` or `time-out` if it might have.
 *
 * Interim responses (102, 103) before the final response are skipped. A 100 is an exception: no request expects one, and
 * undici always closes the connection when one arrives. It counts as a malformed response.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isNativeError } from 'node:util/types';
import { type Dispatcher, errors, Pool } from 'undici';
import { type CompanyDataError, NoResponse, UnreadableResponse } from './errors';
import { createSemaphore, type Semaphore } from './semaphore';

/** Longest error body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Longest success body that is read. A page of 5,000 large records is about 10 MB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;

export interface HttpRequest {
  /** Method and path, which identify the call in errors. */
  readonly label: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query on the service's origin. */
  readonly path: string;
  readonly json?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Time limit for the complete response, in milliseconds from the moment a connection is free. */
  readonly timeoutMs: number;
  /**
   * True: the request gets a new connection, because the service can close a reused connection just as a request is
   * sent. The response would then be lost.
   */
  readonly freshConnection: boolean;
}

/** A response with any status. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Why `body` is incomplete; absent if it is complete. */
  readonly cutOff?: CompanyDataError;
  /** Milliseconds from the moment a connection was free. */
  readonly durationMs: number;
}

export interface Transport {
  /**
   * Sends one request once.
   *
   * @param latest deadline for getting a connection, epoch milliseconds
   * @throws {NoResponse} if no status arrived; the reason is `refused` if no connection became free before `latest`
   * @throws the signal's reason as soon as the signal aborts
   */
  send(request: HttpRequest, latest: number, signal: AbortSignal | undefined): Promise<HttpResponse>;
  /** Waits until no request is in flight, then closes all connections. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly origin: string;
  /** Value of the `Authorization` header of every request. */
  readonly authorization: string;
  /** Maximum number of requests in flight in each of the two pools. */
  readonly connections: number;
}

interface LimitedPool {
  readonly pool: Pool;
  readonly slots: Semaphore;
}

export function createTransport({ origin, authorization, connections }: TransportOptions): Transport {
  // undici's own time-outs are coarse and restart with every chunk of the body, so one exact deadline replaces them.
  const options = { connections, connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 };
  const limitedPool = (pipelining: number): LimitedPool => ({
    pool: new Pool(origin, { ...options, pipelining }),
    slots: createSemaphore(connections),
  });
  const reused = limitedPool(1);
  // With pipelining 0, undici closes a connection after its response.
  const fresh = limitedPool(0);

  return {
    async send(request, latest, signal) {
      const { pool, slots } = request.freshConnection ? fresh : reused;
      const release = await slots.acquire(latest, signal);
      if (!release) throw new NoResponse(request.label, 'refused', 'not sent: no connection became free in time');
      const deadline = startDeadline(request, signal);
      const startedAt = performance.now();
      try {
        const response = await pool.request({
          method: request.method,
          path: request.path,
          headers: {
            accept: 'application/json',
            authorization,
            ...(request.json !== undefined && { 'content-type': 'application/json' }),
            ...(request.idempotencyKey !== undefined && { 'idempotency-key': request.idempotencyKey }),
          },
          ...(request.json !== undefined && { body: request.json }),
          signal: deadline.signal,
        });
        const complete = await readAll(request.label, response);
        signal?.throwIfAborted();
        return { ...complete, durationMs: performance.now() - startedAt };
      } catch (error) {
        signal?.throwIfAborted();
        throw noResponse(request.label, error);
      } finally {
        deadline.clear();
        release();
      }
    },

    async close() {
      await Promise.all([reused.pool.close(), fresh.pool.close()]);
    },
  };
}

/**
 * Creates a signal that aborts when the request's time limit is exceeded or the caller's signal aborts.
 * `AbortSignal.any` is not used, because a long-lived signal would keep one dependent signal for every request.
 */
function startDeadline({ label: call, timeoutMs }: HttpRequest, signal: AbortSignal | undefined) {
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new NoResponse(call, 'time-out', `no complete response arrived within ${timeoutMs} ms`));
  }, timeoutMs);
  const abort = () => deadline.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: deadline.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

/** Reads the body up to a limit. A response whose body breaks off is still a response, because its status is known. */
async function readAll(call: string, { statusCode: status, headers, body }: Dispatcher.ResponseData) {
  const limit = status >= 400 ? MAX_ERROR_BYTES : MAX_BODY_BYTES;
  const chunks: Buffer[] = [];
  let size = 0;
  let cutOff: CompanyDataError | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limit) continue;
      cutOff = new UnreadableResponse(call, status, undefined, `the response is longer than ${limit} bytes`);
      break;
    }
  } catch (error) {
    cutOff = noResponse(call, error);
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, limit));
  return { status, headers, body: text, ...(cutOff && { cutOff }) };
}

function noResponse(call: string, error: unknown): NoResponse {
  if (error instanceof NoResponse) return error;
  const message = isNativeError(error) ? error.message : String(error);
  if (neverConnected(error)) return new NoResponse(call, 'refused', `could not connect: ${message}`, { cause: error });
  if (isMalformed(error)) return new NoResponse(call, 'malformed', `not valid HTTP: ${message}`, { cause: error });
  return new NoResponse(call, 'dropped', `the connection broke: ${message}`, { cause: error });
}

/** Returns whether name resolution, connecting or the certificate check failed, so that the request never left. */
function neverConnected(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const { code, syscall, errors: each }: NodeJS.ErrnoException & { errors?: readonly unknown[] } = error;
  if (each !== undefined) return each.every(neverConnected); // One error per address of the host.
  const isCertificate = code !== undefined && /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
  return isCertificate || syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

/**
 * Returns whether a response arrived that is not valid HTTP: no status line, oversized headers, contradictory lengths, a
 * 100, or a change of protocol that was not requested.
 */
function isMalformed(error: unknown): boolean {
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return true;
  if (error instanceof errors.ResponseContentLengthMismatchError) return true;
  return error instanceof errors.SocketError && ['bad response', 'bad upgrade'].includes(error.message);
}
