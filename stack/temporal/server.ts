import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { logEndText, startSupervised, tailOf, type SupervisedProcess } from '../process/supervised-process';
import { reservePort } from '../ports';

const DEFAULT_PORT = 7_233;
const DEFAULT_UI_PORT = 8_233;
const STARTS_TO_TRY = 5;
const READY_WITHIN_MS = 60_000;

/**
 * How often per second the server may read its internal task queues. The defaults protect the shared database of a
 * large cluster. On one machine they only delay every task by about 50 ms.
 */
export const DYNAMIC_CONFIG = {
  'history.transferProcessorMaxPollRPS': 10_000,
  'history.timerProcessorMaxPollRPS': 10_000,
  'history.visibilityProcessorMaxPollRPS': 10_000,
};

export interface TemporalOptions {
  /** The `temporal` command: see {@link acquireTemporalCli}. */
  cli: string;
  /** Folder of the server's data and log; created if it does not exist. */
  dataFolder: string;
  /** The first port to try; 0 for any free port. Default: 7233. */
  port?: number | undefined;
  /** The first port to try for the Web UI; 0 for any free port. Default: 8233. */
  uiPort?: number | undefined;
  /**
   * True if losing the data is acceptable. If so, writes do not wait for the disk, and `dataFolder` is removed when the
   * last program that uses it has stopped.
   */
  ephemeral: boolean;
  /** Namespaces in addition to `default`, with the same search attributes. */
  namespaces?: readonly string[];
  /** The codec server that decodes payloads for the Web UI. Default: none. */
  codecUrl?: string | undefined;
  /** Additional settings of the server. */
  dynamicConfig?: Readonly<Record<string, number>>;
}

export interface RunningTemporal {
  /** Host and port of the server's gRPC API. */
  address: string;
  uiUrl: string;
  /** The server's process. */
  process: SupervisedProcess;
  stop(): Promise<void>;
}

/** Thrown when Temporal's dev server does not start; the message contains the last lines of its log. */
class TemporalUnavailable extends Error {
  override readonly name = 'TemporalUnavailable';
}

/**
 * Starts Temporal's dev server with its Web UI. Its data is a file in the data folder.
 *
 * @throws {@link TemporalUnavailable}
 */
export async function startTemporal({
  cli,
  dataFolder,
  port,
  uiPort,
  ephemeral,
  namespaces = [],
  dynamicConfig = {},
  codecUrl,
}: TemporalOptions): Promise<RunningTemporal> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const logFile = path.join(dataFolder, 'temporal.log');
  for (let attempt = 1; ; attempt += 1) {
    const grpc = await reservePort(port ?? DEFAULT_PORT);
    const ui = await reservePort(uiPort ?? DEFAULT_UI_PORT);
    const server = startSupervised({
      command: cli,
      args: serverArguments({
        dataFolder,
        port: grpc.port,
        uiPort: ui.port,
        ephemeral,
        namespaces,
        dynamicConfig,
        codecUrl,
      }),
      // Omits the developer's TEMPORAL_* variables, because they are meant for another server.
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      logFile,
      stopSignal: ephemeral ? 'SIGKILL' : 'SIGINT', // an orderly shutdown takes almost three seconds
      graceMs: 15_000,
      ...(ephemeral && { removeFolder: dataFolder }),
    });
    const address = `127.0.0.1:${grpc.port}`;
    const ready = await waitUntilReady(server, address);
    grpc.release();
    ui.release();
    if (ready) {
      const uiUrl = `http://127.0.0.1:${ui.port}`;
      return { address, uiUrl, process: server, stop: () => server.stop() };
    }

    const logTail = tailOf(logFile);
    const within = server.hasExited() ? '' : ` within ${READY_WITHIN_MS / 1_000} seconds`;
    await server.stop();
    if (attempt === STARTS_TO_TRY || !logTail.includes('address already in use')) {
      throw new TemporalUnavailable(`Temporal's dev server did not start${within}. ${logEndText(logFile, logTail)}`);
    }
  }
}

interface ServerArguments extends Required<
  Pick<TemporalOptions, 'dataFolder' | 'ephemeral' | 'namespaces' | 'dynamicConfig'>
> {
  readonly port: number;
  readonly uiPort: number;
  readonly codecUrl: string | undefined;
}

function serverArguments(options: ServerArguments): string[] {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${type === 'INT' ? 'Int' : 'Keyword'}`,
  ]);
  const settings = Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig }).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${value}`,
  ]);
  return [
    ...['server', 'start-dev', '--disable-config-file', '--disable-config-env'],
    ...['--ip', '127.0.0.1', '--port', String(options.port), '--ui-port', String(options.uiPort)],
    ...['--db-filename', path.join(options.dataFolder, 'temporal.db')],
    ...['--log-level', 'error', '--color', 'never'],
    ...(options.codecUrl === undefined ? [] : ['--ui-codec-endpoint', options.codecUrl]),
    ...(options.ephemeral ? ['--sqlite-pragma', 'synchronous=OFF'] : []),
    ...options.namespaces.flatMap((namespace) => ['--namespace', namespace]),
    ...attributes,
    ...settings,
  ];
}

/**
 * Waits until the search attributes exist, because the server creates them last. Returns false if the server exits or
 * is not ready in time.
 */
async function waitUntilReady(server: SupervisedProcess, address: string): Promise<boolean> {
  const deadline = Date.now() + READY_WITHIN_MS;
  const connection = Connection.lazy({ address });
  try {
    while (!server.hasExited() && Date.now() < deadline) {
      if (await knowsSearchAttributes(connection)) return true;
      await delay(50);
    }
    return false;
  } finally {
    await connection.close();
  }
}

async function knowsSearchAttributes(connection: Connection): Promise<boolean> {
  try {
    const known = await connection.withDeadline(Date.now() + 2_000, () =>
      connection.operatorService.listSearchAttributes({ namespace: 'default' }),
    );
    return Object.keys(SEARCH_ATTRIBUTES).every((name) => name in (known.customAttributes ?? {}));
  } catch {
    return false; // the server is not ready yet
  }
}
