/** Runs the `ferry` command as a process. */
import { runFerry } from './program';
import { terminalPrompts } from './terminal/prompts';

/** Aborts when the reader of standard output closes the pipe early, as in `ferry watch | head`. */
const outputClosed = new AbortController();
// Drops output without a reader. Most commands continue, because they may still have to send a decision. Two kinds end:
// commands that run until they are interrupted, such as `ferry watch`, and commands that stream rows (`Output.stream`).
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) outputClosed.abort();
  });

/**
 * Returns a signal that aborts at the first Ctrl-C, SIGTERM or SIGHUP, and when standard output is closed. A second
 * signal of the same kind ends the process, because its listener has been removed by then.
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
  return AbortSignal.any([controller.signal, outputClosed.signal]);
}

const { stdin, stdout, stderr, env } = process;
const interactive = stdin.isTTY && stdout.isTTY ? { prompts: terminalPrompts, keyboard: stdin } : {};
void runFerry(process.argv.slice(2), { stdout, stderr, env, interruption, ...interactive }).then((exitCode) => {
  process.exitCode = exitCode;
});
