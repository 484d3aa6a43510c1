/**
 * Runs the Company Data Service as a process of a deployment: `node dist/stack/processes/service.js`. It needs
 * `DATABASE_URL` and the service key, waits for its database, and writes JSON lines to standard output. `ferry service
 * start` runs the same service for developers.
 */
import { parseArgs } from 'node:util';
import { failureText, isDatabaseOutage, startService } from '../../company-data-service';
import { loadConfig } from '../../config';
import { HealthMonitor } from '../../observability/health-monitor';
import { startHealthServer } from '../../observability/health-server';
import { continueTrace } from '../../observability/request-traces';
import { runProcess, untilAborted, type ProcessContext, numberOption } from '../../observability/process';
import { startTracing, traceFailure } from '../../observability/tracing';
import { startWhenPossible } from '../../observability/waiting';
import { createSecretCipher } from '../service/secret-cipher';
import { ProcessHealth } from './process-health';

const OPTIONS = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '8700' },
  'public-url': { type: 'string' },
  'requests-per-minute': { type: 'string', default: '1000' },
} as const;

async function main({ stopped, openLog }: ProcessContext): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const config = loadConfig(['databaseUrl', 'serviceKeys'], undefined, ['healthAddress', 'tracing']);
  const log = openLog(config.logLevel);
  if (config.tracing) startTracing({ name: 'tokenferry-service', loadNow: true, onFailure: traceFailure(log) });
  log.info('the service is starting');
  const health = new ProcessHealth('service', new HealthMonitor(log));
  const healthServer = config.healthAddress && (await startHealthServer({ ...config.healthAddress, health }));
  if (healthServer) log.info({ url: healthServer.url }, 'health checks are served');
  const publicUrl = values['public-url'];
  const start = () =>
    startService({
      databaseUrl: config.databaseUrl.reveal(),
      cipher: createSecretCipher(config.serviceKeys),
      host: values.host,
      port: numberOption('--port', values.port),
      requestsPerMinute: numberOption('--requests-per-minute', values['requests-per-minute']),
      ...(publicUrl !== undefined && { publicUrl }),
      continueTrace,
      logger: log,
    });
  const reasonToWait = (error: unknown): string | null => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return isDatabaseOutage(cause) ? `the database cannot be used: ${failureText(cause)}` : null;
  };
  const onWait = (why: string): void => health.waiting(why);
  const service = await startWhenPossible(start, { reasonToWait, stopped, log, onWait });
  if (service) {
    health.running('database', async () => {
      const { status } = await fetch(`${service.url}/healthz`);
      return status === 200 ? null : `/healthz answers ${status}`;
    });
    await untilAborted(stopped);
    health.stopping();
    await service.close();
  }
  await healthServer?.close();
}

runProcess('service', main);
