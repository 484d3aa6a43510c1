import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';
const PORTS_TO_TRY = 200;

/** Nothing is free in the range that was looked at. */
export class NoFreePort extends Error {
  override readonly name = 'NoFreePort';
}

/**
 * The first port from `wanted` upwards that can be listened on; `0` asks the system for any.
 * Somebody may take it in the next instant: whoever starts a server on it must be ready to ask again.
 *
 * @throws {@link NoFreePort}
 */
export async function nextFreePort(wanted: number): Promise<number> {
  for (let port = wanted; port < Math.min(wanted + PORTS_TO_TRY, 65_536); port += 1) {
    const free = await listenBriefly(port);
    if (free !== undefined) return free;
  }
  throw new NoFreePort(`No free port from ${wanted} to ${wanted + PORTS_TO_TRY - 1}.`);
}

function listenBriefly(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
