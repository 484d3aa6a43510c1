import path from 'node:path';
import type { KeyRing } from '../security';
import { startCodecServer } from '../security/codec-server';
import { createLog } from '../security/log';
import { reservePort } from './ports';

const DEFAULT_PORT = 8_234;
const HOST = '127.0.0.1';

/** The codec server of a stack. It requires no token, because it serves only this machine and the stack's Web UIs. */
export interface StackCodec {
  readonly url: string;
  /**
   * Starts the codec server. Only pages of the Web UIs at `uiUrls` may call it, whether they were opened with the host
   * `127.0.0.1` or `localhost`.
   */
  start(options: {
    readonly payloadKeys: KeyRing;
    readonly uiUrls: readonly string[];
    readonly dataFolder: string;
  }): Promise<{ stop(): Promise<void> }>;
  /** Releases the port if the codec server was not started. */
  stop(): Promise<void>;
}

/** Reserves the codec server's port, because the Web UI and the codec server each need the other's address to start. */
export async function reserveStackCodec(port = DEFAULT_PORT): Promise<StackCodec> {
  const reserved = await reservePort(port);
  return {
    url: `http://${HOST}:${reserved.port}`,
    start: async ({ payloadKeys, uiUrls, dataFolder }) => {
      const server = await startCodecServer({
        payloadKeys,
        origins: uiUrls.flatMap((url) => [url, url.replace(HOST, 'localhost')]),
        verifyToken: null,
        host: HOST,
        port: reserved.port,
        log: createLog({ to: path.join(dataFolder, 'logs', 'codec-server.log') }),
      }).finally(reserved.release);
      return { stop: () => server.close() };
    },
    stop: async () => reserved.release(),
  };
}
