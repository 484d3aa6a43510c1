import { LONGEST_TIMER_MS } from './pause';

/** So many at once, the others in the order in which they came. */
export interface Semaphore {
  /**
   * Waits for a free slot, at most until `latest` (and {@link LONGEST_TIMER_MS}); throws the signal's reason when it aborts.
   * @returns what gives the slot back; nothing when none was free in time.
   */
  take(latest: number, signal: AbortSignal | undefined): Promise<(() => void) | undefined>;
}

export function createSemaphore(count: number): Semaphore {
  /** Each is called when its turn has come, and is then no longer here. */
  const waiting = new Set<() => void>();
  let free = count;

  const giveBack = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };

  /** True when the turn has come, false when the time is over or the signal aborts before. */
  const turn = (latest: number, signal: AbortSignal | undefined) =>
    new Promise<boolean>((resolve) => {
      const stopWaiting = (hasTurn: boolean) => {
        waiting.delete(enter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        resolve(hasTurn);
      };
      const enter = () => stopWaiting(true);
      const giveUp = () => stopWaiting(false);
      const timer = setTimeout(giveUp, Math.min(latest - Date.now(), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', giveUp);
      waiting.add(enter);
    });

  return {
    async take(latest, signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else if (!(await turn(latest, signal))) {
        signal?.throwIfAborted();
        return undefined;
      }
      return giveBack;
    },
  };
}
