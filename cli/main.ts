/** The process of the `ferry` command. */
import { runFerry } from './program';
import { terminalPrompts } from './terminal/prompts';

// A reader that has seen enough (`ferry list | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

/** A second Ctrl-C ends the process at once: the first one's listeners are gone by then. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const interrupt = (): void => {
      controller.abort();
      // Later: whoever asks a question at this moment ends the process at once where nobody else listens.
      setImmediate(() => process.off(signal, interrupt));
    };
    process.on(signal, interrupt);
  }
  return controller.signal;
}

const { stdin, stdout, stderr, env } = process;
const somebody = stdin.isTTY && stdout.isTTY ? { prompts: terminalPrompts, keyboard: stdin } : {};
void runFerry(process.argv.slice(2), { stdout, stderr, env, interruption, ...somebody }).then((exitCode) => {
  process.exitCode = exitCode;
});
