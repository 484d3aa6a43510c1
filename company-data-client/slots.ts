/** So many at once, the others in the order in which they came. */
export interface Slots {
  /** Waits for a free slot; the function that is returned gives it back. Throws the signal's reason when it aborts. */
  take(signal: AbortSignal | undefined): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  /** Each is called with its turn, and is then no longer here. */
  const waiting = new Set<() => void>();
  let free = count;

  const giveBack = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };

  /** True when it is our turn, false when the signal aborted before. */
  const turn = (signal: AbortSignal | undefined) =>
    new Promise<boolean>((resolve) => {
      const leave = (withTurn: boolean) => {
        waiting.delete(enter);
        signal?.removeEventListener('abort', abort);
        resolve(withTurn);
      };
      const enter = () => leave(true);
      const abort = () => leave(false);
      waiting.add(enter);
      signal?.addEventListener('abort', abort);
    });

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else if (!(await turn(signal))) signal?.throwIfAborted();
      return giveBack;
    },
  };
}
