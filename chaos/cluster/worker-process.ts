/**
 * Runs a worker with a different workflow bundle: `node worker-process.js BUNDLE`. Unlike `dist/worker/main.js`, it
 * serves no health checks or metrics, and exits if Temporal or Postgres does not answer at the start.
 */
import { loadConfig } from '../../config';
import { createLog } from '../../security/log';
import { startWorker } from '../../worker';
import { suspension } from '../../worker/suspension';

/** @param codePath path of the workflow bundle */
async function main(codePath: string): Promise<void> {
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    undefined,
    ['workerDeployment'],
  );
  const log = createLog({ level: config.logLevel, to: 1 });
  const worker = await startWorker(config, log, { workflowBundle: { codePath } });
  await Promise.race([worker.ended, suspension(log)]);
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the worker failed'}\n`);
  process.exit(1);
});
