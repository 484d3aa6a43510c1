/**
 * Tests queries of a workflow whose cached copy was on a worker that has died. The test itself acts as this worker and
 * as a second worker, with direct gRPC calls.
 */
import { randomUUID } from 'node:crypto';
import { defineQuery } from '@temporalio/workflow';
import { defaultDataConverter } from '@temporalio/common';
import { openMigrationClient } from '../../client';
import { queryMigration } from '../../client/query';
import { loadConfig } from '../../config';
import { ownNamespace } from '../support/jest/namespaces';
import { sharedTemporal } from '../support/servers/shared-servers';
import { PAYLOAD_KEY } from '../support/servers/keys';

/** `temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_STICKY` */
const STICKY = 2;
/** `temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED` */
const ANSWERED = 1;

test('a short query reaches another worker when the worker that has cached the workflow has died', async () => {
  const [namespace, id] = [ownNamespace(), `query-${randomUUID()}`];
  const ferry = await openMigrationClient(
    loadConfig(['temporal', 'payloadKeys'], {
      TEMPORAL_ADDRESS: await sharedTemporal(),
      TEMPORAL_NAMESPACE: namespace,
      TOKENFERRY_PAYLOAD_KEY: PAYLOAD_KEY,
    }),
  );
  const { temporal } = ferry;
  const service = temporal.workflowService;
  const [taskQueue, gone] = [{ name: id }, { name: `${id}-gone`, kind: STICKY, normalName: id }];
  await temporal.workflow.start('anything', { workflowId: id, taskQueue: id });
  const poll = (queue: object, identity: string, withinMs: number) =>
    temporal.withDeadline(Date.now() + withinMs, () =>
      service.pollWorkflowTaskQueue({ namespace, taskQueue: queue, identity }),
    );
  const first = await poll(taskQueue, 'dies', 10_000);
  // The worker polls its sticky queue immediately before it dies, so that Temporal still considers it alive. Temporal
  // refuses polls with a deadline of less than 2 s.
  await poll(gone, 'dies', 2_500).catch(() => undefined);
  await service.respondWorkflowTaskCompleted({
    namespace,
    taskToken: first.taskToken,
    stickyAttributes: { workerTaskQueue: gone, scheduleToStartTimeout: { seconds: 5 as never } },
  });

  const answering = poll(taskQueue, 'lives', 20_000).then((task) =>
    service.respondQueryTaskCompleted({
      namespace,
      taskToken: task.taskToken,
      completedType: ANSWERED,
      queryResult: { payloads: [defaultDataConverter.payloadConverter.toPayload('answer')] },
    }),
  );
  expect(await queryMigration(ferry, id, defineQuery<string>('progress'), 4_000)).toBe('answer');
  await answering;
  await temporal.workflow.getHandle(id).terminate();
  await ferry.close();
});
