/** Runs a worker as `node dist/worker/main.js` does, and reports its usage to the parent process. */
import path from 'node:path';
import { loadConfig } from '../../config';
import { createLog } from '../../security/log';
import { startWorker } from '../../worker';
import type { WorkerCalls } from './worker';
import { serveParent } from './child-process';
import { collectGarbage } from './heaps';
import { usage } from './usage';

let stop = async (): Promise<void> => undefined;

const served: WorkerCalls = {
  start: async ({ variables, timing }) => {
    const config = loadConfig(
      ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
      variables,
    );
    const to = path.join(config.home, `worker-${process.pid}.log`);
    const log = createLog({ level: config.logLevel, to });
    const worker = await startWorker(config, log, undefined, timing);
    stop = () => worker.stop();
  },
  usage: async () => usage(),
  collectGarbage,
};

serveParent(served, () => stop());
