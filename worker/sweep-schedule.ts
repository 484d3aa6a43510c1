import type { ScheduleClient } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { SWEEP, TASK_QUEUE } from '../workflows/messages';

/** One for a namespace, however many workers it has. */
export const SWEEP_SCHEDULE = 'tokenferry-sweep';

/** A worker does not wait longer for it. */
const CREATED_WITHIN_MS = 5_000;

/**
 * Has Temporal start a sweep again and again, first when so much time has passed. A Schedule that is there stays as it
 * is: somebody may have paused it. Never rejects: without it a worker does everything else.
 *
 * @param everyMs milliseconds; a second at least
 */
export async function keepSweepSchedule(
  client: ScheduleClient,
  everyMs: number,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CREATED_WITHIN_MS, () => client.create(sweepEvery(everyMs)));
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn(
      { err: error },
      'the schedule of the sweeps is not made: terminated migrations wait for ferry sweep --close',
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
      staticSummary: 'What terminated migrations have left behind',
    },
    // After an outage one sweep makes up for all that were missed.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs, pauseOnFailure: false },
    state: { note: 'Closes migrations that were terminated in Temporal; paused, that is left to ferry sweep' },
  };
}
