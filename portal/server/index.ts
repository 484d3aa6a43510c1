/**
 * The portal: an HTTP service between clients (their browsers and `ferry --portal`) and the ledger's database. It has
 * neither the master key nor a payload key, and its database role can only call the functions of the schema
 * `tokenferry_portal`: see docs/decisions/0031-portal.md.
 *
 * - `access.ts` authorizes every request; `limits.ts` limits it
 * - `routes/`: the routes; `openapi/`: their description
 * - `live-views.ts` sends the migration's view to the browsers that watch it
 * - `requests.ts` passes decisions, supplied data and requests for reports to workers
 */
import path from 'node:path';
import type { Logger } from 'pino';
import { HealthMonitor } from '../../observability/health-monitor';
import { createApp } from './app';
import type { PortalContext } from './context';
import { PortalDatabase } from './database';
import { IdentityProvider, type OpenIdOptions } from './identity-provider';
import { DEFAULT_LIMITS, type PortalLimits } from './limits';
import { assertSafeAddress, originsOf } from './address';
import { LiveViews } from './live-views';
import { readPageFiles } from './page-files';
import { watchCertificate, type TlsFiles } from './tls';

export type { TlsFiles } from './tls';

export interface PortalOptions {
  /** The database URL, with which the portal's own role connects. */
  readonly databaseUrl: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The address that browsers use. Default: the address on which the portal listens. */
  readonly publicUrl?: string | undefined;
  /** Default: the portal serves HTTP, which is allowed only on a loopback address or behind a proxy. */
  readonly tls?: TlsFiles | undefined;
  /** How often the certificate's files are read, in milliseconds. Default: 10 seconds. */
  readonly certificateCheckMs?: number;
  /** True if a proxy terminates TLS, and only the proxy can reach the portal. Default: false. */
  readonly behindProxy?: boolean;
  /** The addresses of the proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** The identity provider at which people can sign in. Default: people cannot sign in with an account. */
  readonly openId?: OpenIdOptions | undefined;
  readonly log: Logger;
  /** The folder of the page. Default: the folder that the build creates. */
  readonly pageFolder?: string;
  readonly limits?: Partial<PortalLimits>;
  /** Maximum lifetime of a session, in milliseconds. Default: 7 days. A session also ends after 3 days without use. */
  readonly sessionLifetimeMs?: number;
  /** How long a request waits for a worker's answer, in milliseconds. Default: 15 seconds. */
  readonly answerWaitMs?: number;
  /** The size of the pool of database connections. Default: 10. */
  readonly databaseConnections?: number;
}

export interface Portal {
  /** The address that browsers use, without a slash at the end. */
  readonly url: string;
  /** The address on which the portal listens. */
  readonly localUrl: string;
  /** Resolves with null if the database answers; otherwise rejects with the reason. */
  checkDatabase(): Promise<string | null>;
  close(): Promise<void>;
}

const SESSION_LIFETIME_MS = 7 * 86_400_000;
const ANSWER_WAIT_MS = 15_000;
const SILENT = { info: () => undefined, warn: () => undefined };

/** @throws {UnsafeAddress} if the portal would serve HTTP to other machines, or its public URL cannot be used */
export async function startPortal(options: PortalOptions): Promise<Portal> {
  const { databaseUrl, host = '127.0.0.1', port, tls, behindProxy = false, trustedProxies = [], log } = options;
  assertSafeAddress({ host, publicUrl: options.publicUrl, hasTls: tls !== undefined, behindProxy });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const certificate = tls && watchCertificate(tls, log, options.certificateCheckMs);
  const db = PortalDatabase.open(databaseUrl, options.databaseConnections ?? 10);
  const views = new LiveViews(db, limits, log);
  // Silent, because the health checks of the process log the same problems.
  const monitor = new HealthMonitor(SILENT);
  const page = readPageFiles(options.pageFolder ?? path.join(__dirname, '..', 'page'));
  if (!page.has('index.html'))
    log.warn(
      'the page has not been built, so the portal serves only its API; to build it, run npm run build, and start the portal again',
    );
  const problem = () => Object.values(monitor.states()).find(({ status }) => status === 'failing')?.why ?? null;
  const origins = new Set<string>();
  let url = '';
  const context: PortalContext = {
    ...{ db, views, page, limits, origins, problem },
    identityProvider: options.openId && new IdentityProvider(options.openId, () => url),
    sessionLifetimeMs: options.sessionLifetimeMs ?? SESSION_LIFETIME_MS,
    answerWaitMs: options.answerWaitMs ?? ANSWER_WAIT_MS,
  };
  const protocol = tls ? 'https' : 'http';
  const app = await createApp({
    context,
    logger: log,
    publicUrl: options.publicUrl ?? `${protocol}://${host}:${port}`,
    tls: certificate?.current(),
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    behindProxy,
  });
  const close = async (): Promise<void> => {
    monitor.stop();
    certificate?.stop();
    views.close();
    await app.close();
    await db.close();
  };
  try {
    await app.listen({ host, port });
  } catch (error) {
    await close();
    throw error;
  }
  const address = app.server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  const localUrl = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${listening}`;
  url = (options.publicUrl ?? localUrl).replace(/\/+$/, '');
  for (const origin of originsOf(url)) origins.add(origin);
  certificate?.useFor(app.server);
  const checkDatabase = async (): Promise<null> => {
    await db.ping();
    return null;
  };
  monitor.add('database', checkDatabase);
  return { url, localUrl, checkDatabase, close };
}
