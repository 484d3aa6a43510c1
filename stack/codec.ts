import path from 'node:path';
import type { KeyRing } from '../security';
import { startCodecServer } from '../security/codec-server';
import { createLog } from '../security/log';
import { reservePort } from './ports';

const DEFAULT_PORT = 8_234;
const HOST = '127.0.0.1';

/** The codec server of a stack: for its own Web UI and whoever sits at this machine, so nobody is asked for a token. */
export interface StackCodec {
  readonly url: string;
  /** Starts it, for pages of this Web UI alone. */
  start(options: {
    readonly payloadKeys: KeyRing;
    readonly uiUrl: string;
    readonly dataFolder: string;
  }): Promise<{ stop(): Promise<void> }>;
}

/** Its address is needed before it can start: the Web UI is told it, and it is told the Web UI's. */
export async function reserveStackCodec(port = DEFAULT_PORT): Promise<StackCodec> {
  const reserved = await reservePort(port);
  return {
    url: `http://${HOST}:${reserved.port}`,
    start: async ({ payloadKeys, uiUrl, dataFolder }) => {
      const server = await startCodecServer({
        payloadKeys,
        origins: [uiUrl, uiUrl.replace(HOST, 'localhost')],
        verifyToken: null,
        host: HOST,
        port: reserved.port,
        log: createLog({ to: path.join(dataFolder, 'logs', 'codec-server.log') }),
      }).finally(reserved.release);
      return { stop: () => server.close() };
    },
  };
}
