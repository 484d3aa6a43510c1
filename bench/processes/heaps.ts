/**
 * Measures the heap of each thread of a process after a garbage collection. Only a thread itself can collect its
 * garbage, and Temporal runs workflows outside the main thread. So `node --expose-gc --require` loads this file into
 * every thread.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const MB = 1024 * 1024;
/**
 * The time that `collectGarbage` waits for the heaps of the other threads. It always waits the full time, because the
 * number of threads is unknown.
 */
const ANSWER_WITHIN_MS = 5_000;

/** The heaps in use after a garbage collection, in MB. */
export interface Heaps {
  readonly mainMb: number;
  /** The sum over all other threads. */
  readonly othersMb: number;
}

function collect(): number {
  if (globalThis.gc === undefined) throw new Error('start the process with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed / MB;
}

if (!isMainThread) {
  const requests = new BroadcastChannel('collect garbage');
  const answers = new BroadcastChannel('heap');
  requests.onmessage = () => answers.postMessage(collect());
  requests.unref();
  answers.unref();
}

/** Collects the garbage of all threads. Called in the main thread. */
export async function collectGarbage(): Promise<Heaps> {
  const requests = new BroadcastChannel('collect garbage');
  const answers = new BroadcastChannel('heap');
  let othersMb = 0;
  answers.onmessage = (event) => {
    othersMb += (event as { readonly data: number }).data;
  };
  requests.postMessage(null);
  await delay(ANSWER_WITHIN_MS);
  requests.close();
  answers.close();
  return { mainMb: collect(), othersMb };
}
