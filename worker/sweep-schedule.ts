import { ScheduleAlreadyRunning, type ScheduleClient } from '@temporalio/client';
import type { Logger } from 'pino';
import { sweepSchedule } from '../workflows/messages';

/** The time limit is short, because a worker can start without the Schedule. */
const CREATE_TIMEOUT_MS = 5_000;

/**
 * Creates the Schedule of the sweep if the namespace has none. Leaves an existing Schedule unchanged, because an
 * operator might have paused it. A failure is only logged.
 *
 * @param everyMs the interval in milliseconds, at least 1,000
 */
export async function createSweepSchedule(
  client: ScheduleClient,
  everyMs: number,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CREATE_TIMEOUT_MS, () => client.create(sweepSchedule(everyMs)));
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn(
      { err: error },
      'cannot create the sweep Schedule, which closes terminated migrations; create it with: ferry setup; until then, find such migrations with: ferry sweep',
    );
  }
}
