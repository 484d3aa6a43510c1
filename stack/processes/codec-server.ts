/**
 * Runs the codec server as a process of a deployment: `node dist/stack/processes/codec-server.js`. It needs the payload
 * key and `--origin`, accepts the other options of `ferry codec-server` and `--trust-network`, and writes JSON lines to
 * standard output.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../../config';
import { HealthMonitor } from '../../observability/health-monitor';
import { startHealthServer } from '../../observability/health-server';
import { runProcess, untilAborted, type ProcessContext, numberOption } from '../../observability/process';
import { createTokenVerifier, startCodecServer } from '../../security/codec-server';
import { ProcessHealth } from './process-health';

const OPTIONS = {
  origin: { type: 'string', multiple: true },
  issuer: { type: 'string' },
  audience: { type: 'string' },
  'key-set': { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '8234' },
  /**
   * Lets the server listen on any address without token checks. Use it only in a network that untrusted callers cannot
   * reach. Calls must name this machine in their `Host` header, so publish the port on a loopback address.
   */
  'trust-network': { type: 'boolean', default: false },
} as const;

async function main({ stopped, openLog }: ProcessContext): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const { issuer, audience, 'key-set': keySet, origin = [], host, port, 'trust-network': trustNetwork } = values;
  const config = loadConfig(['payloadKeys'], undefined, ['healthAddress']);
  const log = openLog(config.logLevel);
  log.info('the codec server is starting');
  if (origin.length === 0) throw new Error("--origin is missing; specify the address of Temporal's UI");
  const given = [issuer, audience, keySet].filter((option) => option !== undefined);
  if (given.length !== 0 && given.length !== 3)
    throw new Error('--issuer, --audience and --key-set must be used together');
  const verifyToken =
    issuer !== undefined && audience !== undefined && keySet !== undefined
      ? await createTokenVerifier({ issuer, audience, keySet })
      : null;
  const health = new ProcessHealth('codec server', new HealthMonitor(log));
  const healthServer = config.healthAddress && (await startHealthServer({ ...config.healthAddress, health }));
  if (healthServer) log.info({ url: healthServer.url }, 'health checks are served');
  const { payloadKeys } = config;
  const server = await startCodecServer({
    ...{ payloadKeys, origins: origin, verifyToken, trustNetwork, host, log },
    port: numberOption('--port', port),
  });
  log.info({ url: server.url }, 'the codec server is listening');
  health.running('answers', async () => {
    const { status } = await fetch(`${server.url}/decode`, { method: 'OPTIONS' });
    return status < 500 ? null : `the codec server answers with status ${status}`;
  });
  await untilAborted(stopped);
  health.stopping();
  await server.close();
  await healthServer?.close();
}

runProcess('codec server', main);
