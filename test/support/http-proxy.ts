import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reply } from '../company-data-client/misbehaving-service';

/** A request as it arrived. */
type ProxiedRequest = Parameters<Reply>[1];

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What is done with a request instead of passing it on; `pass` hands it to the real service and gives its answer. */
export type Interceptor = (
  response: ServerResponse,
  request: ProxiedRequest,
  pass: () => Promise<Answered>,
) => void | Promise<void>;

/** Stands between the client and a real service, and misbehaves exactly as it is told. */
export interface HttpProxy {
  readonly url: string;
  /** The requests that arrived, whether or not they were passed on. */
  arrived(method: string, path: RegExp): readonly ProxiedRequest[];
  /** A list: one request each, the next ones pass. One alone: every request. */
  on(method: string, path: RegExp, interference: Interceptor | Interceptor[]): void;
  /** Everything passes from now on, and what arrived is forgotten. */
  reset(): void;
  close(): Promise<void>;
}

export async function startHttpProxy(serviceUrl: string): Promise<HttpProxy> {
  const arrived: ProxiedRequest[] = [];
  let rules: { method: string; path: RegExp; interference: Interceptor | Interceptor[] }[] = [];

  function interferenceFor({ method, url }: ProxiedRequest): Interceptor | undefined {
    for (const rule of rules) {
      if (rule.method !== method || !rule.path.test(url)) continue;
      const { interference } = rule;
      const one = Array.isArray(interference) ? interference.shift() : interference;
      if (one) return one;
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const arriving = { method, url, headers, body: Buffer.concat(chunks).toString(), port: socket.remotePort };
      arrived.push(arriving);
      const interference = interferenceFor(arriving) ?? passing;
      Promise.resolve(interference(response, arriving, () => forward(serviceUrl, arriving))).catch(() =>
        response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived: (method, path) => arrived.filter((each) => each.method === method && path.test(each.url)),
    on: (method, path, interference) => rules.unshift({ method, path, interference }),
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

async function forward(serviceUrl: string, { method, url, headers, body }: ProxiedRequest): Promise<Answered> {
  const { authorization = '', 'idempotency-key': key } = headers;
  const answer = await fetch(serviceUrl + url, {
    method,
    headers: {
      authorization,
      ...(key !== undefined && { 'idempotency-key': String(key) }),
      ...(body !== '' && { 'content-type': 'application/json' }),
    },
    ...(body !== '' && { body }),
  });
  const { 'content-length': _length, connection: _connection, ...rest } = Object.fromEntries(answer.headers);
  return { status: answer.status, headers: rest, body: await answer.text() };
}

/** Hands the service's answer on. */
export function sendAnswer(response: ServerResponse, { status, headers, body }: Answered): void {
  response.writeHead(status, headers);
  response.end(body);
}

const passing: Interceptor = async (response, _request, pass) => sendAnswer(response, await pass());

/** The service does what it was asked for, and its answer is lost. */
export const loseAnswer: Interceptor = async (response, _request, pass) => {
  await pass();
  response.destroy();
};

/** The service's own answer, with other fields in its body. */
export const alterBody =
  (alter: (body: Record<string, unknown>) => unknown): Interceptor =>
  async (response, _request, pass) => {
    const answer = await pass();
    sendAnswer(response, {
      ...answer,
      body: JSON.stringify(alter(JSON.parse(answer.body) as Record<string, unknown>)),
    });
  };
