/** Serves the health and the metrics of a worker process on a separate address. */
import type { Logger } from 'pino';
import type { ListenAddress, Config } from '../config';
import { startHealthServer } from '../observability/health-server';
import { openMonitoringDatabase } from '../store';
import { WorkerHealth } from './health';
import type { RunningWorker, WorkerConfig, WorkerObservation } from './index';
import { LedgerMetrics } from './metrics/ledger-metrics';
import { WaitReader } from './metrics/waits';
import { WorkerMetrics } from './metrics/worker-metrics';
import { freeLoopbackAddress, readSdkMetrics } from './sdk-metrics';

export interface WorkerMonitoring {
  readonly observation: WorkerObservation;
  /** Called while the worker waits for Temporal or Postgres. */
  waiting(why: string): void;
  running(worker: RunningWorker): void;
  /** Called when the worker takes no more tasks. */
  stopping(): void;
  close(): Promise<void>;
}

/** @throws if the process cannot listen on the address */
export async function startMonitoring(
  { databaseUrl, metricsMigrations = 0 }: Pick<WorkerConfig, 'databaseUrl'> & Partial<Config<'metricsMigrations'>>,
  { host, port }: ListenAddress,
  log: Logger,
): Promise<WorkerMonitoring> {
  const db = openMonitoringDatabase(databaseUrl.reveal());
  const sdkMetricsAddress = await freeLoopbackAddress();
  const health = new WorkerHealth(log, db, sdkMetricsAddress);
  const metrics = new WorkerMetrics();
  let waits: WaitReader | undefined;
  const ledger = new LedgerMetrics({
    ...{ db, maxMigrations: metricsMigrations },
    readWaits: async () => (waits ? waits.read() : null),
  });
  const server = await startHealthServer({
    ...{ host, port, health },
    metrics: async () => {
      // Each part is shown even if other parts fail. `/health/ready` says why they fail.
      const parts = await Promise.all([
        metrics.registry.metrics(),
        ledger.text().catch(() => ''),
        readSdkMetrics(sdkMetricsAddress).catch(() => ''),
      ]);
      return { contentType: metrics.registry.contentType, text: parts.filter((part) => part !== '').join('\n') };
    },
  });
  log.info({ url: server.url }, 'health checks and metrics are served');
  return {
    observation: { sdkMetricsAddress, metrics },
    waiting: (why) => health.waiting(why),
    running: (worker) => {
      waits = new WaitReader(worker.client);
      health.running(worker);
    },
    stopping: () => {
      waits = undefined;
      health.stopping();
    },
    close: async () => {
      health.close();
      await server.close();
      await db.destroy();
    },
  };
}
