/**
 * Runs the portal as a process of a deployment: `node dist/stack/processes/portal.js`. It needs `PORTAL_DATABASE_URL`,
 * accepts the options of `ferry portal`, and writes JSON lines to standard output. It has neither the master key nor
 * the payload key.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../../config';
import { runProcess, untilAborted, type ProcessContext, numberOption } from '../../observability/process';
import { runPortal } from './run-portal';

const OPTIONS = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '8600' },
  certificate: { type: 'string' },
  key: { type: 'string' },
  'behind-proxy': { type: 'boolean', default: false },
  'trusted-proxy': { type: 'string', multiple: true, default: [] as string[] },
} as const;

async function main({ stopped, openLog }: ProcessContext): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const { host, port, certificate, key, 'behind-proxy': behindProxy, 'trusted-proxy': trustedProxies } = values;
  const config = loadConfig(['portalDatabaseUrl'], undefined, ['portalUrl', 'healthAddress', 'openId', 'openIdSecret']);
  const log = openLog(config.logLevel);
  log.info('the portal is starting');
  if ((certificate === undefined) !== (key === undefined)) throw new Error('use --certificate and --key together');
  const portal = await runPortal(
    {
      ...{ host, port: numberOption('--port', port), behindProxy, trustedProxies, log },
      databaseUrl: config.portalDatabaseUrl.reveal(),
      publicUrl: config.portalUrl,
      openId: config.openId && { ...config.openId, clientSecret: config.openIdSecret },
      tls: certificate !== undefined && key !== undefined ? { certificateFile: certificate, keyFile: key } : undefined,
    },
    config.healthAddress,
    log,
  );
  log.info({ url: portal.url, listensAt: portal.localUrl }, 'the portal is listening');
  process.send?.('ready');
  await untilAborted(stopped);
  await portal.stop();
}

runProcess('portal', main);
