import { TASK_QUEUE } from '../workflows/messages';
import type { MigrationClient } from './open';

/** A worker asks anew about once a minute; Temporal names one that is gone for some minutes more. */
const STILL_THERE_MS = 2 * 60_000;

/** `temporal.api.enums.v1.TaskQueueType` */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** How many workers ask for work of each kind. */
export async function readWorkers(
  ferry: Pick<MigrationClient, 'temporal'>,
): Promise<{ readonly workflows: number; readonly activities: number }> {
  const [workflows, activities] = await Promise.all([
    pollers(ferry, QUEUE_TYPES.workflows),
    pollers(ferry, QUEUE_TYPES.activities),
  ]);
  return { workflows, activities };
}

async function pollers({ temporal }: Pick<MigrationClient, 'temporal'>, taskQueueType: number): Promise<number> {
  const { namespace } = temporal.options;
  const queue = { namespace, taskQueue: { name: TASK_QUEUE }, taskQueueType };
  const { pollers: known } = await temporal.workflowService.describeTaskQueue(queue);
  return (known ?? []).filter(({ lastAccessTime }) => {
    const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1_000;
    return Date.now() - seenAt < STILL_THERE_MS;
  }).length;
}
