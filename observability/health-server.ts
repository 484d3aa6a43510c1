/**
 * The HTTP server for health checks and metrics, on a separate address:
 *
 * - `/health/live`: 200, or 503 if only a restart can help;
 * - `/health/ready`: 200, or 503 if the process cannot do its work at the moment;
 * - `/metrics`: metrics in Prometheus's text format, if the process has metrics.
 *
 * A process whose event loop is blocked does not answer at all, so a probe needs a time limit.
 *
 * The server requires no key, and its answers contain no secrets and no data of companies.
 */
import { createServer, type ServerResponse } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';

/** The result of one check. */
export interface CheckState {
  readonly status: 'ok' | 'failing';
  /** Why the check fails; absent if it does not. */
  readonly why?: string;
  /** When the state last changed: ISO 8601, UTC. */
  readonly since: string;
}

export type CheckStates = Readonly<Record<string, CheckState>>;

/** The answers of a process. The functions are called for each request, so they must return at once. */
export interface Health {
  live(): CheckStates;
  ready(): CheckStates;
}

/** Metrics in Prometheus's text format. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

export interface HealthServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly health: Health;
  /** Returns the metrics. If this function is absent, `/metrics` answers 404. */
  readonly metrics?: (() => Promise<MetricsPage>) | undefined;
}

export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the health server.
 *
 * @throws if the process cannot listen on the address
 */
export async function startHealthServer({ host, port, health, metrics }: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    const path = request.url?.split('?', 1)[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, { message: 'use GET' });
    if (path === '/health/live') return sendStates(response, health.live());
    if (path === '/health/ready') return sendStates(response, health.ready());
    if (path === '/metrics' && metrics) return void sendMetrics(response, metrics);
    send(response, 404, {
      message: 'the paths are /health/live and /health/ready, and /metrics if the process has metrics',
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  const { address, port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${listening}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function sendStates(response: ServerResponse, checks: CheckStates): void {
  const isOk = Object.values(checks).every(({ status }) => status === 'ok');
  send(response, isOk ? 200 : 503, { status: isOk ? 'ok' : 'failing', checks });
}

async function sendMetrics(response: ServerResponse, metrics: () => Promise<MetricsPage>): Promise<void> {
  try {
    const { contentType, text } = await metrics();
    response.writeHead(200, { 'content-type': contentType }).end(text);
  } catch (error) {
    send(response, 500, { message: error instanceof Error ? error.message : 'the metrics cannot be read' });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(`${JSON.stringify(body)}\n`);
}
