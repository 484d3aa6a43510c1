/** Runs the `ferry` command as a process. */
import { runFerry } from './program';
import { terminalPrompts } from './terminal/prompts';

// Exits without an error when the reader closes the pipe early, as in `ferry list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

/**
 * Returns a signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP. A second signal of the same kind ends the
 * process, because its listener has been removed by then.
 */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const interrupt = (): void => {
      controller.abort();
      // Deferred, because an open prompt ends the process on this same signal if no other listener is left.
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
