/** A worker in a process of its own, that says what it uses. */
import type { WorkerTiming } from '../../worker/timing';
import { TIMING } from '../../worker/timing';
import type { OwnProcess } from './child-process';
import { startProcessWith } from './child-process';
import type { Usage } from './usage';

export interface WorkerSettings {
  /** That it would find in its environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timing: WorkerTiming;
}

/** A company of a dead worker is taken over after seconds, where life waits for minutes. */
export const HASTY: WorkerTiming = {
  ...TIMING,
  authorizationTimeoutMs: 3_000,
  sendWithinMs: 1_500,
  marginMs: 500,
};

export type WorkerCalls = {
  readonly start: (settings: WorkerSettings) => Promise<void>;
  readonly usage: (nothing: null) => Promise<Usage>;
};

export interface MeasuredWorker {
  usage(): Promise<Usage>;
  stop(): Promise<void>;
  /** Ends it as a power failure does. */
  kill(): Promise<void>;
}

export async function startMeasuredWorker(settings: WorkerSettings): Promise<MeasuredWorker> {
  return startProcessWith('worker-process', async (worker: OwnProcess<WorkerCalls>) => {
    await worker.ask('start', settings);
    return { usage: () => worker.ask('usage', null), stop: () => worker.end(), kill: () => worker.kill() };
  });
}
