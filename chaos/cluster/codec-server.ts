import path from 'node:path';
import { reservePort } from '../../stack/ports';
import { accepts, createClusterProcess } from './cluster-process';
import type { Cluster, ClusterProcess } from './types';

/**
 * Below the range from which the operating system takes the ports of outgoing connections, so that no connection takes
 * the port of a killed process.
 */
const FIRST_PORT = 20_700;
/** The only origin whose pages may call the codec server. This origin has no pages, so no page can call the server. */
const NO_PAGE = 'http://127.0.0.1:9';

export interface CodecServerProcess extends ClusterProcess {
  readonly url: string;
  /** Kills the process and releases its port. */
  close(): Promise<void>;
}

/**
 * Starts a codec server with the payload key of the cluster.
 *
 * @param logs the folder of its log
 */
export async function startClusterCodecServer(
  { variables }: Pick<Cluster, 'variables'>,
  logs: string,
): Promise<CodecServerProcess> {
  const { port, release } = await reservePort(FIRST_PORT);
  const command = path.join(__dirname, '..', '..', 'cli', 'main.js');
  const created = createClusterProcess({
    name: 'codec-server',
    program: () => ({
      command: process.execPath,
      args: [command, 'codec-server', '--port', String(port), '--origin', NO_PAGE],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables },
      logFile: path.join(logs, 'codec-server.log'),
    }),
    isReady: () => accepts(port),
  });
  const codec = Object.assign(created, {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await created.kill();
      release();
    },
  });
  try {
    await codec.start();
    return codec;
  } catch (error) {
    release();
    throw error;
  }
}
