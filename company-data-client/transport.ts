import type { IncomingHttpHeaders } from 'node:http';
import { isNativeError } from 'node:util/types';
import { type Dispatcher, Pool } from 'undici';
import { type CompanyDataError, NoAnswer, UnreadableAnswer } from './errors';
import { createSemaphore, type Semaphore } from './semaphore';

/** More of an error's body than anybody reads. */
const MAX_ERROR_BYTES = 64 * 1024;
/** A page of 5,000 large records is about 10 MB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  /** Method and path as they stand in errors. */
  readonly call: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query on the service's origin. */
  readonly path: string;
  readonly json?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** For the whole answer, from the moment a connection is free. */
  readonly timeoutMs: number;
  /** Send it over a connection that nothing was sent over before. */
  readonly freshConnection: boolean;
}

/** What came back, whatever it is. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Why `body` is not all of it; absent when it is. */
  readonly cutOff?: CompanyDataError;
  /** From the moment at which a connection was free. */
  readonly durationMs: number;
}

export interface Transport {
  /**
   * Sends one request once; not at all when no connection is free before `latest`.
   * @throws {NoAnswer} when not even a status came.
   */
  send(request: HttpRequest, latest: number, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly origin: string;
  /** The value of each request's `Authorization` header. */
  readonly authorization: string;
  /** How many requests are on their way at once. */
  readonly connections: number;
}

interface Lane {
  readonly pool: Pool;
  readonly slots: Semaphore;
}

/** Requests over kept connections to one origin: there is no way to send the key to another. */
export function createTransport({ origin, authorization, connections }: TransportOptions): Transport {
  // undici's own time-outs are coarse and begin anew with every piece of the body; one deadline for the whole is exact.
  const pool = { connections, connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 };
  const lane = (options: Pool.Options): Lane => ({
    pool: new Pool(origin, options),
    slots: createSemaphore(connections),
  });
  const kept = lane({ ...pool, pipelining: 1 });
  // undici takes 0 for "close each connection after its answer".
  const fresh = lane({ ...pool, pipelining: 0 });

  return {
    async send(request, latest, signal) {
      const { pool, slots } = request.freshConnection ? fresh : kept;
      const giveBack = await slots.take(latest, signal);
      if (!giveBack) throw new NoAnswer(request.call, 'refused', 'never sent: no connection was free in time');
      const deadline = openDeadline(request, signal);
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
        const answer = await readAll(request.call, response);
        signal?.throwIfAborted();
        return { ...answer, durationMs: performance.now() - startedAt };
      } catch (error) {
        signal?.throwIfAborted();
        throw noAnswer(request.call, error);
      } finally {
        deadline.close();
        giveBack();
      }
    },

    async close() {
      await Promise.all([kept.pool.close(), fresh.pool.close()]);
    },
  };
}

/**
 * Aborts when the request's time is over, or the caller's signal aborts. Not `AbortSignal.any`: it would gather on a
 * signal that lives long.
 */
function openDeadline({ call, timeoutMs }: HttpRequest, signal: AbortSignal | undefined) {
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new NoAnswer(call, 'time-out', `no whole answer within ${timeoutMs} ms`));
  }, timeoutMs);
  const abort = () => deadline.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: deadline.signal,
    close() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

/** The whole body, within limits. A body that breaks off is still an answer: its status is known. */
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
      cutOff = new UnreadableAnswer(call, status, undefined, `the answer is longer than ${limit} bytes`);
      break;
    }
  } catch (error) {
    cutOff = noAnswer(call, error);
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, limit));
  return { status, headers, body: text, ...(cutOff && { cutOff }) };
}

function noAnswer(call: string, error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  const message = isNativeError(error) ? error.message : String(error);
  if (neverConnected(error)) return new NoAnswer(call, 'refused', `no connection: ${message}`, { cause: error });
  return new NoAnswer(call, 'dropped', `the connection broke: ${message}`, { cause: error });
}

/** True when the request certainly never left: the name, the connection or the service's certificate was no good. */
function neverConnected(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const { code, syscall, errors }: NodeJS.ErrnoException & { errors?: readonly unknown[] } = error;
  if (errors !== undefined) return errors.every(neverConnected); // one for each address of the name
  const isCertificate = code !== undefined && /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
  return isCertificate || syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
