/**
 * Runs a worker as a separate process: `node dist/worker/main.js`. SIGINT and SIGTERM stop it gracefully.
 *
 * With `--wait-for FILE`, it loads its code, and then waits until the file exists. `ferry up` starts its workers before the
 * servers in this way.
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config';
import { createLog } from '../security/log';
import { startWorker } from './index';

async function main(): Promise<void> {
  const { 'wait-for': file } = parseArgs({ options: { 'wait-for': { type: 'string' } } }).values;
  if (file !== undefined) {
    await Promise.all([import('@temporalio/worker'), import('kysely'), import('pg'), import('undici')]);
    while (!existsSync(file)) await delay(20);
  }
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    undefined,
    ['workerDeployment'],
  );
  const log = createLog({ level: config.logLevel, to: 1 });
  const worker = await startWorker(config, log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.stop());
  process.send?.('ready');
  await worker.ended;
}

main().catch((error: unknown) => {
  // A JSON line, because log collectors read standard output.
  createLog({ to: 1 }).fatal({ err: error }, 'the worker has ended; correct the cause and start it again');
  process.stderr.write(`${error instanceof Error ? error.message : 'the worker failed'}\n`);
  process.exitCode = 1;
});
