/** A wait between two looks, which can be ended early. */
export interface Pause {
  wait(ms: number): Promise<void>;
  /** Ends the wait; if nobody waits now, the next one is none. */
  end(): void;
}

export function openPause(): Pause {
  let isEnded = false;
  let finish: (() => void) | null = null;
  return {
    wait: async (ms) => {
      if (!isEnded) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          finish = resolve;
          timer = setTimeout(resolve, ms);
        });
        clearTimeout(timer);
      }
      finish = null;
      isEnded = false;
    },
    end: () => {
      isEnded = true;
      finish?.();
    },
  };
}

/** Rejects when something has not answered in time; it may still answer, and nobody listens any more. */
export async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Until somebody aborts it, also when they have done so already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
