/**
 * The stand-in for the Company Data Service: in memory, with one account and one platform. It takes much less CPU time
 * than the real service, and shares no code with the product. Its responses have the same headers and bodies as the
 * service's.
 *
 * The stand-in speaks HTTP on a plain socket, because Node's HTTP server would take more CPU time than everything else
 * that the stand-in does. It expects well-formed requests in ASCII, because only the benchmarks' programs call it.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { serveParent } from './child-process';
import type { RequestCounts, StandInCalls, StandInSettings } from './stand-in';
import {
  companyText,
  connectionText,
  historyText,
  ID,
  idOf,
  pageText,
  PLATFORM,
  RECORD,
  statusText,
  SYNC_SETTINGS,
  type Company,
  type Connection,
} from './stand-in-bodies';
import { usage } from './usage';

const WINDOW_MS = 60_000;

interface Reply {
  readonly status: string;
  /** JSON. */
  readonly body?: string;
}

let settings: Required<StandInSettings> = { requestsPerMinute: 1_000_000_000, latencyMs: 0, syncMs: 0 };
let origin = '';
let application = 'null';
let created = 0;
let companies = new Map<string, Company>();

let routes: Record<string, number> = {};
let refused = 0;
let authorizedTwice = 0;
let connections = 0;
let inFlight = 0;
let maxInFlight = 0;

let windowEndsAt = 0;
let windowRequests = 0;
let windowReset = '';
let date = new Date().toUTCString();

const server = createServer((socket) => {
  connections += 1;
  serve(socket);
});

function serve(socket: Socket): void {
  let received = '';
  socket.setEncoding('latin1');
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const head = received.slice(0, headEnd);
      const length = head.startsWith('GET') ? 0 : Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (received.length < end) return;
      const body = received.slice(headEnd + 4, end);
      received = received.slice(end);
      const [method = '', target = ''] = head.slice(0, head.indexOf('\r\n')).split(' ', 2);
      answer(socket, method, target, body);
    }
  });
}

function answer(socket: Socket, method: string, target: string, body: string): void {
  inFlight += 1;
  maxInFlight = Math.max(maxInFlight, inFlight);
  const reply = isWithinLimit() ? route(method, target, body) : tooManyRequests();
  const message = messageOf(reply);
  const send = (): void => {
    inFlight -= 1;
    if (!socket.destroyed) socket.write(message, 'latin1');
  };
  if (settings.latencyMs > 0) setTimeout(send, settings.latencyMs);
  else send();
}

/** Counts requests in fixed windows of a minute, as the real service does. */
function isWithinLimit(): boolean {
  const now = Date.now();
  if (now >= windowEndsAt) {
    windowEndsAt = now + WINDOW_MS;
    windowReset = new Date(windowEndsAt).toISOString();
    windowRequests = 0;
  }
  windowRequests += 1;
  return windowRequests <= settings.requestsPerMinute;
}

function tooManyRequests(): Reply {
  refused += 1;
  return failure('429 Too Many Requests', 'the rate limit is used up');
}

function failure(status: string, error: string): Reply {
  const statusCode = Number(status.slice(0, 3));
  const ids = { service: 'stand-in', correlationId: idOf('e', 0), canBeRetried: 'Unknown', detailedErrorCode: 0 };
  return { status, body: JSON.stringify({ statusCode, error, ...ids }) };
}

const HEADERS =
  "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n" +
  'x-content-type-options: nosniff\r\nx-frame-options: DENY\r\nreferrer-policy: no-referrer\r\ncache-control: no-store\r\n';
let replies = 0;

function messageOf({ status, body }: Reply): string {
  replies += 1;
  const remaining = Math.max(0, settings.requestsPerMinute - windowRequests);
  const content =
    body === undefined ? '' : `content-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\n`;
  const retryAfter = status.startsWith('429')
    ? `retry-after: ${Math.ceil((windowEndsAt - Date.now()) / 1_000)}\r\n`
    : '';
  return (
    `HTTP/1.1 ${status}\r\n${HEADERS}x-correlation-id: ${idOf('e', replies)}\r\n` +
    `x-rate-limit-limit: ${settings.requestsPerMinute}\r\nx-rate-limit-remaining: ${remaining}\r\n` +
    `x-rate-limit-reset: ${windowReset}\r\n${retryAfter}${content}` +
    `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72\r\n\r\n${body ?? ''}`
  );
}

const ok = (body: string): Reply => ({ status: '200 OK', body });
const noConnection = (): Reply => failure('404 Not Found', 'there is no such connection');
const NO_CONTENT: Reply = { status: '204 No Content' };

function route(method: string, target: string, body: string): Reply {
  const [path = '', query = ''] = target.split('?', 2);
  const [, first = '', id, third = '', fourth] = path.split('/');
  const name = `${method} ${path.replace(ID, '{id}')}`;
  routes[name] = (routes[name] ?? 0) + 1;
  if (first !== 'companies') return accountRoute(method, path, body);
  if (id === undefined) return method === 'POST' ? createCompany(body) : listCompanies(query);
  const company = companies.get(id);
  if (!company) return failure('404 Not Found', 'there is no such company');
  company.requests += 1;
  return companyRoute(company, `${method} ${third}`, fourth, body);
}

function accountRoute(method: string, path: string, body: string): Reply {
  if (path === '/account')
    return ok(JSON.stringify({ plan: 'paid', companiesUsed: companies.size, role: 'administrator' }));
  if (path === '/healthz') return ok('{"status":"ok"}');
  if (path === `/integrations/${PLATFORM.key}/credentials` && method === 'PUT') {
    const { clientId, environment } = JSON.parse(body) as Record<string, unknown>;
    application = JSON.stringify({ clientId, environment });
    return ok(application);
  }
  if (path !== `/integrations/${PLATFORM.key}`) return failure('404 Not Found', 'there is no such page');
  const authorizationFields = ['accessToken', 'refreshToken', 'realmId'].map((name) => ({ name, required: true }));
  const links = { logoUrl: `${origin}/logos/qhyg.svg`, callbackUrl: `${origin}/oauth/callback/qhyg` };
  const platform = { ...PLATFORM, enabled: true, migrationRoutes: ['managed'], authorizationFields, ...links };
  return ok(`${JSON.stringify(platform).slice(0, -1)},"application":${application}}`);
}

function createCompany(body: string): Reply {
  const { name, tags = {} } = JSON.parse(body) as Pick<Company, 'name'> & Partial<Company>;
  created += 1;
  const now = new Date().toISOString();
  const company = { id: idOf('c', created), name, tags, created: now, requests: 1, connection: undefined, syncedAt: 0 };
  companies.set(company.id, company);
  return ok(companyText(company, origin));
}

function companyRoute(company: Company, call: string, argument: string | undefined, body: string): Reply {
  const { connection } = company;
  switch (call) {
    case 'GET ':
      return ok(companyText(company, origin));
    case 'POST connections':
      return createConnection(company);
    case 'GET connections':
      if (argument === undefined)
        return ok(pageText(connection ? [connectionText(company, connection, origin)] : [], 1, 1_000));
      if (!connection || connection.id !== argument) return noConnection();
      return ok(connectionText(company, connection, origin));
    case 'PUT connections':
      if (!connection || connection.id !== argument) return noConnection();
      return authorize(company, connection, body);
    case 'POST data':
      company.syncedAt = Date.now() + settings.syncMs;
      return NO_CONTENT;
    case 'GET data':
      if (argument === 'history') return ok(historyText(company));
      return ok(pageText([RECORD], 1, 1));
    case 'GET dataStatus':
      return ok(statusText(company, windowReset));
    case 'GET syncSettings':
      return ok(`{"companyId":"${company.id}",${SYNC_SETTINGS}`);
    default:
      return failure('404 Not Found', 'there is no such page');
  }
}

function createConnection(company: Company): Reply {
  created += 1;
  const connection: Connection = { id: idOf('d', created), status: 'PendingAuth', organization: '' };
  company.connection = connection;
  return ok(connectionText(company, connection, origin));
}

/** Accepts every credential. Its `realmId` is the organization. */
function authorize(company: Company, connection: Connection, body: string): Reply {
  const { realmId } = JSON.parse(body) as { readonly realmId: string };
  if (connection.status === 'Linked') authorizedTwice += 1;
  connection.status = 'Linked';
  connection.organization = realmId;
  return ok(connectionText(company, connection, origin));
}

/** Lists companies, all of them or those whose tag begins with a prefix: `tags=name~prefix`. */
function listCompanies(query: string): Reply {
  const parameters = new URLSearchParams(query);
  const [page, pageSize] = [Number(parameters.get('page') ?? 1), Number(parameters.get('pageSize') ?? 100)];
  const [tag = '', value = ''] = (parameters.get('tags') ?? '').split(/[~=]/, 2);
  const found = [...companies.values()].filter(({ tags }) => tag === '' || tags[tag]?.startsWith(value));
  const shown = found.slice((page - 1) * pageSize, page * pageSize).map((company) => companyText(company, origin));
  parameters.set('page', String(page + 1));
  const next = page * pageSize < found.length ? `/companies?${parameters.toString()}` : undefined;
  return ok(pageText(shown, page, pageSize, found.length, next));
}

const served: StandInCalls = {
  start: async (given) => {
    settings = { ...settings, ...given };
    setInterval(() => (date = new Date().toUTCString()), 250).unref();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return origin;
  },
  setLatency: async (latencyMs) => void (settings = { ...settings, latencyMs }),
  reset: async () => {
    companies = new Map();
    routes = {};
    [refused, authorizedTwice, connections, maxInFlight] = [0, 0, 0, 0];
  },
  counts: async (): Promise<RequestCounts> => {
    const each = [...companies.values()].map(({ requests }) => requests);
    const perCompany: Record<string, number> = {};
    for (const requests of each) perCompany[requests] = (perCompany[requests] ?? 0) + 1;
    return { routes, perCompany, refused, authorizedTwice, connections, maxInFlight };
  },
  usage: async () => usage(),
};

serveParent(served, async () => process.exit());
