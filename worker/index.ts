/** The worker: it runs the workflows and their activities. */
export { startWorker } from './start-worker';
export type { RunningWorker, WorkerConfig } from './start-worker';
