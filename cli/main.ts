/** Runs the `ferry` command as a process. */
import { runFerry } from './program';
import { terminalPrompts } from './terminal/prompts';

// A reader that closes the pipe early (`ferry list | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

/**
 * Returns a signal that aborts at the first Ctrl-C. A second one ends the process, because the listener is gone by
 * then.
 */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const interrupt = (): void => {
      controller.abort();
      // Deferred, because with no listener left an open prompt would let this same signal kill the process.
      setImmediate(() => process.off(signal, interrupt));
    };
    process.on(signal, interrupt);
  }
  return controller.signal;
}

const { stdin, stdout, stderr, env } = process;
const interactive = stdin.isTTY && stdout.isTTY ? { prompts: terminalPrompts, keyboard: stdin } : {};
void runFerry(process.argv.slice(2), { stdout, stderr, env, interruption, ...interactive }).then((exitCode) => {
  process.exitCode = exitCode;
});
