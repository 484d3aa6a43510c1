import path from 'node:path';
import { pino } from 'pino';
import { startWorker } from '../worker';
import { startStack, type Stack, type StackOptions } from './stack';

/** The stack with its worker, as `ferry up` and the demo run it: the worker's log lies beside the data. */
export async function startWholeStack(options: Omit<StackOptions, 'startWorker'>): Promise<Stack> {
  const dest = workerLog(options.dataFolder);
  return startStack({
    ...options,
    startWorker: (config) =>
      startWorker(config, pino({ level: config.logLevel }, pino.destination({ dest, mkdir: true }))),
  });
}

/** Where the worker of a stack writes its log. */
export function workerLog(dataFolder: string): string {
  return path.join(dataFolder, 'logs', 'worker.log');
}
