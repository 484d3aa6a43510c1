import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const LOOPBACK = '127.0.0.1';
const PORTS_TO_TRY = 200;

/** Thrown when no port in the range is free. */
class NoFreePort extends Error {
  override readonly name = 'NoFreePort';
}

/** A port that no other stack takes until `release` is called. Release it when its server has started or failed. */
interface ReservedPort {
  port: number;
  release: () => void;
}

/**
 * Reserves the first free port from `first` upwards, or any free port if `first` is 0.
 *
 * A lock file per port keeps a second stack from choosing the same port before the first stack's server listens on it.
 * Other programs ignore the lock file, so the caller must still handle a port that is in use.
 *
 * @throws {@link NoFreePort}
 */
export async function reservePort(first: number): Promise<ReservedPort> {
  for (let attempt = 0; attempt < PORTS_TO_TRY; attempt += 1) {
    const candidate = first === 0 ? 0 : first + attempt;
    const port = candidate > 65_535 ? undefined : await listenBriefly(candidate);
    if (port === undefined) continue;
    const file = path.join(tmpdir(), `tokenferry-port-${port}`);
    if (lock(file)) return { port, release: () => rmSync(file, { force: true }) };
  }
  throw new NoFreePort(
    first === 0 ? 'No port is free.' : `No port from ${first} to ${first + PORTS_TO_TRY - 1} is free.`,
  );
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

function lock(file: string): boolean {
  if (createExclusively(file)) return true;
  if (isLocked(file)) return false;
  rmSync(file, { force: true }); // its process was killed before it could release the port
  return createExclusively(file);
}

function createExclusively(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Treats a lock file that is unreadable or still empty as locked, because other ports are available. */
function isLocked(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Returns the code of a Node.js system error, such as `EADDRINUSE`; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
