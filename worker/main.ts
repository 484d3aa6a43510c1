/** Runs a worker as a separate process: `node dist/worker/main.js`. SIGINT and SIGTERM stop it gracefully. */
import { loadConfig } from '../config';
import { createLog } from '../security/log';
import { startWorker } from './index';

async function main(): Promise<void> {
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    undefined,
    ['workerDeployment'],
  );
  const log = createLog({ level: config.logLevel, to: 1 });
  const worker = await startWorker(config, log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.stop());
  await worker.ended;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the worker failed'}\n`);
  // Also a JSON line, because log collectors read standard output.
  createLog({ to: 1 }).fatal({ err: error }, 'the worker has ended; correct the cause and start it again');
  process.exitCode = 1;
});
