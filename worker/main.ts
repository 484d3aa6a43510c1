/** A worker as a process of its own: `node dist/worker/main.js`. Ends in order on SIGINT and SIGTERM. */
import { ConfigurationError, loadConfig } from '../config';
import { createLog } from '../security/log';
import { startWorker } from './start-worker';

async function main(): Promise<void> {
  const config = loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'payloadKeys', 'webhook']);
  const log = createLog({ level: config.logLevel, to: 1 });
  const worker = await startWorker(config, log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.stop());
  await worker.ended;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigurationError || error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 1;
});
