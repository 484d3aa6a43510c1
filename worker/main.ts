/**
 * Runs a worker as a separate process: `node dist/worker/main.js`. SIGINT and SIGTERM stop it gracefully. It waits for
 * Temporal and Postgres if they do not answer, and serves its health and its metrics on `TOKENFERRY_HEALTH_ADDRESS`.
 *
 * With `--wait-for FILE`, it loads its code, and then waits until the file exists. In this way, `ferry up` starts its
 * workers before the servers.
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config';
import { runProcess, type ProcessContext } from '../observability/process';
import { startTracing, traceFailure } from '../observability/tracing';
import { startWhenPossible } from '../observability/waiting';
import { DatabaseUnavailable } from '../store';
import { TemporalUnreachable } from './connection';
import { startWorker } from './index';
import { startMonitoring } from './monitoring';
import { suspension } from './suspension';

/** gRPC status codes of a server that is down or overloaded: deadline exceeded, resource exhausted, unavailable. */
const OUTAGE_STATUS: ReadonlySet<unknown> = new Set([4, 8, 14]);

/** A wrong certificate or API key looks to the SDK like a broken connection, but waiting does not correct it. */
const WRONG_CONFIGURATION = /certificate|unauthenticated|permission ?denied|UnknownIssuer|InvalidDnsName/i;

/** Returns why a worker that could not start should wait for Temporal or Postgres; null if waiting cannot help. */
function reasonToWait(error: unknown): string | null {
  if (error instanceof DatabaseUnavailable) return error.isOutage ? error.message : null;
  if (error instanceof TemporalUnreachable) {
    return WRONG_CONFIGURATION.test(String(error.cause)) ? null : error.message;
  }
  const isOutage = error instanceof Error && 'code' in error && OUTAGE_STATUS.has(error.code);
  return isOutage ? `Temporal does not answer or is overloaded: ${error.message}` : null;
}

async function main({ stopped, openLog }: ProcessContext): Promise<void> {
  const { 'wait-for': file } = parseArgs({ options: { 'wait-for': { type: 'string' } } }).values;
  if (file !== undefined) {
    await Promise.all([import('@temporalio/worker'), import('kysely'), import('pg'), import('undici')]);
    while (!existsSync(file) && !stopped.aborted) await delay(20);
    if (stopped.aborted) return;
  }
  const config = loadConfig(
    ['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook'],
    undefined,
    ['workerDeployment', 'workerBuildId', 'healthAddress', 'metricsMigrations', 'tracing', 'openId'],
  );
  const log = openLog(config.logLevel);
  if (config.tracing) startTracing({ name: 'tokenferry-worker', loadNow: true, onFailure: traceFailure(log) });
  log.info({ temporal: config.temporal.address, namespace: config.temporal.namespace }, 'the worker is starting');
  const monitoring = config.healthAddress && (await startMonitoring(config, config.healthAddress, log));
  try {
    const worker = await startWhenPossible(
      () => startWorker(config, log, undefined, undefined, monitoring?.observation),
      { reasonToWait, stopped, log, onWait: (why) => monitoring?.waiting(why) },
    );
    if (!worker) return;
    monitoring?.running(worker);
    const stop = (): void => {
      monitoring?.stopping();
      void worker.stop();
    };
    if (stopped.aborted) stop();
    stopped.addEventListener('abort', stop);
    process.send?.('ready');
    await Promise.race([worker.ended, suspension(log)]);
  } finally {
    await monitoring?.close();
  }
}

runProcess('worker', main);
