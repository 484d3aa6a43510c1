/** Starts a worker in its own process, and reads its CPU and memory usage. */
import path from 'node:path';
import { TIMING, type WorkerTiming } from '../../worker/timing';
import { startProcessWith, type ChildProgram } from './child-process';
import type { Heaps } from './heaps';
import type { Usage } from './usage';

export interface WorkerSettings {
  /** The worker's environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timing: WorkerTiming;
}

/**
 * A timing with a lease of 5 s instead of 135 s. If a worker dies while an authorization is in flight, another worker
 * can send the credential again only after the lease.
 */
export const SHORT_TIMING: WorkerTiming = {
  ...TIMING,
  authorizationTimeoutMs: 3_000,
  sendWithinMs: 1_500,
  marginMs: 500,
};

export type WorkerCalls = {
  readonly start: (settings: WorkerSettings) => Promise<void>;
  readonly usage: () => Promise<Usage>;
  readonly collectGarbage: () => Promise<Heaps>;
};

export interface MeasuredWorker {
  usage(): Promise<Usage>;
  /** Collects the garbage of all threads, which takes a few seconds. */
  collectGarbage(): Promise<Heaps>;
  stop(): Promise<void>;
  /** Sends SIGKILL and waits until the worker has ended. */
  kill(): Promise<void>;
}

export async function startMeasuredWorker(settings: WorkerSettings): Promise<MeasuredWorker> {
  return startProcessWith(
    'worker-process',
    async (worker: ChildProgram<WorkerCalls>) => {
      await worker.call('start', settings);
      return {
        usage: () => worker.call('usage'),
        collectGarbage: () => worker.call('collectGarbage'),
        stop: () => worker.end(),
        kill: () => worker.kill(),
      };
    },
    ['--expose-gc', '--require', path.join(__dirname, 'heaps.js')],
    // As `ferry up` does.
    { MALLOC_ARENA_MAX: '2' },
  );
}
