import { QueryNotRegisteredError, WorkflowNotFoundError, type QueryDefinition } from '@temporalio/client';
import { UnknownPayloadKey } from '../security';
import type { MigrationClient } from './connect';
import { readWorkflowTaskProblem } from './health';
import { NoSuchMigration, NoWorker, PayloadKeyMissing, WorkflowTaskFailing } from './errors';

/** gRPC status codes of an unanswered query: CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION. */
const UNANSWERED: readonly unknown[] = [1, 4, 8, 9];

/**
 * Maximum time-out of the first attempt, which also gets at most half of the time for both attempts. A query is lost if
 * its worker stops; a second attempt reaches another worker.
 */
const FIRST_ATTEMPT_MS = 3_000;
/**
 * With less time, the first attempt gets all of it, because half of it would be too short for a worker that replays a
 * history.
 */
const SHORTEST_TO_SPLIT_MS = 4_000;

/**
 * Maximum time to make Temporal forget the worker that has cached the workflow. Temporal would otherwise offer the
 * second attempt to that worker again, for up to 5 s, even if it has died.
 */
const FORGET_WITHIN_MS = 500;

/**
 * Maximum time to find out why there is no answer. Without this limit, the client would retry for minutes if Temporal
 * is unreachable.
 */
const EXAMINED_WITHIN_MS = 2_000;

/**
 * Queries a migration's workflow, at most twice. A worker must be running.
 *
 * @param withinMs time for both attempts together, in milliseconds. Finding out why there is no answer can take up to
 *   2 s more
 * @throws NoWorker
 * @throws WorkflowTaskFailing
 * @throws NoSuchMigration
 * @throws PayloadKeyMissing
 */
export async function queryMigration<Answer, Args extends [unknown?]>(
  ferry: MigrationClient,
  migrationId: string,
  query: QueryDefinition<Answer, Args>,
  withinMs: number,
  ...args: Args
): Promise<Answer> {
  const startedAt = Date.now();
  const deadline = startedAt + withinMs;
  try {
    const firstDeadline =
      withinMs < SHORTEST_TO_SPLIT_MS ? deadline : startedAt + Math.min(FIRST_ATTEMPT_MS, withinMs / 2);
    return await queryOnce(ferry, migrationId, query, firstDeadline, args);
  } catch (error) {
    if (!(error instanceof NoWorker)) throw error;
    await assertWorkflowTasksSucceed(ferry, migrationId, error);
    if (Date.now() >= deadline) throw error;
  }
  await forgetCachedWorker(ferry, migrationId);
  try {
    return await queryOnce(ferry, migrationId, query, deadline, args);
  } catch (error) {
    if (error instanceof NoWorker) await assertWorkflowTasksSucceed(ferry, migrationId, error);
    throw error;
  }
}

/** Makes Temporal offer the next query to any worker. Best effort, because Temporal also does so after some seconds. */
async function forgetCachedWorker({ temporal }: MigrationClient, workflowId: string): Promise<void> {
  const { namespace } = temporal.options;
  await temporal
    .withDeadline(Date.now() + FORGET_WITHIN_MS, () =>
      temporal.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId } }),
    )
    .catch(() => undefined);
}

/**
 * Checks whether a query has no answer because the workflow tasks fail. Between their retries, which are up to 10 min
 * apart, Temporal answers as if no worker were running.
 *
 * @throws WorkflowTaskFailing
 */
async function assertWorkflowTasksSucceed(ferry: MigrationClient, migrationId: string, cause: NoWorker): Promise<void> {
  const deadline = Date.now() + EXAMINED_WITHIN_MS;
  const why = await ferry.temporal
    .withDeadline(deadline, () => readWorkflowTaskProblem(ferry, migrationId))
    .catch(() => null);
  if (why !== null) throw new WorkflowTaskFailing(migrationId, { cause }, why);
}

async function queryOnce<Answer, Args extends [unknown?]>(
  { temporal }: MigrationClient,
  migrationId: string,
  query: QueryDefinition<Answer, Args>,
  deadline: number,
  args: Args,
): Promise<Answer> {
  try {
    return await temporal.withDeadline(deadline, () =>
      temporal.workflow.getHandle(migrationId).query<Answer, Args>(query, ...args),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new NoSuchMigration(migrationId);
    if (error instanceof UnknownPayloadKey) throw new PayloadKeyMissing(migrationId, error.keyId, { cause: error });
    // The Temporal client throws this class whenever a worker answers a query with a failure.
    if (error instanceof QueryNotRegisteredError) throw new WorkflowTaskFailing(migrationId, { cause: error });
    const { cause } = error instanceof Error ? error : { cause: undefined };
    if (cause instanceof Error && 'code' in cause && UNANSWERED.includes(cause.code)) {
      throw new NoWorker(migrationId, { cause: error });
    }
    throw error;
  }
}
