/** A worker in a process of its own, that says what it uses. */
import { startProcess } from './own-process';
import type { Usage } from './usage';

export type WorkerCalls = {
  /** By the variables that it would find in its environment. */
  readonly start: (variables: Readonly<Record<string, string>>) => Promise<void>;
  readonly usage: (nothing: null) => Promise<Usage>;
};

export interface MeasuredWorker {
  usage(): Promise<Usage>;
  stop(): Promise<void>;
  /** Ends it as a power failure does. */
  kill(): Promise<void>;
}

export async function startMeasuredWorker(variables: Readonly<Record<string, string>>): Promise<MeasuredWorker> {
  const worker = startProcess<WorkerCalls>('worker-process');
  try {
    await worker.ask('start', variables);
  } catch (error) {
    await worker.end();
    throw error;
  }
  return { usage: () => worker.ask('usage', null), stop: () => worker.end(), kill: () => worker.kill() };
}
