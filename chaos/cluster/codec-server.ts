import path from 'node:path';
import { acceptsConnections } from '../../stack/ports';
import { startAtPort, FIRST_PORTS, type ProcessAtPort } from './cluster-process';
import type { Cluster } from './types';

/** The only origin whose pages may call the codec server. This origin has no pages, so no page can call the server. */
const NO_PAGE = 'http://127.0.0.1:9';

/**
 * Starts a codec server with the payload key of the cluster.
 *
 * @param logs the folder of its log
 */
export function startClusterCodecServer(
  { variables }: Pick<Cluster, 'variables'>,
  logs: string,
): Promise<ProcessAtPort> {
  const command = path.join(__dirname, '..', '..', 'cli', 'main.js');
  return startAtPort(FIRST_PORTS.codecServer, (port) => ({
    name: 'codec-server',
    program: () => ({
      command: process.execPath,
      args: [command, 'codec-server', '--port', String(port), '--origin', NO_PAGE],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables },
      logFile: path.join(logs, 'codec-server.log'),
    }),
    isReady: () => acceptsConnections(port),
  }));
}
