/** The worker processes of a stack. */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseListenAddress, stackFile, type Config } from '../config';
import { logEndText, startSupervised, type SupervisedProcess } from './process/supervised-process';

const PROGRAM = path.join(__dirname, '..', 'worker', 'main.js');
/** A worker that is stopping waits up to 70 seconds for the answers to its calls: see docs/deploying.md. */
const GRACE_MS = 75_000;

/** The cores for Postgres, Temporal and the service, which need about as much CPU time as two workers. */
const OTHER_CORES = 2;
const MAX_DEFAULT_WORKERS = 4;

/** Returns how many worker processes a stack has by default: one for each core beyond two, at least 1 and at most 4. */
export function defaultWorkers(cores = availableParallelism()): number {
  return Math.min(Math.max(cores - OTHER_CORES, 1), MAX_DEFAULT_WORKERS);
}

export interface WorkersOptions {
  dataFolder: string;
  ephemeral: boolean;
  /** The number of processes. */
  workers: number;
  env: NodeJS.ProcessEnv;
  logLevel: Config['logLevel'];
}

export interface Workers {
  readonly processes: readonly SupervisedProcess[];
  /** @throws {@link WorkerUnavailable} */
  waitUntilReady(): Promise<void>;
  stop(): Promise<void>;
}

/** Thrown when a worker process ends before it takes tasks; the message contains the last lines of its log. */
class WorkerUnavailable extends Error {
  override readonly name = 'WorkerUnavailable';
}

/**
 * Starts the worker processes. They load their code while the servers start, and wait for the file of the running
 * stack, from which they take their configuration.
 */
export function startWorkers({ dataFolder, ephemeral, workers, env, logLevel }: WorkersOptions): Workers {
  const logs = path.join(dataFolder, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const processes = Array.from({ length: workers }, (_, index) =>
    startSupervised({
      command: process.execPath,
      args: [PROGRAM, '--wait-for', stackFile(dataFolder)],
      env: { ...workerEnvironment(env, dataFolder, logLevel), ...healthAddress(env, index) },
      logFile: path.join(logs, `worker-${index + 1}.log`),
      stopSignal: ephemeral ? 'SIGKILL' : 'SIGTERM',
      graceMs: GRACE_MS,
      sendsReady: true,
      ...(ephemeral && { removeFolder: dataFolder }),
    }),
  );
  return {
    processes,
    waitUntilReady: async () => {
      await Promise.all(processes.map(assertReady));
    },
    stop: async () => {
      await Promise.all(processes.map((worker) => worker.stop()));
    },
  };
}

async function assertReady({ ready, logFile }: SupervisedProcess): Promise<void> {
  if (await ready) return;
  throw new WorkerUnavailable(`A worker did not start. ${logEndText(logFile)}`);
}

/**
 * Omits the variables that would replace the configuration of the stack. Keeps those that configure the webhook, the
 * metrics and the identity provider, but not the portal's secret there. `MALLOC_ARENA_MAX` saves memory on Linux,
 * because all threads then share two memory pools of the C library.
 */
function workerEnvironment(env: NodeJS.ProcessEnv, home: string, logLevel: Config['logLevel']): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !/^(TEMPORAL_|COMPANY_DATA_|DATABASE_URL|TOKENFERRY_(?!WEBHOOK_|METRICS_|OPENID_ISSUER|OPENID_CLIENT_ID))/.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(kept),
    TOKENFERRY_HOME: home,
    TOKENFERRY_LOG_LEVEL: logLevel,
    MALLOC_ARENA_MAX: '2',
  };
}

/**
 * Gives each worker its own port: the first worker gets the port of `TOKENFERRY_HEALTH_ADDRESS`, the second worker the
 * next port, and so on. If the port is 0, each worker takes any free port.
 */
function healthAddress({ TOKENFERRY_HEALTH_ADDRESS: first = '' }: NodeJS.ProcessEnv, index: number): NodeJS.ProcessEnv {
  const address = parseListenAddress(first);
  if (!address) return {};
  const { host, port } = address;
  return { TOKENFERRY_HEALTH_ADDRESS: `${host.includes(':') ? `[${host}]` : host}:${port === 0 ? 0 : port + index}` };
}
