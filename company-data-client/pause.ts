/** A longer timer of Node ends at once. Some 24 days. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits, for {@link LONGEST_TIMER_MS} at most; when `signal` aborts, throws its reason at once. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener('abort', wake);
  });
  signal?.throwIfAborted();
}
