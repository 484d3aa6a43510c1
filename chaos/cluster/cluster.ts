import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { reservePort } from '../../stack/ports';
import { postgresUser } from '../../stack/postgres/binaries';
import { createKeyFor } from '../../stack/service/keys';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { startDatabase } from './database';
import { DEPLOYMENT, makeCurrent } from './deployment';
import { createClusterProcess, startTogether, FIRST_PORTS } from './cluster-process';
import { requestLogAt } from './request-log';
import { acquireTemporalServer } from './temporal/binaries';
import { NAMESPACE, startTemporalServices } from './temporal/services';
import type { Cluster, Database, NodeOptions, ServiceProcess } from './types';
import { createWorker } from './worker';

/** The folder of the compiled product. */
const DIST = path.join(__dirname, '..', '..');
/** A rate limit that is never reached. */
const REQUESTS_PER_MINUTE = 1_000_000_000;
const NO_OPTIONS: NodeOptions = { args: [], env: {} };

export interface ClusterOptions {
  /** Folder of data, keys and logs. Must be new or empty, because a cluster does not continue an earlier one. */
  readonly folder: string;
  readonly log: (line: string) => void;
  /** True if the workers are versioned. The build that they start with is then made current. */
  readonly versioned: boolean;
  /** True if the workers serve health checks and metrics. Default: false. */
  readonly metrics?: boolean;
  /** Node.js options for the service and the workers. Default: none. */
  readonly node?: NodeOptions;
}

/** The servers that a cluster needs, without any process of the product. */
export interface ClusterServers extends Pick<Cluster, 'databases' | 'temporal' | 'stop'> {
  /** Host and port of Temporal's frontend. */
  readonly temporalAddress: string;
  /** The path of the command `temporal`. */
  readonly temporalCommand: string;
}

/** The functions that stop the processes, newest first. */
type Running = (() => Promise<unknown> | void)[];

/**
 * Starts a cluster. A start that fails leaves nothing running.
 *
 * @throws {ProcessNotStarted}, TemporalServerUnavailable, PostgresUnavailable
 */
export function startCluster(options: ClusterOptions): Promise<Cluster> {
  return stoppable((running) => startProcesses(options, running));
}

/**
 * Starts a cluster, does the work in it, and stops it. If this process gets one of the signals meanwhile, stops the
 * cluster and exits.
 */
export async function withCluster<T>(
  options: ClusterOptions,
  signals: readonly NodeJS.Signals[],
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const cluster = await startCluster(options);
  const stop = (): void => void cluster.stop().finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, stop);
  try {
    return await work(cluster);
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await cluster.stop();
  }
}

/**
 * Starts only the database servers and Temporal. A start that fails leaves nothing running.
 *
 * @throws {ProcessNotStarted}, TemporalServerUnavailable, TemporalCliUnavailable, PostgresUnavailable
 */
export function startClusterServers(options: Pick<ClusterOptions, 'folder' | 'log'>): Promise<ClusterServers> {
  return stoppable(async (running) => {
    const { databases, temporal } = await startServers(options, running);
    const temporalCommand = await acquireTemporalCli({ env: process.env, log: options.log });
    return { databases, temporal: temporal.processes, temporalAddress: temporal.address, temporalCommand };
  });
}

async function stoppable<T>(start: (running: Running) => Promise<T>): Promise<T & Pick<Cluster, 'stop'>> {
  const running: Running = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= (async () => {
      for (const stopOne of running) await stopOne();
    })());
  try {
    return { ...(await start(running)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServers({ folder, log }: Pick<ClusterOptions, 'folder' | 'log'>, running: Running) {
  // If this process is root, Postgres runs as another user, who must be able to enter the folder.
  mkdirSync(folder, { recursive: true, mode: postgresUser() ? 0o711 : 0o700 });
  const logs = path.join(folder, 'logs');
  mkdirSync(logs, { mode: 0o700 });
  const binaries = await acquireTemporalServer({ env: process.env, log });

  const database = async (name: string): Promise<Database> => {
    const started = await startDatabase({
      name: `${name}-database`,
      folder: path.join(folder, `${name}-database`),
      log,
    });
    running.unshift(() => started.kill());
    return started;
  };
  // One after another, because each of them looks for the first free port.
  const databases = {
    ledger: await database('ledger'),
    service: await database('service'),
    temporal: await database('temporal'),
  };
  const temporal = await startTemporalServices({
    binaries,
    database: databases.temporal,
    folder: path.join(folder, 'temporal'),
    logs,
  });
  running.unshift(temporal.release);
  for (const each of Object.values(temporal.processes)) running.unshift(() => each.kill());
  return { databases, temporal, logs };
}

async function startProcesses(
  { folder, log, versioned, metrics = false, node = NO_OPTIONS }: ClusterOptions,
  running: Running,
): Promise<Omit<Cluster, 'stop'>> {
  const { databases, temporal, logs } = await startServers({ folder, log }, running);
  for (const name of ['home', 'vault-secrets']) mkdirSync(path.join(folder, name), { mode: 0o700 });

  const service = await createServiceProcess(folder, databases.service.url, node);
  running.unshift(() => service.process.kill().finally(service.release));
  await service.process.start();
  const { key } = await createKeyFor(databases.service.url, { account: 'Chaos', role: 'administrator' });

  const variables: NodeJS.ProcessEnv = {
    TOKENFERRY_HOME: path.join(folder, 'home'),
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: NAMESPACE,
    DATABASE_URL: databases.ledger.url,
    COMPANY_DATA_URL: service.process.url,
    COMPANY_DATA_API_KEY: key,
    TOKENFERRY_MASTER_KEY: randomBytes(32).toString('base64'),
    TOKENFERRY_VAULT_SECRETS: path.join(folder, 'vault-secrets'),
    TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64'),
    ...(versioned && { TOKENFERRY_WORKER_DEPLOYMENT: DEPLOYMENT }),
  };
  const requestLog = path.join(folder, 'requests.jsonl');
  writeFileSync(requestLog, '', { mode: 0o600 });
  const addWorker = async (name: string) => {
    const logFile = path.join(logs, `${name}.log`);
    const port = metrics ? await reservePort(FIRST_PORTS.metrics) : null;
    if (port) running.unshift(port.release);
    const metricsAddress = port && `127.0.0.1:${port.port}`;
    const options = { name, variables, node, logFile, metricsAddress };
    const worker = await createWorker({ ...options, log: requestLogAt(requestLog) });
    running.unshift(worker.close);
    running.unshift(() => worker.process.kill());
    return worker.process;
  };
  const workers = [await addWorker('worker-1'), await addWorker('worker-2')] as const;
  await startTogether(workers);
  const makeBuildCurrent = (bundle: string | null): Promise<void> =>
    makeCurrent(temporal.address, bundle ?? path.join(DIST, 'workflow-bundle.js'));
  if (versioned) await makeBuildCurrent(null);

  return {
    ...{ variables, databases, temporal: temporal.processes, service: service.process, workers, requestLog },
    makeCurrent: makeBuildCurrent,
  };
}

async function createServiceProcess(
  folder: string,
  databaseUrl: string,
  node: NodeOptions,
): Promise<{ readonly process: ServiceProcess; readonly release: () => void }> {
  const { port, release } = await reservePort(FIRST_PORTS.service);
  const url = `http://127.0.0.1:${port}`;
  const settings = ['--port', String(port), '--requests-per-minute', String(REQUESTS_PER_MINUTE), '--faults'];
  const created = createClusterProcess({
    name: 'service',
    program: () => ({
      command: process.execPath,
      args: [...node.args, path.join(DIST, 'cli', 'main.js'), 'service', 'start', ...settings],
      env: {
        ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
        ...{ TOKENFERRY_HOME: path.join(folder, 'service-home'), DATABASE_URL: databaseUrl },
        ...node.env,
      },
      logFile: path.join(folder, 'logs', 'service.log'),
    }),
    isReady: () =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      ),
  });
  return { process: Object.assign(created, { url }), release };
}
