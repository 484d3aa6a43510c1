/** Runs a worker like `dist/worker/main.js`, but with a different workflow bundle: `node worker-process.js BUNDLE`. */
import { loadConfig } from '../../config';
import { createLog } from '../../security/log';
import { startWorker } from '../../worker';

/** @param codePath path of the workflow bundle */
async function main(codePath: string): Promise<void> {
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    undefined,
    ['workerDeployment'],
  );
  const log = createLog({ level: config.logLevel, to: 1 });
  const worker = await startWorker(config, log, { workflowBundle: { codePath } });
  await worker.ended;
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the worker failed'}\n`);
  process.exitCode = 1;
});
