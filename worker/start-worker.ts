import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities, createNotifier, createWorkflowStatus, createWindowSchedules } from '../activities';
import { createCompanyDataClient } from '../company-data-client';
import type { Config } from '../config';
import { createMasterKeyProvider, dataConverterOf, withoutPayloads } from '../security';
import { leaseMs, openDatabase } from '../store';
import { TASK_QUEUE } from '../workflows/messages';
import { assertSearchAttributes } from './search-attributes';
import { installRuntime } from './runtime';
import { keepSweepSchedule } from './sweep-schedule';
import { TIMING, type WorkerTiming } from './timing';
import { workflowCode, type WorkflowCode } from './workflow-code';

export type WorkerConfig = Config<'temporal' | 'databaseUrl' | 'service' | 'masterKeys' | 'payloadKeys' | 'webhook'>;

export interface RunningWorker {
  /** Ends what is in the air, then disconnects. */
  stop(): Promise<void>;
  /** Resolves when the worker was stopped; rejects when it ended by itself. */
  readonly ended: Promise<void>;
}

/** Heartbeats are sent no more often; a cancellation waits for the next one. */
const HEARTBEAT_THROTTLE_MS = 5_000;
/** After a stop, so long for activities to end by themselves before they are told to. */
const SHUTDOWN_GRACE_MS = 10_000;

/**
 * Starts a worker: it runs the workflows and their activities until it is stopped.
 *
 * @param workflows where the workflows' code is, if not where the build puts it
 * @param timing how patient it is, if not as `TIMING` says
 * @throws DatabaseUnavailable, SearchAttributesMissing, TransportError of `@temporalio/worker`
 */
export async function startWorker(
  config: WorkerConfig,
  log: Logger,
  workflows: WorkflowCode = workflowCode(),
  timing: WorkerTiming = TIMING,
): Promise<RunningWorker> {
  installRuntime(log);
  const { namespace, connectionOptions } = config.temporal;
  const db = await openDatabase({ url: config.databaseUrl.reveal() });
  const service = createCompanyDataClient({
    baseUrl: config.service.url,
    apiKey: config.service.apiKey,
    authorizationTimeoutMs: timing.authorizationTimeoutMs,
    retryBudgetMs: timing.retryBudgetMs,
    onWait: (wait) => log.info(wait, 'the service is asked again later'),
  });
  const dataConverter = dataConverterOf(config.payloadKeys);
  const connection = await NativeConnection.connect(connectionOptions);
  const release = async (): Promise<void> => {
    await connection.close();
    await service.close();
    await db.destroy();
  };
  try {
    await assertSearchAttributes(connection, namespace);
    const client = new Client({ connection, namespace, dataConverter });
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: TASK_QUEUE,
      ...workflows,
      dataConverter,
      activities: createActivities({
        db,
        service,
        keys: createMasterKeyProvider(config.masterKeys),
        notices: createNotifier(log, config.webhook.target),
        schedules: createWindowSchedules(client.schedule),
        workflowStatus: createWorkflowStatus(
          new Client({ connection, namespace, dataConverter: withoutPayloads(dataConverter) }),
        ),
        sendWithinMs: timing.sendWithinMs,
        leaseMs: leaseMs(timing),
        sliceTimeLimitMs: timing.sliceTimeLimitMs,
      }),
      shutdownGraceTime: SHUTDOWN_GRACE_MS,
      maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    });
    await keepSweepSchedule(client.schedule, timing.sweepEveryMs, log);
    const ended = worker.run().finally(release);
    // Whoever stops the worker waits for its end there; nobody else has to.
    ended.catch((error: unknown) => log.error({ err: error }, 'the worker ended'));
    return {
      ended,
      stop: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await ended;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}
