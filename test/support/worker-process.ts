import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A worker that runs in its own process. */
export interface WorkerProcess {
  /** Kills the process, as a power failure would: it cannot finish anything or notify anybody. */
  kill(): Promise<void>;
}

/**
 * Starts a worker process. Resolves when the worker takes tasks.
 *
 * @param log the descriptor of an open file for the worker's log; default: the output of the tests
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, log?: number): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [require.resolve('./worker-process-main.js')], {
    stdio: ['pipe', 'pipe', log ?? 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  if (!child.stdout) throw new Error('the worker process has no output');
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited])) as unknown[];
  if (line !== 'runs') throw new Error('the worker process ended before it took tasks');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
