import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 200;

/**
 * Polls a condition until it is true, and fails when it is not within `withinMs`. The longer it has waited, the less
 * often it polls, because many tests wait at the same time and a poll may be a query that a worker has to answer: a
 * tenth of the time waited so far, between 20 and 200 ms.
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 15_000): Promise<void> {
  const begunAt = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - begunAt;
    if (waitedMs > withinMs) throw new Error(`Not true after ${withinMs} ms: ${condition.toString()}`);
    await delay(Math.min(Math.max(waitedMs / 10, SHORTEST_POLL_MS), LONGEST_POLL_MS));
  }
}

/** Whether a process runs; one that has ended and was not yet collected does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
