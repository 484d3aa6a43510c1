/** The processes of a cluster, and the faults that each of them can have. */
import type { HttpProxy } from './http-proxy';
import type { TcpProxy } from './tcp-proxy';

/** A process that can be killed, suspended and started again. Its addresses and its data survive a kill. */
export interface ClusterProcess {
  readonly name: string;
  /** False before the start, and after the process was killed or has exited. True while the process is suspended. */
  readonly running: boolean;
  /** The process id; null if the process is not running. */
  readonly pid: number | null;
  /**
   * Starts the process and resolves when it is ready. Does nothing if it is running.
   *
   * @throws {ProcessNotStarted}
   */
  start(): Promise<void>;
  /** Sends SIGKILL and waits until the process has ended. Does nothing if it is not running. */
  kill(): Promise<void>;
  /** Sends SIGSTOP. Connections stay open, and new ones are not answered. */
  suspend(): void;
  /** Sends SIGCONT. */
  resume(): void;
}

/** A Postgres server. `kill` is an immediate shutdown, so the next start recovers from the write-ahead log. */
export interface Database extends ClusterProcess {
  /** The address of the database, with the password. It stays the same when the server is started again. */
  readonly url: string;
  /** Takes a backup while the server runs, without disturbing it. Returns the backup's name. */
  copy(): Promise<string>;
  /**
   * Kills the server, replaces all its data with the backup, and starts it.
   *
   * @param copy a name that `copy` has returned
   */
  restore(copy: string): Promise<void>;
}

/** The Company Data Service. */
export interface ServiceProcess extends ClusterProcess {
  /** The service's address without a proxy. */
  readonly url: string;
}

/** A worker, which reaches everything else only through its own proxies. */
export interface WorkerProcess extends ClusterProcess {
  readonly service: HttpProxy;
  readonly ledger: TcpProxy;
  readonly temporal: TcpProxy;
  /** `host:port` of its health checks and metrics; null if it serves none. */
  readonly metricsAddress: string | null;
  /** Milliseconds by which the clock of the worker's JavaScript is ahead after its next start. Default 0. */
  clockSkewMs: number;
  /**
   * Absolute path of the workflow bundle that the worker runs after its next start. Null, the default: the build's own
   * bundle.
   */
  bundle: string | null;
}

/** The four services of Temporal's server. */
export const TEMPORAL_SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** Additional arguments and environment variables of Node. */
export interface NodeOptions {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Cluster {
  /** The configuration for `ferry` and `loadConfig`. Its addresses are direct, not those of proxies. */
  readonly variables: NodeJS.ProcessEnv;
  readonly temporal: Readonly<Record<TemporalService, ClusterProcess>>;
  readonly databases: Readonly<Record<'ledger' | 'service' | 'temporal', Database>>;
  readonly service: ServiceProcess;
  readonly workers: readonly [WorkerProcess, WorkerProcess];
  /** Path of the log of requests from workers to the service: see `RequestLogEntry`. */
  readonly requestLog: string;
  /**
   * Sets the deployment's current version to the build of a workflow bundle. Needs a running worker with this bundle.
   *
   * @param bundle the worker's `bundle`: a path, or null for the build's own bundle
   */
  makeCurrent(bundle: string | null): Promise<void>;
  /** Stops everything. The folder with the data and logs remains. Can be called more than once. */
  stop(): Promise<void>;
}

/** Returns the processes of a cluster. */
export function processesOf({ databases, temporal, service, workers }: Cluster): readonly ClusterProcess[] {
  return [...Object.values(databases), ...Object.values(temporal), service, ...workers];
}

/**
 * Thrown when a process is not ready in time or exits while starting; the message contains the end of its log. Also
 * thrown when a database is started again and its port is in use.
 */
export class ProcessNotStarted extends Error {
  override readonly name = 'ProcessNotStarted';
}
