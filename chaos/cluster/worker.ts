import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { startHttpProxy } from './http-proxy';
import { createClusterProcess } from './cluster-process';
import type { RequestLogEntry } from './request-log';
import { startTcpProxy } from './tcp-proxy';
import type { NodeOptions, WorkerProcess } from './types';

export interface ClusterWorkerOptions {
  readonly name: string;
  /** The configuration, with direct addresses. */
  readonly variables: NodeJS.ProcessEnv;
  readonly node: NodeOptions;
  readonly logFile: string;
  /** `host:port` for health checks and metrics; null for none. */
  readonly metricsAddress: string | null;
  readonly log: (entry: RequestLogEntry) => void;
}

/** A worker and the proxies in front of everything that it uses. */
export interface ClusterWorker {
  readonly process: WorkerProcess;
  /** Closes the proxies. The worker must have been killed before. */
  readonly close: () => Promise<void>;
}

/** Creates a worker, which is not running yet, and starts its proxies. */
export async function createWorker(options: ClusterWorkerOptions): Promise<ClusterWorker> {
  const { name, variables, node, logFile, metricsAddress, log } = options;
  const ledgerUrl = new URL(variables['DATABASE_URL'] ?? '');
  const temporalPort = Number(variables['TEMPORAL_ADDRESS']?.split(':')[1]);
  const ledger = await startTcpProxy(() => Number(ledgerUrl.port));
  const temporal = await startTcpProxy(() => temporalPort);
  const service = await startHttpProxy({ worker: name, target: variables['COMPANY_DATA_URL'] ?? '', log });
  const throughLedgerProxy = new URL(ledgerUrl);
  throughLedgerProxy.port = String(ledger.port);

  let logStart = 0;
  const created = createClusterProcess({
    name,
    program: () => {
      logStart = existsSync(logFile) ? statSync(logFile).size : 0;
      return {
        command: process.execPath,
        args: [...node.args, ...preload(worker.clockSkewMs), ...workerProgram(worker.bundle)],
        env: {
          ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
          ...variables,
          DATABASE_URL: throughLedgerProxy.href,
          TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
          COMPANY_DATA_URL: service.url,
          ...(metricsAddress !== null && { TOKENFERRY_HEALTH_ADDRESS: metricsAddress }),
          TOKENFERRY_CLOCK_SKEW_MS: String(worker.clockSkewMs),
          ...node.env,
        },
        logFile,
      };
    },
    isReady: async () => takesTasks(logFile, logStart),
  });
  const proxies = { service, ledger, temporal };
  const worker: WorkerProcess = Object.assign(created, { ...proxies, metricsAddress, clockSkewMs: 0, bundle: null });
  return {
    process: worker,
    close: async () => {
      for (const proxy of [service, ledger, temporal]) await proxy.close();
    },
  };
}

function preload(clockSkewMs: number): string[] {
  return clockSkewMs === 0 ? [] : ['--require', path.join(__dirname, 'clock-skew.js')];
}

function workerProgram(bundle: string | null): string[] {
  if (bundle === null) return [path.join(__dirname, '..', '..', 'worker', 'main.js')];
  return [path.join(__dirname, 'worker-process.js'), bundle];
}

/** Returns whether the SDK has logged, after this position of the file, that the worker takes tasks. */
function takesTasks(logFile: string, from: number): boolean {
  if (!existsSync(logFile)) return false;
  return readFileSync(logFile).subarray(from).includes('"state":"RUNNING"');
}
