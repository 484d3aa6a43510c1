import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A worker in a process of its own. */
export interface WorkerProcess {
  /** Ends it as a power failure does: nothing is finished, nobody is told. */
  kill(): Promise<void>;
  /** It does nothing, notices nothing and keeps everything, until it is woken. */
  freeze(): void;
  wake(): void;
}

/**
 * Resolves when it takes tasks.
 *
 * @param log where its log goes, as an open file; otherwise to the tests' own output
 */
export async function startWorkerProcess(env: NodeJS.ProcessEnv, log?: number): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [require.resolve('./killable-worker.js')], {
    stdio: ['pipe', 'pipe', log ?? 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  if (!child.stdout) throw new Error('its output is a pipe');
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited])) as unknown[];
  if (line !== 'runs') throw new Error('the worker process ended before it took tasks');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    freeze: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
  };
}
