import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forwardRequest } from '../../../chaos/cluster/http-proxy';
import type { Reply } from '../../company-data-client/misbehaving-service';

/** A request that arrived at the proxy. */
type ProxiedRequest = Parameters<Reply>[1];

interface ServiceAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Handles a request in place of the proxy. `forward` sends the request to the service and returns the answer. */
export type Interceptor = (
  response: ServerResponse,
  request: ProxiedRequest,
  forward: () => Promise<ServiceAnswer>,
) => void | Promise<void>;

/** A proxy between the HTTP client and the real service. Tests make it misbehave. */
export interface HttpProxy {
  readonly url: string;
  /** Returns the matching requests that have arrived, whether forwarded or not. */
  arrived(method: string, path: RegExp): readonly ProxiedRequest[];
  /** Intercepts matching requests. A single interceptor handles every request; in a list, each handles one request. */
  on(method: string, path: RegExp, interceptor: Interceptor | Interceptor[]): void;
  /** Removes all interceptors, and forgets the requests that have arrived. */
  reset(): void;
  close(): Promise<void>;
}

export async function startHttpProxy(serviceUrl: string): Promise<HttpProxy> {
  const arrived: ProxiedRequest[] = [];
  let rules: { method: string; path: RegExp; interceptor: Interceptor | Interceptor[] }[] = [];

  function findInterceptor({ method, url }: ProxiedRequest): Interceptor | undefined {
    for (const rule of rules) {
      if (rule.method !== method || !rule.path.test(url)) continue;
      const { interceptor } = rule;
      const next = Array.isArray(interceptor) ? interceptor.shift() : interceptor;
      if (next) return next;
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const received = { method, url, headers, body: Buffer.concat(chunks).toString(), port: socket.remotePort };
      arrived.push(received);
      const interceptor = findInterceptor(received) ?? forwardUnchanged;
      Promise.resolve(interceptor(response, received, () => forwardTo(serviceUrl, received))).catch(() =>
        response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived: (method, path) => arrived.filter((each) => each.method === method && path.test(each.url)),
    on: (method, path, interceptor) => rules.unshift({ method, path, interceptor }),
    reset() {
      rules = [];
      arrived.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @throws if the service does not answer */
async function forwardTo(
  serviceUrl: string,
  { method, url: path, headers, body }: ProxiedRequest,
): Promise<ServiceAnswer> {
  const answer = await forwardRequest(serviceUrl, { method, path, headers, body: Buffer.from(body) });
  if (answer === null || answer === 'not sent') throw new Error('the service did not answer');
  return { ...answer, body: answer.body.toString() };
}

/** Sends the service's answer to the HTTP client. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: ServiceAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}

const forwardUnchanged: Interceptor = async (response, _request, forward) => sendAnswer(response, await forward());

/** Forwards the request to the service and drops its answer. */
export const loseAnswer: Interceptor = async (response, _request, forward) => {
  await forward();
  response.destroy();
};

/** Sends the service's answer with a changed body. */
export const alterBody =
  (alter: (body: Record<string, unknown>) => unknown): Interceptor =>
  async (response, _request, forward) => {
    const answer = await forward();
    sendAnswer(response, {
      ...answer,
      body: JSON.stringify(alter(JSON.parse(answer.body) as Record<string, unknown>)),
    });
  };
