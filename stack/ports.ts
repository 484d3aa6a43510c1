import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '../config';

const LOOPBACK = '127.0.0.1';
const PORTS_TO_TRY = 200;

/** Thrown when no port in the range is free. */
class NoFreePort extends Error {
  override readonly name = 'NoFreePort';
}

/** A port that no other stack takes until `release` is called. Release it when its server has started or failed. */
interface ReservedPort {
  port: number;
  /** Does nothing if the port was released before, because another stack of this process can have reserved it since. */
  release: () => void;
}

/**
 * Reserves the first free port from `first` upwards, or any free port if `first` is 0.
 *
 * A lock per port keeps a second stack from choosing the same port before the first stack's server listens on it. Other
 * programs ignore the lock, so the caller must still handle a port that is in use.
 *
 * @throws {@link NoFreePort}
 */
export async function reservePort(first: number): Promise<ReservedPort> {
  for (let attempt = 0; attempt < PORTS_TO_TRY; attempt += 1) {
    const candidate = first === 0 ? 0 : first + attempt;
    const port = candidate > 65_535 ? undefined : await listenBriefly(candidate);
    if (port === undefined) continue;
    const lock = path.join(tmpdir(), `tokenferry-port-${port}.lock`);
    if (!take(lock)) continue;
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) removeOwners(lock, [String(process.pid)]);
      isReleased = true;
    };
    return { port, release };
  }
  throw new NoFreePort(
    first === 0
      ? 'No port is free.'
      : `No port from ${first} to ${first + PORTS_TO_TRY - 1} is free. Stop a program that uses one of these ports.`,
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

/**
 * Takes a lock: a folder with one empty file, whose name is the owner's process id. Takes over the lock of a process
 * that was killed before it could release it.
 *
 * The folder is prepared under another name and then renamed, which fails if the lock exists and is not empty. A lock
 * therefore always names its owner. To take over the lock of a dead process, the file of that process is removed. If
 * another process has taken the lock since the owner was read, the folder contains the file of the new owner
 * instead, so a lock in use is never removed.
 *
 * @returns whether the lock was taken
 */
function take(lock: string): boolean {
  const owners = ownersOf(lock);
  if (owners === null || owners.some((owner) => isAlive(Number(owner)))) return false;
  removeOwners(lock, owners);
  const prepared = mkdtempSync(`${lock}-`);
  writeFileSync(path.join(prepared, String(process.pid)), '');
  try {
    renameSync(prepared, lock);
    return true;
  } catch (error) {
    rmSync(prepared, { recursive: true });
    // Another process was faster, or the lock belongs to another user. Windows answers EPERM if the folder exists.
    if (['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/** Returns the names of the files in a lock; null if it cannot be read, because it belongs to another user. */
function ownersOf(lock: string): readonly string[] | null {
  try {
    return readdirSync(lock);
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? [] : null;
  }
}

/** Removes owners from a lock, and then the folder, unless another process has taken the lock. */
function removeOwners(lock: string, owners: readonly string[]): void {
  try {
    for (const owner of owners) rmSync(path.join(lock, owner), { force: true });
    rmdirSync(lock);
  } catch {
    // The folder is gone, another process has taken the lock, or the lock belongs to another user.
  }
}

/** Returns whether a program accepts connections at the port. */
export function acceptsConnections(port: number, host: string = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/** Returns the code of a Node.js system error, such as `EADDRINUSE`; undefined if the error has none. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
