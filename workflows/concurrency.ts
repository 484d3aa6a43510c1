/** Runs two pieces of work at the same time in one workflow. */

/**
 * Runs a companion alongside the main work, for as long as the main work lasts.
 *
 * The companion starts first. Once the main work has succeeded or failed, `isOver` returns true. The call returns only
 * after both have ended, because a workflow that returned earlier would abandon the companion's work.
 *
 * @param companion must return soon after `isOver` has become true
 * @returns the result of the main work
 * @throws the failure of the companion if there is one, otherwise the failure of the main work
 */
export async function runAlongside<T>(
  main: () => Promise<T>,
  companion: (isOver: () => boolean) => Promise<void>,
): Promise<T> {
  let over = false;
  const running = companion(() => over);
  // `await running` below rethrows the companion's failure, if there is one. Until then, that failure must not count as
  // an unhandled rejection.
  running.catch(() => undefined);
  try {
    return await main();
  } finally {
    over = true;
    await running;
  }
}

export interface BackgroundTask {
  isRunning(): boolean;
  /** Starts the work unless it is running. Throws the failure of an earlier run. */
  start(): void;
  /** Waits for the current run to end. Throws the failure of the first run that failed. */
  finish(): Promise<void>;
}

/**
 * Creates a task that runs in the background, one run at a time. It can be started again after a run has ended.
 *
 * @param onEnd called after every run
 */
export function backgroundTask(work: () => Promise<void>, onEnd: () => void): BackgroundTask {
  let current: Promise<void> | null = null;
  let failure: { readonly reason: unknown } | undefined;
  return {
    isRunning: () => current !== null,
    start: () => {
      if (failure) throw failure.reason;
      current ??= work()
        .catch((reason: unknown) => void (failure ??= { reason }))
        .finally(() => {
          current = null;
          onEnd();
        });
    },
    finish: async () => {
      await current;
      if (failure) throw failure.reason;
    },
  };
}
