import { setTimeout as delay } from 'node:timers/promises';
import {
  startSupervised,
  tailOf,
  type SupervisedProcess,
  type SupervisedProgram,
} from '../../stack/process/supervised-process';
import { errorCode, reservePort } from '../../stack/ports';
import { ProcessNotStarted, type ClusterProcess } from './types';

const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** One supervised program of a cluster. */
export interface ClusterProcessOptions {
  readonly name: string;
  /** Returns the program to run. Called at each start. */
  readonly program: () => Omit<SupervisedProgram, 'stopSignal' | 'graceMs'>;
  /** Returns whether the program is ready. Called only after it has been started. */
  readonly isReady: () => Promise<boolean>;
}

/** Creates a process, which is not running yet. It ends when the current process ends or is killed. */
export function createClusterProcess({ name, program, isReady }: ClusterProcessOptions): ClusterProcess {
  let current: { readonly process: SupervisedProcess; readonly pid: number } | undefined;
  const running = () => (current?.process.hasExited() === false ? current : undefined);

  return {
    name,
    get running() {
      return running() !== undefined;
    },
    get pid() {
      return running()?.pid ?? null;
    },
    async start() {
      if (running()) return;
      const started = program();
      const process = startSupervised({ ...started, stopSignal: 'SIGKILL', graceMs: 0 });
      const pid = await process.pid;
      current = pid === null ? undefined : { process, pid };
      const deadline = Date.now() + READY_WITHIN_MS;
      while (!process.hasExited() && Date.now() < deadline) {
        if (await isReady()) return;
        await delay(POLL_MS);
      }
      const reason = process.hasExited() ? 'ended during its start' : 'was not ready in time';
      await process.stop();
      throw new ProcessNotStarted(
        `${name} ${reason}. Its log, ${started.logFile}, ends with:\n${tailOf(started.logFile)}`,
      );
    },
    async kill() {
      const killed = running();
      if (!killed) return;
      signal(killed.pid, 'SIGKILL');
      await killed.process.exited;
    },
    suspend: () => signal(running()?.pid, 'SIGSTOP'),
    resume: () => signal(running()?.pid, 'SIGCONT'),
  };
}

/** A process at a port of its own. */
export interface ProcessAtPort extends ClusterProcess {
  readonly url: string;
  /** Kills the process and releases its port. */
  close(): Promise<void>;
}

/**
 * Starts a process at the first free port from `first` upwards.
 *
 * @param optionsAt returns the options of the process
 */
export async function startAtPort(
  first: number,
  optionsAt: (port: number, url: string) => ClusterProcessOptions,
): Promise<ProcessAtPort> {
  const { port, release } = await reservePort(first);
  const url = `http://127.0.0.1:${port}`;
  const created = createClusterProcess(optionsAt(port, url));
  const close = async (): Promise<void> => {
    await created.kill();
    release();
  };
  try {
    await created.start();
    return Object.assign(created, { url, close });
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Starts processes at the same time. Waits for all of them even if one fails, because `kill` does nothing to a process
 * whose start has only just begun, and would leave it running.
 */
export async function startTogether(processes: readonly ClusterProcess[]): Promise<void> {
  const results = await Promise.allSettled(processes.map((each) => each.start()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Sends a signal. Does nothing if the process has ended in the meantime. */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/**
 * The first ports to try. They are below the range from which the operating system takes the ports of outgoing
 * connections, so that no connection takes the port of a killed process.
 */
export const FIRST_PORTS = {
  service: 20_500,
  codecServer: 20_700,
  metrics: 20_800,
  prometheus: 20_900,
  temporal: 21_000,
  images: 21_500,
} as const;
