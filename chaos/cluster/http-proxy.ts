import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { credentialIn, type RequestLogEntry } from './request-log';

/** A request of the worker. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string;
}

/** A response that the proxy sends instead of the service's. */
export interface InjectedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** If true, the service gets the request first, and its response is dropped. */
  readonly forward?: boolean;
}

/**
 * The action that the proxy takes for a request.
 *
 * - `forward`: the request and its answer are forwarded.
 * - `loseRequest`: the connection breaks before the service gets the request.
 * - `loseAnswer`: the service gets the request, and the connection breaks before its answer arrives.
 * - `delayMs`: the request is forwarded after this time, even if the worker no longer waits for it.
 * - {@link InjectedResponse}: the worker gets this response instead of the service's.
 */
export type ProxyAction = 'forward' | 'loseAnswer' | 'loseRequest' | InjectedResponse | { readonly delayMs: number };

/** Chooses the action of the proxy for each request. */
export type RequestFault = (request: ProxiedRequest) => ProxyAction;

/** A proxy between one worker and the service. It logs every complete request. */
export interface HttpProxy {
  /** The address for the worker, without a slash at the end. */
  readonly url: string;
  /** Sets the fault for the requests from now on; null to forward every request. */
  setFault(fault: RequestFault | null): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/**
 * Starts a proxy. If the service cannot be reached, the worker's connection breaks, as behind a proxy that has lost its
 * backend.
 *
 * @param target the service's address
 * @param log called once for each complete request, when its answer is known or lost
 */
export async function startHttpProxy(options: {
  readonly worker: string;
  readonly target: string;
  readonly log: (entry: RequestLogEntry) => void;
}): Promise<HttpProxy> {
  const { worker, target, log } = options;
  let fault: RequestFault | null = null;

  const server = createServer((request, response) => void handle(request, response));
  server.keepAliveTimeout = 60_000;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new Date().toISOString();
    const startedAt = performance.now();
    const { method = 'GET', url: path = '/', headers } = request;
    const body = await readAll(request).catch(() => null);
    if (body === null) return; // the worker closed its connection before the request was complete
    const received = { method, path, body: body.toString('utf8') };
    const action: ProxyAction = fault?.(received) ?? 'forward';
    const forwards = isInjected(action) ? action.forward === true : action !== 'loseRequest';

    if (typeof action === 'object' && 'delayMs' in action) await delay(action.delayMs);
    const answered = forwards ? await forwardRequest(target, { method, path, headers, body }) : 'not sent';
    const answer = isInjected(action) ? injected(action) : answered === 'not sent' ? null : answered;
    const delivered = answer !== null && action !== 'loseAnswer' ? await deliver(response, answer) : false;
    if (!delivered) response.destroy();
    const key = headers['idempotency-key'];
    log({
      at,
      worker,
      method,
      path,
      idempotencyKey: typeof key === 'string' ? key : null,
      status: answer?.status ?? null,
      injected: isInjected(action),
      forwarded: answered !== 'not sent',
      delivered,
      credential: credentialIn(received),
      tookMs: Math.round(performance.now() - startedAt),
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFault: (next) => {
      fault = next;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isInjected(action: ProxyAction): action is InjectedResponse {
  return typeof action === 'object' && 'status' in action;
}

function injected({ status, headers, body }: InjectedResponse): Answer {
  return { status, headers, body: Buffer.from(body) };
}

/** Headers that are not copied from one connection to the other, because each connection has its own. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect'];

function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.includes(name)));
}

/**
 * Sends the request once, over a connection of its own, because a reused connection could be closed at the same moment.
 *
 * @returns null if no complete answer arrived; `not sent` if the service refused the connection
 */
export function forwardRequest(
  target: string,
  { method, path, headers, body }: Pick<IncomingMessage, 'headers'> & { method: string; path: string; body: Buffer },
): Promise<Answer | 'not sent' | null> {
  return new Promise((resolve) => {
    const upstream = sendRequest(
      new URL(path, target),
      {
        method,
        agent: false,
        headers: { ...endToEnd(headers), ...(body.length > 0 && { 'content-length': body.length }) },
      },
      (answer) => {
        readAll(answer).then(
          (content) => resolve({ status: answer.statusCode ?? 0, headers: endToEnd(answer.headers), body: content }),
          () => resolve(null),
        );
      },
    );
    upstream.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'not sent' : null));
    upstream.end(body);
  });
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Sends the answer. Returns whether all of it was written before the worker closed its connection. */
function deliver(response: ServerResponse, { status, headers, body }: Answer): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(response.writableFinished));
    if (response.destroyed) return resolve(false);
    // A 204 must not have a length. `headers` comes last, so that a fault can state a wrong length.
    response.writeHead(status, { ...(status !== 204 && { 'content-length': body.length }), ...headers });
    response.end(body);
  });
}
