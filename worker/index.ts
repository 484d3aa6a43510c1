/** The worker, which runs workflows and activities. `main.ts` runs a worker as a separate process. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { activityInfo } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import {
  type Activities,
  createActivities,
  createNotifier,
  createWorkflowRecords,
  createWorkflowStatus,
  createWindowSchedules,
} from '../activities';
import { withCallerCheck } from '../activities/callers';
import { createCompanyDataClient, type RetryWait } from '../company-data-client';
import type { Config } from '../config';
import {
  createDataConverter,
  createIdentityVerifier,
  createVaultKeyWrapper,
  createWorkerDataConverter,
  createVaultSecretFolder,
  createPlainDataConverter,
} from '../security';
import { migrationOfWorkflow } from '../domain/migration/temporal-names';
import { traceServiceRequest } from '../observability/request-traces';
import { leaseMs, openDatabase } from '../store';
import { TASK_QUEUE } from '../workflows/messages';
import { assertSearchAttributes, connectToTemporal } from './connection';
import type { WorkerMetrics } from './metrics/worker-metrics';
import { startPortal } from './portal';
import { startReconnectionChecks } from './reconnections';
import { installRuntime } from './runtime';
import { createSweepSchedule } from './sweep-schedule';
import { STEP_OF_ACTIVITY, TRACE_SINKS, traceActivities } from './traces';
import { TIMING, type WorkerTiming } from './timing';
import { versioningOptions } from './versioning';

/** The parts of the configuration that a worker needs; see `Parts` in config/parts.ts. */
export type WorkerConfig = Config<
  'temporal' | 'databaseUrl' | 'service' | 'masterKeys' | 'vaultSecrets' | 'payloadKeys' | 'webhook'
> &
  Partial<Config<'workerDeployment' | 'workerBuildId' | 'openId'>>;

export interface RunningWorker {
  readonly client: Client;
  /** @throws if Temporal does not answer before the deadline */
  pingTemporal(deadline: Date): Promise<void>;
  /** Takes no more tasks, gives activities 10 seconds to finish before it cancels them, and then disconnects. */
  stop(): Promise<void>;
  /** Resolves when the worker has stopped; rejects if it has failed. */
  readonly ended: Promise<void>;
}

/** How long the SDK may hold back a heartbeat. Temporal reports a cancellation only in response to a heartbeat. */
const HEARTBEAT_THROTTLE_MS = 5_000;
/** How long activities can continue after `stop` was called before they are cancelled. */
const SHUTDOWN_GRACE_MS = 10_000;
/**
 * How long Temporal offers a workflow task only to the worker that has the workflow in its cache. If that worker has
 * died, every migration that it had cached makes no progress for this long. The SDK's default is 10 seconds.
 */
const CACHED_WORKER_ONLY_MS = 5_000;
/**
 * The maximum number of activities that a worker runs at the same time. A slice keeps its slot for up to a minute, even
 * while it waits because of its migration's limit of companies per minute. With too few slots, the activities of one
 * migration wait for the slices of others. A waiting slice costs little: the load is limited by the requests in flight
 * and the connections to the ledger, which all slices share. The SDK's default is 100.
 */
const ACTIVITY_SLOTS = 1_000;
/**
 * The maximum number of workflows in a worker's cache. It bounds the worker's memory, however many migrations are
 * waiting. A cached migration takes 79 KB of heap while it waits. A migration that is not in the cache is replayed
 * first, so a decision takes about 50 ms instead of 33 ms (with 25 events). The SDK's default depends on the heap
 * limit: it is about 2,300 with a limit of 4 GB.
 */
const CACHED_WORKFLOWS = 300;

/** How a worker process is monitored. */
export interface WorkerObservation {
  /** `host:port` on which Temporal's SDK serves its own metrics. */
  readonly sdkMetricsAddress: string;
  readonly metrics: WorkerMetrics;
}

/**
 * Starts a worker that runs until it is stopped.
 *
 * @param workflows the workflow code; defaults to the bundle of the build, or to the sources if there is no build
 * @param timing defaults to {@link TIMING}
 * @param observation default: the worker is not monitored
 * @throws {DatabaseUnavailable}
 * @throws {SearchAttributesMissing}
 * @throws {NoWorkflowBundle}
 * @throws {TemporalUnreachable}
 */
export async function startWorker(
  config: WorkerConfig,
  log: Logger,
  workflows: WorkflowCode = workflowCode(),
  timing: WorkerTiming = TIMING,
  observation?: WorkerObservation,
): Promise<RunningWorker> {
  const { namespace } = config.temporal;
  const onPool = observation?.metrics.onPool;
  const db = await openDatabase({ url: config.databaseUrl.reveal(), onPool, createLedger: true });
  // The runtime keeps the process running until its last connection to Temporal is closed. It is installed only after
  // the database has been opened: if opening the database failed, there would be no connection to close.
  installRuntime(log, observation?.sdkMetricsAddress);
  const service = createCompanyDataClient({
    baseUrl: config.service.url,
    apiKey: config.service.apiKey,
    authorizationTimeoutMs: timing.authorizationTimeoutMs,
    retryBudgetMs: timing.retryBudgetMs,
    onAnswer: observation?.metrics.onAnswer,
    traceRequest: traceServiceRequest,
    onWait: (wait) => {
      observation?.metrics.onRetry(wait);
      log.info({ ...callerFields(wait), ...wait }, 'a call to the service failed and will be retried');
    },
    onIgnoredWait: (wait) =>
      log.warn(wait, 'a response asked for an implausibly long wait (more than 25 hours), which was ignored'),
  });
  const dataConverter = createDataConverter(config.payloadKeys);
  let connection: NativeConnection | undefined;
  const release = async (): Promise<void> => {
    await connection?.close();
    await service.close();
    await db.destroy();
  };
  try {
    connection = await connectToTemporal(config.temporal);
    await assertSearchAttributes(connection, namespace);
    const client = new Client({ connection, namespace, dataConverter });
    const clientWithoutCodec = new Client({ connection, namespace, dataConverter: createPlainDataConverter() });
    const versioning = versioningOptions(config.workerDeployment, workflows.workflowBundle, config.workerBuildId);
    const { version } = versioning.workerDeploymentOptions ?? {};
    if (version)
      log.info(
        version,
        'the worker is versioned, and gets tasks once its build is the current or the ramping version of the deployment',
      );
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: TASK_QUEUE,
      ...workflows,
      interceptors: { ...workflows.interceptors, activity: [traceActivities] },
      sinks: TRACE_SINKS,
      ...versioning,
      dataConverter: createWorkerDataConverter(config.payloadKeys),
      activities: withCallerCheck(
        createActivities({
          db,
          service,
          keys: createVaultKeyWrapper(config.masterKeys, createVaultSecretFolder(config.vaultSecrets)),
          notices: createNotifier(log, config.webhook.target),
          schedules: createWindowSchedules(client.schedule),
          workflowStatus: createWorkflowStatus(clientWithoutCodec),
          workflowRecords: createWorkflowRecords(client),
          sendWithinMs: timing.sendWithinMs,
          leaseMs: leaseMs(timing),
          sliceTimeLimitMs: timing.sliceTimeLimitMs,
        }),
        db,
      ),
      shutdownGraceTime: SHUTDOWN_GRACE_MS,
      maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
      stickyQueueScheduleToStartTimeout: CACHED_WORKER_ONLY_MS,
      maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
      maxCachedWorkflows: CACHED_WORKFLOWS,
    });
    await createSweepSchedule(client.schedule, timing.sweepEveryMs, log);
    const portal = startPortal({
      reconnectionsAskedAt: new Map(),
      ferry: { temporal: client, temporalWithoutCodec: clientWithoutCodec, db, close: () => Promise.resolve() },
      ...{ namespace, log },
      verifyIdentity: config.openId && createIdentityVerifier(config.openId),
    });
    const reconnections = startReconnectionChecks({ db, service, namespace, log });
    const run = async (): Promise<void> => {
      try {
        try {
          await worker.run();
        } finally {
          await Promise.all([portal.stop(), reconnections.stop()]);
        }
      } finally {
        await release();
      }
    };
    const ended = run();
    // Also marks the rejection as handled, because not every caller awaits `ended`.
    ended.catch((error: unknown) => log.error({ err: error }, 'the worker failed'));
    const { workflowService } = connection;
    return {
      ended,
      client,
      pingTemporal: async (deadline) => {
        await client.withDeadline(deadline, () => workflowService.getSystemInfo({}));
      },
      stop: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        void portal.stop();
        void reconnections.stop();
        await ended;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Returns the fields by which log lines of a call can be found: see docs/monitoring.md. */
function callerFields({ failure }: RetryWait): Record<string, unknown> {
  const correlationId = 'correlationId' in failure ? failure.correlationId : undefined;
  return { ...activityFields(), ...(correlationId !== undefined && { correlationId }) };
}

function activityFields(): Record<string, unknown> {
  try {
    const { workflowExecution, activityType: activity } = activityInfo();
    if (!workflowExecution) return {};
    const { workflowId, runId: run } = workflowExecution;
    const step = STEP_OF_ACTIVITY[activity as keyof Activities];
    return { migration: migrationOfWorkflow(workflowId), run, ...(step && { step }), activity };
  } catch {
    return {}; // The call does not belong to an activity.
  }
}

type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'>;

/** Returns the bundle of the build if there is one. Otherwise returns the sources, which the worker then bundles. */
function workflowCode(): WorkflowCode {
  const bundle = path.join(__dirname, '..', 'workflow-bundle.js');
  if (existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  return {
    workflowsPath: require.resolve('../workflows'),
    interceptors: { workflowModules: [require.resolve('../workflows/interceptors')] },
  };
}
