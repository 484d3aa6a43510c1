/** Starts the portal with its health checks, for `ferry portal` and for the portal's process in a deployment. */
import type { Logger } from 'pino';
import type { ListenAddress } from '../../config';
import { HealthMonitor } from '../../observability/health-monitor';
import { startHealthServer } from '../../observability/health-server';
import { startPortal, type PortalOptions } from '../../portal/server';
import { ProcessHealth } from './process-health';

export interface RunningPortal {
  /** The address that browsers use. */
  readonly url: string;
  /** The address on which the portal listens. */
  readonly localUrl: string;
  stop(): Promise<void>;
}

/**
 * @throws if the portal or its health checks cannot listen, if the certificate or the public URL cannot be used, or if
 * the portal would serve HTTP to other machines
 */
export async function runPortal(
  options: PortalOptions,
  healthAddress: ListenAddress | undefined,
  log: Logger,
): Promise<RunningPortal> {
  const health = new ProcessHealth('portal', new HealthMonitor(log));
  const healthServer = healthAddress && (await startHealthServer({ ...healthAddress, health }));
  if (healthServer) log.info({ url: healthServer.url }, 'health checks are served');
  try {
    const portal = await startPortal(options);
    health.running('database', () => portal.checkDatabase());
    return {
      url: portal.url,
      localUrl: portal.localUrl,
      stop: async () => {
        health.stopping();
        await portal.close();
        await healthServer?.close();
      },
    };
  } catch (error) {
    await healthServer?.close();
    throw error;
  }
}
