import path from 'node:path';
import { createLog } from '../security/log';
import { startWorker } from '../worker';
import { startStack, type Stack, type StackOptions } from './stack';

/** The stack with its worker, as `ferry up` and the demo run it: the worker's log lies beside the data. */
export async function startWholeStack(options: Omit<StackOptions, 'startWorker'>): Promise<Stack> {
  const to = workerLog(options.dataFolder);
  return startStack({
    ...options,
    startWorker: (config) => startWorker(config, createLog({ level: config.logLevel, to })),
  });
}

/** Where the worker of a stack writes its log. */
export function workerLog(dataFolder: string): string {
  return path.join(dataFolder, 'logs', 'worker.log');
}
