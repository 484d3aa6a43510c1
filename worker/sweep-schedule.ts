import type { ScheduleClient } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { SWEEP, TASK_QUEUE } from '../workflows/messages';

/** The id of the Schedule. Each namespace has one, which all its workers share. */
export const SWEEP_SCHEDULE = 'tokenferry-sweep';

/** Short, because a worker can start without the Schedule. */
const CREATE_TIMEOUT_MS = 5_000;

/**
 * Creates the Schedule that starts a sweep at regular intervals. The first sweep starts after one interval. Leaves an
 * existing Schedule unchanged, because an operator might have paused it. A failure is only logged.
 *
 * @param everyMs the interval in milliseconds, at least 1,000
 */
export async function createSweepSchedule(
  client: ScheduleClient,
  everyMs: number,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CREATE_TIMEOUT_MS, () => client.create(sweepEvery(everyMs)));
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn(
      { err: error },
      'cannot create the sweep Schedule; to close terminated migrations, run: ferry sweep --close',
    );
  }
}

function sweepEvery(everyMs: number) {
  return {
    scheduleId: SWEEP_SCHEDULE,
    spec: { intervals: [{ every: everyMs, offset: Date.now() % everyMs }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType: SWEEP,
      workflowId: SWEEP_SCHEDULE,
      args: [],
      taskQueue: TASK_QUEUE,
      staticSummary: 'Close terminated migrations',
    },
    // After an outage, one sweep makes up for all missed ones.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs, pauseOnFailure: false },
    state: {
      note: 'Closes migrations that were terminated in Temporal. While this Schedule is paused, run: ferry sweep --close',
    },
  };
}
