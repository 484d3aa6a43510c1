/**
 * Transport: sends one HTTP request to the service, at most once, over an idle or a new connection (connections.ts).
 *
 * The connections lead to one origin only, so the API key cannot be sent anywhere else. Two semaphores limit the
 * requests in flight, one for authorizations and one for all other requests, so that slow authorizations do not delay
 * the rest. The time limit of a request starts when it gets a connection and covers the complete response.
 *
 * The reason for a failure shows whether the request could have left this machine: `refused` if it certainly did not,
 * `dropped`, `malformed` or `time-out` if it might have.
 *
 * Interim responses (102, 103) before the final response are skipped. A 100 is an exception: no request expects it, and
 * undici always closes the connection when it arrives. It is treated as a malformed response.
 */
import { AssertionError } from 'node:assert';
import type { IncomingHttpHeaders } from 'node:http';
import { isNativeError } from 'node:util/types';
import { type Dispatcher, errors } from 'undici';
import { createConnections } from './connections';
import { type CompanyDataError, NoResponse, UnreadableResponse } from './errors';
import { createSemaphore } from './semaphore';

/** Longest error body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Longest success body that is read. A page of 5,000 large records is about 10 MB. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const decoder = new TextDecoder();

export interface HttpRequest {
  /** Method and path, which identify the call in errors. */
  readonly label: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query on the service's origin. */
  readonly path: string;
  readonly json?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The `traceparent` header. */
  readonly traceparent?: string | undefined;
  /** Time limit for the complete response, in milliseconds from the moment a connection is free. */
  readonly timeoutMs: number;
  /**
   * True for an authorization. It gets a connection that the service is certainly not closing. If the response were
   * lost with the connection, it would be unknown whether the token was used.
   */
  readonly isAuthorization: boolean;
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
  /** Maximum number of authorizations in flight, and of other requests in flight. */
  readonly connections: number;
}

export function createTransport({ origin, authorization, connections: inFlight }: TransportOptions): Transport {
  const connections = createConnections(origin);
  const [authorizations, others] = [createSemaphore(inFlight), createSemaphore(inFlight)];

  return {
    async send(request, latest, signal) {
      const slots = request.isAuthorization ? authorizations : others;
      const release = await slots.acquire(latest, signal);
      if (!release) throw new NoResponse(request.label, 'refused', 'not sent: no connection became free in time');
      try {
        signal?.throwIfAborted();
        if (connections.isClosed) throw new NoResponse(request.label, 'refused', 'not sent: the client was closed');
        const connection = connections.take(request.isAuthorization ? 'certain' : 'any');
        const exchange = new Exchange(request, signal);
        const startedAt = performance.now();
        connection.client.dispatch(dispatchOptions(request, authorization), exchange);
        const response = await exchange.response.catch((error: unknown) => {
          connections.drop(connection);
          throw error;
        });
        const durationMs = performance.now() - startedAt;
        if (response.cutOff) connections.drop(connection);
        else await connections.keep(connection, response.headers, startedAt);
        signal?.throwIfAborted();
        return { ...response, durationMs };
      } finally {
        release();
      }
    },

    close: () => connections.close(),
  };
}

function dispatchOptions(request: HttpRequest, authorization: string): Dispatcher.DispatchOptions {
  const { method, path, json, idempotencyKey, traceparent } = request;
  return {
    method,
    path,
    headers: {
      accept: 'application/json',
      authorization,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(traceparent !== undefined && { traceparent }),
    },
    ...(json !== undefined && { body: json }),
  };
}

/** A response without its duration. */
type Received = Omit<HttpResponse, 'durationMs'>;

/**
 * One request and its response. undici calls the methods of this handler.
 *
 * An exchange ends with the first of these events: a complete response, an error, the time limit or the caller's
 * signal. If an error or the time limit ends the exchange after the status has arrived, the result is a response whose
 * body is cut off. After its end, the exchange ignores undici's calls, except that it cancels a request that has not
 * been sent yet.
 *
 * The exchange handles undici's calls itself, because a stream and an `AbortController` for each response would take as
 * much CPU time as the rest of the client.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with a `NoResponse` or with the signal's reason. */
  readonly response: Promise<Received>;
  private readonly call: string;
  private readonly timer: NodeJS.Timeout;
  private resolve!: (response: Received) => void;
  private reject!: (reason: unknown) => void;
  private hasEnded = false;
  private head: Pick<Received, 'status' | 'headers'> | undefined;
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(
    { label, timeoutMs }: HttpRequest,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.call = label;
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.timer = setTimeout(() => {
      this.fail(new NoResponse(label, 'time-out', `no complete response arrived within ${timeoutMs} ms`));
    }, timeoutMs);
    signal?.addEventListener('abort', this.abort);
  }

  /** The method by which undici recognizes a handler of its new interface. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.hasEnded) controller.abort(new Error('the request was cancelled before it was sent'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.head = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.hasEnded || !this.head) return;
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.limit()) return;
    const { status } = this.head;
    this.fail(
      new UnreadableResponse(this.call, status, undefined, `the response is longer than ${this.limit()} bytes`),
    );
    controller.abort(new Error('the response is too long'));
  }

  onResponseEnd(): void {
    this.end(() => this.head && this.resolve({ ...this.head, body: this.body() }));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(noResponse(this.call, error));
  }

  private readonly abort = (): void => this.end(() => this.reject(this.signal?.reason));

  /** A response whose body breaks off is still a response, because its status is known. */
  private fail(error: CompanyDataError): void {
    this.end(() => {
      if (this.head) this.resolve({ ...this.head, body: this.body(), cutOff: error });
      else this.reject(error);
    });
  }

  private end(settle: () => void): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.abort);
    settle();
  }

  private limit(): number {
    return this.head && this.head.status >= 400 ? MAX_ERROR_BYTES : MAX_BODY_BYTES;
  }

  private body(): string {
    const [first] = this.chunks;
    const bytes = this.chunks.length === 1 && first ? first : Buffer.concat(this.chunks);
    return decoder.decode(bytes.subarray(0, this.limit()));
  }
}

function noResponse(call: string, error: unknown): NoResponse {
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
 * Returns whether a response arrived that is not valid HTTP: no status line, oversized headers, contradictory lengths,
 * a 100, or a change of protocol that was not requested.
 */
function isMalformed(error: unknown): boolean {
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return true;
  if (error instanceof errors.ResponseContentLengthMismatchError) return true;
  // A 101 that was not requested makes an assertion of undici fail.
  if (error instanceof AssertionError) return true;
  return error instanceof errors.SocketError && ['bad response', 'bad upgrade'].includes(error.message);
}
