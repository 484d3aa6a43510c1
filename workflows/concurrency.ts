/** Two pieces of work at the same time in one workflow. */

/**
 * Runs a companion beside the main work, for as long as the main work lasts.
 *
 * The companion starts first. When the main work has succeeded or failed, `isOver` becomes true. The call returns after
 * both have ended, because a workflow that returns earlier would abandon what the companion is doing.
 *
 * @param companion returns soon after `isOver` has become true
 * @returns the result of the main work
 * @throws the failure of the companion, otherwise the failure of the main work
 */
export async function runAlongside<T>(
  main: () => Promise<T>,
  companion: (isOver: () => boolean) => Promise<void>,
): Promise<T> {
  let over = false;
  const running = companion(() => over);
  // A failure is thrown below: until then it must not count as an unhandled rejection.
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
  /** Waits for the present run to end. Throws the first failure of all runs. */
  finish(): Promise<void>;
}

/**
 * Creates work that runs in the background, one run at a time, and can be started again after it has ended.
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
