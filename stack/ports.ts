import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorCode } from './error-code';

const LOOPBACK = '127.0.0.1';
const PORTS_TO_TRY = 200;

/** Nothing is free in the range that was looked at. */
class NoFreePort extends Error {
  override readonly name = 'NoFreePort';
}

/** A port that no other stack takes until it is released: its server listens by then, or never will. */
interface ReservedPort {
  port: number;
  release: () => void;
}

/**
 * Reserves the first port from `wanted` upwards that can be listened on; `0` asks the system for any.
 *
 * Between the choice of a port and the moment that its server listens, a second stack could choose the same; its server
 * would fail, and the first one's would answer in its place. Hence a file for each port that is being taken. Programs
 * that are not ours do not know it: whoever starts a server must still be ready for the port to be taken.
 *
 * @throws {@link NoFreePort}
 */
export async function reservePort(wanted: number): Promise<ReservedPort> {
  for (let candidate = wanted; candidate < Math.min(wanted + PORTS_TO_TRY, 65_536); candidate += 1) {
    const port = await listenBriefly(candidate);
    if (port === undefined) continue;
    const file = path.join(tmpdir(), `tokenferry-port-${port}`);
    if (take(file)) return { port, release: () => rmSync(file, { force: true }) };
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

function take(file: string): boolean {
  if (createExclusively(file)) return true;
  if (isHeld(file)) return false;
  rmSync(file, { force: true }); // its process was killed while it started
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

/** A file of another user, or one that has just been made and is still empty, is taken for held: there are more ports. */
function isHeld(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
