/**
 * Notices that the process did not run for a while, for example because its machine or container was suspended.
 *
 * Meanwhile, Temporal has given the tasks of the process to other workers, or has timed them out. The SDK still holds
 * outdated tasks and workflows. A query that it answers late can take a workflow further than the workflow's history,
 * and the next task then stores commands in an order that no worker can replay. The migration would be stuck.
 */

import type { Logger } from 'pino';

const CHECK_EVERY_MS = 1_000;
/** Temporal's default timeout of a workflow task. After this time, tasks of the process have timed out. */
const LONGEST_GAP_MS = 10_000;

/**
 * Calls `onSuspended` if the process has not run for more than 10 seconds. A clock that jumps ahead looks the same.
 *
 * @param onSuspended receives the time in which the process did not run, in milliseconds
 * @returns a function that ends the watch
 */
export function watchForSuspension(onSuspended: (ms: number) => void): () => void {
  // The monotonic clock stands still while a machine sleeps, so this uses the clock that shows the time.
  let checkedAt = Date.now();
  const timer = setInterval(() => {
    const gapMs = Date.now() - checkedAt;
    checkedAt += gapMs;
    if (gapMs > LONGEST_GAP_MS) onSuspended(gapMs);
  }, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** How long the process can take to close its connections and to write its last log lines. Milliseconds. */
const EXIT_WITHIN_MS = 2_000;

/**
 * Rejects if this process was suspended, so that it ends and a new process takes over without outdated tasks. Ends the
 * process in any case, because connections that the suspension has broken can take longer to close, and the SDK
 * continues meanwhile.
 */
export function suspension(log: Logger): Promise<never> {
  return new Promise((_, reject) => {
    watchForSuspension((ms) => {
      const seconds = Math.round(ms / 1_000);
      const why = `the worker did not run for ${seconds} s, because the process or its machine was suspended or overloaded; it ends, because its tasks are outdated`;
      log.error(why);
      setTimeout(() => process.exit(1), EXIT_WITHIN_MS);
      reject(new Error(why));
    });
  });
}
