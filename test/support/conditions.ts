import { setTimeout as delay } from 'node:timers/promises';

const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 200;
/** Ends a wait for something that never happens. On a busy machine, a wait of a second can take half a minute. */
const WITHIN_MS = 60_000;

/**
 * Polls a condition until it is true. Between two polls, waits for a tenth of the time waited so far, but at least 20
 * ms and at most 200 ms: many tests wait at the same time, and a poll can be a query that a worker has to answer.
 *
 * @throws if the condition is not true within `withinMs`
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = WITHIN_MS): Promise<void> {
  const startedAt = Date.now();
  while (!(await condition())) {
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > withinMs) throw new Error(`Not true after ${withinMs} ms: ${condition.toString()}`);
    await delay(Math.min(Math.max(waitedMs / 10, SHORTEST_POLL_MS), LONGEST_POLL_MS));
  }
}

/** Returns whether a process is running. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
