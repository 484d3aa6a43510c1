import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { failedExecution } from '../process/failed-execution';
import { canEnter, PostgresUnavailable, type PostgresUser } from './binaries';

/** Contains Postgres's files if Postgres runs as a user who cannot enter the data folder. */
const ROOT_DATA_FOLDER = '/var/lib/tokenferry';

/**
 * Returns the environment of Postgres. Of this process's variables it keeps only PATH, because PGDATA and others would
 * affect Postgres.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Returns the folder of Postgres's files: inside the data folder, unless Postgres runs as a user who cannot enter the
 * data folder. Creates the folder. If Postgres runs as another user, makes that user the owner.
 *
 * @throws {@link PostgresUnavailable} if that user cannot enter the data folder of an ephemeral stack
 */
export function clusterFolder(options: {
  dataFolder: string;
  user: PostgresUser | undefined;
  ephemeral: boolean;
  log: (line: string) => void;
}): string {
  const { dataFolder, user, ephemeral, log } = options;
  const inside = path.join(dataFolder, 'postgres');
  if (user === undefined) {
    mkdirSync(inside, { recursive: true, mode: 0o700 });
    return inside;
  }
  if (!canEnter(user, dataFolder) && ephemeral) {
    throw new PostgresUnavailable(
      `Postgres would run as user ${user.name}, who cannot enter ${tmpdir()}. Set TMPDIR to a temporary folder that this user can enter, for example TMPDIR=/tmp.`,
    );
  }
  const folder = canEnter(user, dataFolder) ? inside : path.join(ROOT_DATA_FOLDER, `postgres-${shortHash(dataFolder)}`);
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o755 }) !== undefined;
  if (isNew && folder !== inside) {
    log(`The database is in ${folder}, because Postgres runs as user ${user.name}, who cannot enter ${dataFolder}.`);
  }
  chownSync(folder, user.uid, user.gid);
  return folder;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/**
 * Creates an empty cluster with Postgres's built-in locale, so that sorting and case folding do not depend on the
 * system.
 *
 * @throws {@link PostgresUnavailable}
 */
export async function createCluster(options: {
  binaries: string;
  cluster: string;
  superuser: string;
  password: string;
  user: PostgresUser | undefined;
  ephemeral: boolean;
}): Promise<void> {
  const { binaries, cluster, superuser, password, user, ephemeral } = options;
  const secrets = mkdtempSync(path.join(path.dirname(cluster), '.initdb-'));
  const passwordFile = path.join(secrets, 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const owned of [secrets, passwordFile]) chownSync(owned, user.uid, user.gid);
  const args = [
    `--pgdata=${cluster}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(ephemeral ? ['--no-sync'] : []),
  ];
  try {
    await promisify(execFile)(path.join(binaries, 'bin', 'initdb'), args, {
      cwd: '/',
      env: serverEnvironment(),
      ...user,
    });
  } catch (error) {
    throw new PostgresUnavailable(
      `Postgres could not initialize its data folder ${cluster}: initdb ${failedExecution(error)}`,
      { cause: error },
    );
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
}
