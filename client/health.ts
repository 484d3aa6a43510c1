/** Reads why a migration makes no progress: failing activities, failing workflow tasks or missing workers. */
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow';
import { UnknownPayloadKey } from '../security';
import { TASK_QUEUE } from '../workflows/messages';
import type { MigrationClient } from './connect';

/**
 * Returns an error for each activity or workflow task that is being retried, for example during an outage of the
 * service. The list is empty if nothing is failing.
 *
 * @throws WorkflowNotFoundError
 */
export async function readRetriedErrors(ferry: MigrationClient, migrationId: string): Promise<readonly string[]> {
  const { raw } = await ferry.temporalWithoutCodec.workflow.getHandle(migrationId).describe();
  const failures = (raw.pendingActivities ?? []).flatMap(({ attempt, lastFailure }) =>
    (attempt ?? 1) > 1 && lastFailure ? [lastFailure] : [],
  );
  const errors = failures.map((failure) =>
    decodeOptionalFailureToOptionalError(ferry.temporal.options.loadedDataConverter, failure).catch(unknownKeyError),
  );
  const messages = (await Promise.all(errors)).flatMap((error) => (error?.message ? [error.message] : []));
  const isStuck = (raw.pendingWorkflowTask?.attempt ?? 1) > 1;
  return isStuck ? [await readWorkflowTaskFailure(ferry, migrationId), ...messages] : messages;
}

/**
 * The number of events to search, from the end. Temporal retries a workflow task indefinitely but records only its
 * first failure, so that failure is among the last events.
 */
const EVENTS_SEARCHED = 5;

async function readWorkflowTaskFailure({ temporal }: MigrationClient, migrationId: string): Promise<string> {
  const { namespace, loadedDataConverter } = temporal.options;
  const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId: migrationId },
    maximumPageSize: EVENTS_SEARCHED,
  });
  const failed = history?.events?.find((event) => event.workflowTaskFailedEventAttributes);
  const { failure = null } = failed?.workflowTaskFailedEventAttributes ?? {};
  const error = await decodeOptionalFailureToOptionalError(loadedDataConverter, failure).catch(unknownKeyError);
  const why = error === undefined ? "the reason is in the worker's log" : error.message;
  return `the worker cannot continue: ${why}`;
}

/** Returns an error about a missing payload key, to report it in place of the failure that the key encrypted. */
function unknownKeyError(error: unknown): Error {
  if (error instanceof UnknownPayloadKey) return error;
  throw error;
}

/**
 * A worker counts as running if it has polled within this time. Workers poll about once a minute, but Temporal lists a
 * stopped one for several minutes.
 */
const POLLED_WITHIN_MS = 2 * 60_000;

/** `temporal.api.enums.v1.TaskQueueType` */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** Counts the workers that have polled for each kind of task in the last two minutes. */
export async function readWorkers(
  ferry: Pick<MigrationClient, 'temporal'>,
): Promise<{ readonly workflows: number; readonly activities: number }> {
  const [workflows, activities] = await Promise.all([
    countPollers(ferry, QUEUE_TYPES.workflows),
    countPollers(ferry, QUEUE_TYPES.activities),
  ]);
  return { workflows, activities };
}

async function countPollers({ temporal }: Pick<MigrationClient, 'temporal'>, taskQueueType: number): Promise<number> {
  const { namespace } = temporal.options;
  const queue = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType };
  const { pollers } = await temporal.workflowService.describeTaskQueue(queue);
  return (pollers ?? []).filter(({ lastAccessTime }) => {
    const polledAt = Number(lastAccessTime?.seconds ?? 0) * 1_000;
    return Date.now() - polledAt < POLLED_WITHIN_MS;
  }).length;
}
