/** Finds out why a migration is making no progress: failing activities, failing workflow tasks or missing workers. */
import { optionalTsToMs } from '@temporalio/common/lib/time';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { CANNOT_CONTINUE } from '../domain/progress/worker-advice';
import { withoutUnsafeCharacters } from '../domain/text/untrusted-text';
import { UnknownPayloadKey } from '../security';
import { progressQuery, TASK_QUEUE } from '../workflows/messages';
import type { MigrationClient } from './connect';
import { describeIfFound } from './workflow-ids';

/**
 * The type of the failure with which the SDK ends the activities of a worker that is stopping. Another worker continues
 * them, so nothing is wrong.
 */
const WORKER_SHUTDOWN = 'WorkerShutdown';

/** `TIMEOUT_TYPE_HEARTBEAT` of Temporal's API. */
const HEARTBEAT_TIMEOUT = 4;
/** `PENDING_ACTIVITY_STATE_SCHEDULED` of Temporal's API: the activity waits for its next attempt. */
const SCHEDULED = 1;
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal's API. */
const STARTED = 2;
/** `PENDING_ACTIVITY_STATE_CANCEL_REQUESTED` of Temporal's API: the attempt is running, and has been asked to end. */
const CANCEL_REQUESTED = 3;
/** Replaces the SDK's text "activity Heartbeat timeout". */
const WORKER_SILENT = 'a worker stopped responding';

/** Work that has failed and is retried. */
export interface Retry {
  readonly error: string;
  /**
   * When the next attempt begins, in ISO 8601, UTC; `running` if it has begun. Null if the time is unknown, or has
   * passed without a worker beginning the attempt.
   */
  readonly nextAttempt: string | null;
}

/**
 * Returns the errors of {@link readRetries}.
 *
 * @throws WorkflowNotFoundError
 */
export async function readRetriedErrors(ferry: MigrationClient, migrationId: string): Promise<readonly string[]> {
  return (await readRetries(ferry, migrationId)).map(({ error }) => error);
}

/**
 * Returns the activities that are being retried, for example during an outage of the service, each error once. A
 * worker that has stopped is one error, although it can have run several activities. If workflow tasks are failing, the
 * first error is about them. Also examines the batch run that the migration is waiting for. Empty if nothing fails.
 *
 * @throws WorkflowNotFoundError
 */
export async function readRetries(ferry: MigrationClient, migrationId: string): Promise<readonly Retry[]> {
  const executions = await describeWithChildren(ferry, migrationId);
  const failures = executions
    .flatMap(({ pendingActivities }) => pendingActivities ?? [])
    .flatMap(({ attempt, lastFailure, state, lastHeartbeatTime, lastStartedTime, scheduledTime }) => {
      if ((attempt ?? 1) <= 1 || !lastFailure) return [];
      // Another worker has continued the work, and has sent a heartbeat since.
      const isContinued =
        Number(state) === STARTED && (optionalTsToMs(lastHeartbeatTime) ?? 0) > (optionalTsToMs(lastStartedTime) ?? 0);
      if (isHeartbeatTimeout(lastFailure) && isContinued) return [];
      return [{ failure: lastFailure, nextAttempt: nextAttemptOf(Number(state), optionalTsToMs(scheduledTime)) }];
    })
    .filter(({ failure }) => failure.applicationFailureInfo?.type !== WORKER_SHUTDOWN);
  const retries = failures.map(async ({ failure, nextAttempt }): Promise<Retry> => {
    const error = isHeartbeatTimeout(failure)
      ? new Error(
          nextAttempt === 'running' ? WORKER_SILENT : `${WORKER_SILENT}; any running worker takes over its work`,
        )
      : await decodeOptionalFailureToOptionalError(ferry.temporal.options.loadedDataConverter, failure).catch(
          unknownKeyError,
        );
    return { error: error?.message ?? '', nextAttempt };
  });
  const problem = await firstProblem(ferry, executions);
  const first = problem === null ? [] : [{ error: `${CANNOT_CONTINUE}: ${problem}`, nextAttempt: null }];
  const all = [...first, ...(await Promise.all(retries))].filter(({ error }) => error !== '');
  const byKind = new Map<string, Retry>();
  for (const retry of all) {
    const kind = retry.error.startsWith(WORKER_SILENT) ? WORKER_SILENT : retry.error;
    if (!byKind.has(kind) || byKind.get(kind)?.nextAttempt === 'running') byKind.set(kind, retry);
  }
  return [...byKind.values()];
}

/** Returns null if the scheduled time has passed, because the attempt then waits for a worker. */
function nextAttemptOf(state: number, scheduledMs: number | undefined): Retry['nextAttempt'] {
  if (state === STARTED || state === CANCEL_REQUESTED) return 'running';
  const isAhead = state === SCHEDULED && scheduledMs !== undefined && scheduledMs > Date.now();
  return isAhead ? new Date(scheduledMs).toISOString() : null;
}

function isHeartbeatTimeout({ timeoutFailureInfo }: temporal.api.failure.v1.IFailure): boolean {
  return Number(timeoutFailureInfo?.timeoutType) === HEARTBEAT_TIMEOUT;
}

/**
 * Returns why the workflow tasks of a workflow, or of one of its children, are failing; null if they are not failing.
 * Needs no worker.
 *
 * @throws WorkflowNotFoundError
 */
export async function readWorkflowTaskProblem(ferry: TemporalClients, workflowId: string): Promise<string | null> {
  return firstProblem(ferry, await describeWithChildren(ferry, workflowId));
}

type Description = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;

/** Describes a workflow and its running children. */
async function describeWithChildren(ferry: TemporalClients, workflowId: string): Promise<readonly Description[]> {
  const { workflow } = ferry.temporalWithoutCodec;
  const { raw } = await workflow.getHandle(workflowId).describe();
  const ids = (raw.pendingChildren ?? []).flatMap((child) => child.workflowId ?? []);
  const children = await Promise.all(ids.map((id) => describeIfFound(workflow, id)));
  return [raw, ...children.flatMap((child) => child?.raw ?? [])];
}

function nullIfDeleted(error: unknown): null {
  if (error instanceof WorkflowNotFoundError) return null;
  throw error;
}

async function firstProblem(
  ferry: TemporalClients,
  [parent, ...children]: readonly Description[],
): Promise<string | null> {
  const problem = parent ? await workflowTaskProblem(ferry, parent) : null;
  if (problem !== null) return problem;
  for (const child of children) {
    const childProblem = await workflowTaskProblem(ferry, child);
    if (childProblem !== null)
      return `${childProblem} (workflow ${child.workflowExecutionInfo?.execution?.workflowId ?? ''})`;
  }
  return null;
}

/** The number of workflows that are described at the same time. */
const DESCRIBED_AT_ONCE = 10;

/**
 * Reads the problem of each workflow like {@link readWorkflowTaskProblem}. The result contains only workflows with a
 * problem, and leaves out workflows that Temporal does not have.
 */
export async function readWorkflowTaskProblems(
  ferry: TemporalClients,
  workflowIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  const rest = [...workflowIds];
  const readRest = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      const problem = await readWorkflowTaskProblem(ferry, id).catch(nullIfDeleted);
      if (problem !== null) problems.set(id, problem);
    }
  };
  await Promise.all(Array.from({ length: DESCRIBED_AT_ONCE }, readRest));
  return problems;
}

/** The message of a failure whose text is in an encrypted payload (`security/failure-converter.ts`). */
const ENCODED = 'Encoded failure';

type TemporalClients = Pick<MigrationClient, 'temporal' | 'temporalWithoutCodec'>;

/**
 * The number of events to search, from the end of the history. Temporal retries a workflow task indefinitely, but
 * records only its first failure. Messages that arrive later follow this failure, so it need not be near the end.
 */
const EVENTS_SEARCHED = 200;

async function workflowTaskProblem(
  { temporal }: TemporalClients,
  { pendingWorkflowTask, workflowExecutionInfo }: Description,
): Promise<string | null> {
  if ((pendingWorkflowTask?.attempt ?? 1) <= 1) return null;
  const { namespace, loadedDataConverter } = temporal.options;
  const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: workflowExecutionInfo?.execution ?? null,
    maximumPageSize: EVENTS_SEARCHED,
  });
  const last = history?.events?.find(
    (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskCompletedEventAttributes,
  );
  // No failure since the last success: the task has only timed out, because a worker has died or is not running.
  if (!last?.workflowTaskFailedEventAttributes) return null;
  const { failure = null } = last.workflowTaskFailedEventAttributes;
  try {
    const { message = '' } = (await decodeOptionalFailureToOptionalError(loadedDataConverter, failure)) ?? {};
    return ['', ENCODED].includes(message) ? "the reason is in the worker's log" : withoutUnsafeCharacters(message);
  } catch (problem) {
    if (!(problem instanceof UnknownPayloadKey)) throw problem;
    return hiddenReason(problem);
  }
}

/** Returns an error about a missing payload key, to report it in place of the failure that the key encrypted. */
function unknownKeyError(error: unknown): Error {
  if (error instanceof UnknownPayloadKey) return new Error(hiddenReason(error));
  throw error;
}

/** Says that the reason for a failure is encrypted under a payload key that this machine does not have. */
function hiddenReason({ keyId }: UnknownPayloadKey): string {
  const why = `because payload key ${keyId} is missing here`;
  return `the reason cannot be shown on this machine, ${why}; read the reason in the worker's log`;
}

/**
 * A worker counts as running if it has polled within this time. Workers poll about once a minute, but Temporal keeps
 * listing a stopped worker for several minutes.
 */
const POLLED_WITHIN_MS = 2 * 60_000;

/** `temporal.api.enums.v1.TaskQueueType` */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** Number of workers that polled for each kind of task in the last two minutes. They might have stopped since then. */
export interface PollingWorkers {
  readonly workflows: number;
  readonly activities: number;
}

/**
 * Counts the workers that have polled in the last two minutes.
 *
 * @param nowMs the time in milliseconds by a clock that agrees with Temporal's; this machine's clock can be wrong
 */
export async function readWorkers(
  ferry: Pick<MigrationClient, 'temporal'>,
  nowMs: number | Promise<number>,
): Promise<PollingWorkers> {
  const { workflowService, options } = ferry.temporal;
  const [workflows, activities] = await Promise.all([
    readTaskQueue(workflowService, options.namespace, 'workflows', nowMs),
    readTaskQueue(workflowService, options.namespace, 'activities', nowMs),
  ]);
  return { workflows: workflows.pollers.length, activities: activities.pollers.length };
}

/** A task queue: the workers that have polled in the last two minutes, and the version that gets its tasks. */
export interface TaskQueueDescription {
  readonly pollers: readonly temporal.api.taskqueue.v1.IPollerInfo[];
  readonly versioning: temporal.api.taskqueue.v1.ITaskQueueVersioningInfo | null;
}

/**
 * Describes the task queue of the workers for one kind of task.
 *
 * @param nowMs as in {@link readWorkers}
 */
export async function readTaskQueue(
  workflowService: MigrationClient['temporal']['workflowService'],
  namespace: string,
  kind: keyof typeof QUEUE_TYPES,
  nowMs: number | Promise<number>,
): Promise<TaskQueueDescription> {
  const queue = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType: QUEUE_TYPES[kind] };
  const [{ pollers, versioningInfo }, now] = await Promise.all([workflowService.describeTaskQueue(queue), nowMs]);
  const polledAtMs = ({ lastAccessTime }: temporal.api.taskqueue.v1.IPollerInfo): number =>
    Number(lastAccessTime?.seconds ?? 0) * 1_000;
  return {
    pollers: (pollers ?? []).filter((poller) => now - polledAtMs(poller) < POLLED_WITHIN_MS),
    versioning: versioningInfo ?? null,
  };
}

/** How workers react to a query: `rejected` means that the worker cannot continue the migration. */
export type WorkerReaction = 'answered' | 'rejected' | 'silent';

/**
 * Sends a query about each of these migrations to the workers, and returns the reactions by migration id.
 *
 * @param deadline when to stop waiting, in milliseconds since 1970
 */
export async function askWorkers(
  { temporal }: Pick<MigrationClient, 'temporal'>,
  migrationIds: readonly string[],
  deadline: number,
): Promise<ReadonlyMap<string, WorkerReaction>> {
  const { namespace } = temporal.options;
  const ask = async (workflowId: string): Promise<readonly [string, WorkerReaction]> => {
    const query = { namespace, execution: { workflowId }, query: { queryType: progressQuery.name } };
    try {
      await temporal.withDeadline(deadline, () => temporal.workflowService.queryWorkflow(query));
      return [workflowId, 'answered'];
    } catch (error) {
      const isRejected = error instanceof Error && 'code' in error && error.code === INVALID_ARGUMENT;
      return [workflowId, isRejected ? 'rejected' : 'silent'];
    }
  };
  return new Map(await Promise.all(migrationIds.map(ask)));
}

/** The gRPC status code of a query that a worker has rejected. */
const INVALID_ARGUMENT = 3;
