import { proxyActivities } from '@temporalio/workflow';

/** An attacker's workflow: calls any activity on another task queue with any input. */
export async function callActivity({
  activity,
  taskQueue,
  input,
}: {
  readonly activity: string;
  readonly taskQueue: string;
  readonly input: object;
}): Promise<unknown> {
  const activities = proxyActivities({ startToCloseTimeout: '20 seconds', taskQueue, retry: { maximumAttempts: 2 } });
  return activities[activity]?.(input);
}
