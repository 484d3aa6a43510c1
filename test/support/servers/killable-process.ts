import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A worker or a portal that runs in its own process. */
export interface KillableProcess {
  /** Kills the process as a power failure would: it cannot finish anything or notify other processes. */
  kill(): Promise<void>;
}

/**
 * Starts a worker process. Resolves when the worker takes tasks.
 *
 * @param log the descriptor of an open file for the worker's log; default: the output of the tests
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, log?: number): Promise<KillableProcess> {
  const { line, kill } = await startProcess(['worker'], env, log);
  if (line !== 'runs') throw new Error('the worker process ended before it took tasks');
  return { kill };
}

/**
 * Starts a portal in its own process. Resolves when it listens.
 *
 * @param databaseUrl the URL with which the portal's role connects
 * @param port 0 for any free port
 */
export async function startPortalProcess(
  databaseUrl: string,
  port: number,
): Promise<KillableProcess & { readonly url: string }> {
  const { line, kill } = await startProcess(['portal', databaseUrl, String(port)], {});
  if (typeof line !== 'string' || !line.startsWith('http')) throw new Error('the portal ended before it listened');
  return { url: line, kill };
}

/** Starts a process, and waits for the first line of its output, or its end. */
async function startProcess(args: readonly string[], env: NodeJS.ProcessEnv, log?: number) {
  const child = spawn(process.execPath, [require.resolve('./killable-process-main.js'), ...args], {
    stdio: ['pipe', 'pipe', log ?? 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  if (!child.stdout) throw new Error('the process has no output');
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited])) as unknown[];
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  return { line, kill };
}
