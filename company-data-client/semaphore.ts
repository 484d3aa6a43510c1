/**
 * Two kinds of wait that an `AbortSignal` can end: `sleep` waits for a given time, and a semaphore waits for a free
 * slot.
 *
 * A semaphore has a fixed number of slots and hands them out in order of arrival. A waiter leaves the queue when it
 * gets a slot, when its deadline passes or when its signal aborts. Releasing a slot passes it to the first waiter.
 */

/** Longest delay of a Node timer, about 24 days. Node fires a timer with a longer delay immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits `ms` milliseconds, but at most about 24 days.
 *
 * @throws the signal's reason as soon as the signal aborts
 */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener('abort', wake);
  });
  signal?.throwIfAborted();
}

export interface Semaphore {
  /**
   * Waits for a free slot until `latest` (epoch milliseconds), but at most about 24 days.
   *
   * @returns a function that releases the slot; undefined if no slot became free in time
   * @throws the signal's reason as soon as the signal aborts
   */
  acquire(latest: number, signal: AbortSignal | undefined): Promise<(() => void) | undefined>;
}

export function createSemaphore(slots: number): Semaphore {
  /** The queue: one function per waiter, which grants a slot to the waiter and removes the waiter from the queue. */
  const waiting = new Set<() => void>();
  let free = slots;

  const release = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };

  /** Resolves to true when the waiter gets a slot, or to false when its deadline passes or its signal aborts first. */
  const queue = (latest: number, signal: AbortSignal | undefined) =>
    new Promise<boolean>((resolve) => {
      const stopWaiting = (isGranted: boolean) => {
        waiting.delete(grant);
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        resolve(isGranted);
      };
      const grant = () => stopWaiting(true);
      const giveUp = () => stopWaiting(false);
      const timer = setTimeout(giveUp, Math.min(latest - Date.now(), MAX_TIMER_MS));
      signal?.addEventListener('abort', giveUp);
      waiting.add(grant);
    });

  return {
    async acquire(latest, signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else if (!(await queue(latest, signal))) {
        signal?.throwIfAborted();
        return undefined;
      }
      return release;
    },
  };
}
