/** Shows the health and the metrics of a worker process on an address of its own. */
import type { Logger } from 'pino';
import type { ListenAddress } from '../config';
import { startHealthServer } from '../observability/health-server';
import { openMonitoringDatabase } from '../store';
import { WorkerHealth } from './health';
import type { WorkerConfig, WorkerObservation } from './index';
import { freeLoopbackAddress, readSdkMetrics } from './sdk-metrics';

export interface ObservedWorker {
  readonly health: WorkerHealth;
  readonly observation: WorkerObservation;
  close(): Promise<void>;
}

/** @throws if the process cannot listen on the address */
export async function observeWorker(
  { databaseUrl }: Pick<WorkerConfig, 'databaseUrl'>,
  { host, port }: ListenAddress,
  log: Logger,
): Promise<ObservedWorker> {
  const db = openMonitoringDatabase(databaseUrl.reveal());
  const sdkMetricsAddress = await freeLoopbackAddress();
  const health = new WorkerHealth(log, db, sdkMetricsAddress);
  const server = await startHealthServer({
    host,
    port,
    health,
    metrics: async () => ({
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: await readSdkMetrics(sdkMetricsAddress),
    }),
  });
  log.info({ url: server.url }, 'health checks and metrics are served');
  return {
    health,
    observation: { sdkMetricsAddress },
    close: async () => {
      health.close();
      await server.close();
      await db.destroy();
    },
  };
}
