/** Waits for a wake-up call, a deadline, parallel work or an abort signal. */

/** A sleep between two polls that can be interrupted. */
export interface InterruptibleSleep {
  readonly sleep: (ms: number) => Promise<void>;
  /** Ends the current sleep; if there is none, the next sleep returns at once. */
  readonly wake: () => void;
}

export function createInterruptibleSleep(): InterruptibleSleep {
  let isAwake = false;
  let finish: (() => void) | null = null;
  return {
    sleep: async (ms) => {
      if (!isAwake) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          finish = resolve;
          timer = setTimeout(resolve, ms);
        });
        clearTimeout(timer);
      }
      finish = null;
      isAwake = false;
    },
    wake: () => {
      isAwake = true;
      finish?.();
    },
  };
}

/** Rejects if the work has not finished in time. The work is not cancelled; its result is ignored. */
export async function withTimeout<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Waits until all of the work has ended. If several parts fail, throws the error of the part that comes first in the
 * list, even if another part failed earlier.
 */
export async function inParallel<const Work extends readonly unknown[]>(
  ...work: Work
): Promise<{ -readonly [Part in keyof Work]: Awaited<Work[Part]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Waits until the signal is aborted; returns at once if it already has been. */
export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
