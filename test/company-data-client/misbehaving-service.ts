import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that arrived. */
interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The client's port. Requests from the same port used the same connection. */
  readonly port: number | undefined;
}

export type Reply = (response: ServerResponse, request: Arrived) => void;

export interface MisbehavingService {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Sets the replies, in order, and forgets the requests that have arrived. The last reply is repeated. */
  answer(...replies: readonly [Reply, ...Reply[]]): void;
  close(): Promise<void>;
}

/** Starts a real HTTP server that sends exactly the given replies, including broken ones. */
export async function startMisbehavingService(): Promise<MisbehavingService> {
  const arrived: Arrived[] = [];
  let replies: Reply[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      arrived.push({ method, url, headers, body: Buffer.concat(chunks).toString(), port: socket.remotePort });
      const reply = replies.length > 1 ? replies.shift() : replies[0];
      reply?.(response, arrived.at(-1)!);
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    answer(...next) {
      replies = [...next];
      arrived.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const CORRELATION_ID = '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11';

/** Replies with JSON and the correlation id that every response of the service has. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-correlation-id': CORRELATION_ID, ...headers });
    response.end(JSON.stringify(body));
  };

/** Replies with those fields of the specification's error body that the client reads. */
export const failing = (status: number, error: string, headers: Record<string, string> = {}): Reply =>
  json(status, { statusCode: status, service: 'PublicApi', error, correlationId: CORRELATION_ID }, headers);

export const empty =
  (status: number): Reply =>
  (response) => {
    response.writeHead(status, { 'x-correlation-id': CORRELATION_ID });
    response.end();
  };

export const html =
  (status: number, page: string): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(page);
  };

/** Replies with a shorter body than its content length, and closes the connection. */
export const droppedMidBody =
  (status: number, piece: string): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '5000' });
    response.write(piece, () => response.destroy());
  };

/** Closes the connection without a response. */
export const dropped: Reply = (response) => response.destroy();

/** Replies with a body that never ends. */
export function endless(status: number): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(1024 * 1024, '[');
    const send = () => {
      while (!response.destroyed && response.write(piece));
      response.once('drain', send);
    };
    send();
  };
}

export const neverAnswered: Reply = () => undefined;

/** Replies with one page of a list, which links to the page `next` if that is given. */
export const page = (results: readonly unknown[], totalResults: number, next?: string): Reply =>
  json(200, {
    results,
    pageNumber: 1,
    pageSize: 2,
    totalResults,
    _links: {
      self: { href: '/companies' },
      current: { href: '/companies?page=1' },
      ...(next !== undefined && { next: { href: next } }),
    },
  });
