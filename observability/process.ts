/**
 * Runs a process whose output is JSON lines from the first line to the last, also when it fails to start, when Node
 * prints a warning, and when an error is not caught.
 */
import type { Logger } from 'pino';
import { createLog, openStandardOutput } from '../security/log';
import { stopTracing } from './tracing';

export interface ProcessContext {
  /**
   * Aborts at the first SIGINT or SIGTERM, or when the supervisor has ended. A second signal of the same kind ends the
   * process at once.
   */
  readonly stopped: AbortSignal;
  /** Creates the log of the process, which also receives Node's warnings and errors that are not caught. */
  readonly openLog: (level: string) => Logger;
}

/** How long the end of a process waits for a reader of its output. Milliseconds. */
const FLUSH_WITHIN_MS = 2_000;

/**
 * Runs the main function of a process. If it rejects, the process logs the error as its last line and exits with 1.
 *
 * @param name what log lines call the process: `worker`, `service` or `codec server`
 */
export function runProcess(name: string, main: (context: ProcessContext) => Promise<void>): void {
  // Until the configuration has been read, errors are logged at the default level.
  const output = openStandardOutput();
  // Hides `flushSync`, with which pino would write the last line while an earlier one is still being written.
  const lines = { write: (line: string): void => void output.write(line) };
  let log = createLog({ to: lines });
  /** Ends the process when its lines have been written, because they are written without blocking. */
  const exit = (code: number): void => {
    output.once('close', () => process.exit(code));
    output.end();
    setTimeout(() => process.exit(code), FLUSH_WITHIN_MS).unref();
  };
  const stop = new AbortController();
  let stoppedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stoppedAt ??= performance.now();
      log.info({ signal }, `the ${name} is stopping`);
      stop.abort();
    });
  }
  // A supervisor that started this process with a channel has ended without stopping it, for example by `kill -9`.
  process.once('disconnect', () => {
    log.warn(`the supervisor of the ${name} has ended, so the ${name} is stopping`);
    stop.abort();
  });
  // Replaces Node's own listener, which prints plain text.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'a warning of Node.js'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, `the ${name} has ended, because an error was not caught`);
    exit(1);
  });

  const run = async (): Promise<void> => {
    try {
      await main({ stopped: stop.signal, openLog: (level) => (log = createLog({ level, to: lines })) });
    } finally {
      await stopTracing();
    }
  };
  run().then(
    () => {
      const afterMs = stoppedAt === undefined ? undefined : Math.round(performance.now() - stoppedAt);
      log.info({ afterMs }, `the ${name} has stopped`);
      exit(0);
    },
    (error: unknown) => {
      log.fatal({ err: error }, `the ${name} has ended; correct the cause and start it again`);
      exit(1);
    },
  );
}

/** Resolves when the signal aborts. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
