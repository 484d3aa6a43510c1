/** Faults in the workers' connections to the ledger, Temporal and the service. */
import type { RequestFault, InjectedResponse } from '../cluster';
import { randomSeconds, type Fault, type FaultContext, type FaultKind } from './fault';

/** Cuts every connection of a worker to the ledger or to Temporal, and refuses new ones for a few seconds. */
export const cutConnections: FaultKind = ({ cluster }, random) => {
  const worker = random.pick(cluster.workers);
  const target = random.pick(['ledger', 'temporal'] as const);
  return {
    name: `cut ${worker.name} from ${target}`,
    lastsMs: randomSeconds(random, 0, 8),
    begin: () => {
      worker[target].refuse(true);
      worker[target].cut();
      return Promise.resolve();
    },
    repair: () => Promise.resolve(worker[target].refuse(false)),
  };
};

/** Creates a fault in both workers' requests to the service. */
function requestFault({ cluster }: FaultContext, name: string, lastsMs: number, fault: RequestFault): Fault {
  const setFault = (next: RequestFault | null): Promise<void> => {
    for (const worker of cluster.workers) worker.service.setFault(next);
    return Promise.resolve();
  };
  return { name, lastsMs, begin: () => setFault(fault), repair: () => setFault(null) };
}

const isAuthorization = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'PUT' && path.endsWith('/authorization');

/** Drops the answers to half of the authorization requests, which use up tokens, and to a fifth of the others. */
export const loseAnswers: FaultKind = (context, random) =>
  requestFault(context, 'lose answers of the service', randomSeconds(random, 5, 12), (request) =>
    random.chance(isAuthorization(request) ? 0.5 : 0.2) ? 'loseAnswer' : 'forward',
  );

export const loseRequests: FaultKind = (context, random) =>
  requestFault(context, 'lose requests to the service', randomSeconds(random, 5, 12), () =>
    random.chance(0.3) ? 'loseRequest' : 'forward',
  );

export const slowDown: FaultKind = (context, random) =>
  requestFault(context, 'delay requests to the service', randomSeconds(random, 5, 12), () => ({
    delayMs: random.between(0, 4_000),
  }));

/** Pages that proxies and captive portals return instead of the service's answers. */
const PAGES = [
  page(404, '404 Not Found'),
  page(502, '502 Bad Gateway'),
  page(503, '503 Service Temporarily Unavailable'),
  page(401, '401 Authorization Required'),
  page(403, '403 Forbidden'),
  page(200, 'Sign in to the network'),
];

/** Answers every request with the page of a proxy. */
export const proxyPages: FaultKind = (context, random) => {
  const answer = random.pick(PAGES);
  return requestFault(context, `page of a proxy (${answer.status})`, randomSeconds(random, 4, 8), () => answer);
};

const ABSURD = [
  json(429, '{"statusCode":429,"service":"PublicApi","error":"slow down"}', { 'retry-after': '315360000' }),
  json(429, '{"statusCode":429,"service":"PublicApi","error":"slow down"}', { 'retry-after': '9'.repeat(400) }),
  json(503, '{}', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  json(200, ''),
  json(200, 'null'),
  json(200, '[]'),
  json(200, '{"id":7,"linkStatus":{}}'),
  json(200, '{"results":"none","totalResults":-1}'),
  json(200, '{"id":"'),
  json(500, '\u0000\u0001'),
  json(418, '{"statusCode":"teapot"}'),
];

/** Answers a third of the requests with nonsense. The service does not receive them. */
export const absurdAnswers: FaultKind = (context, random) =>
  requestFault(context, 'absurd answers', randomSeconds(random, 5, 10), () =>
    random.chance(0.33) ? random.pick(ABSURD) : 'forward',
  );

/** Returns the page of a proxy or a captive portal. */
export function page(status: number, title: string): InjectedResponse {
  return {
    status,
    headers: { 'content-type': 'text/html' },
    body: `<html><head><title>${title}</title></head><body><h1>${title}</h1><hr>proxy</body></html>`,
  };
}

/** Returns an answer that says it is JSON. */
export function json(status: number, body: string, headers: Record<string, string> = {}): InjectedResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}
