import { setTimeout } from 'node:timers/promises';

/** Waits; when `signal` aborts, throws its reason at once. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
