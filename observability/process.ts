/**
 * Runs a process whose output is JSON lines from the first line to the last, even if it fails to start, Node prints a
 * warning, or an error is not caught. Parses the options of such a process.
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

/** How long an exiting process waits for its output to be read. Milliseconds. */
const FLUSH_WITHIN_MS = 2_000;

/**
 * Runs the main function of a process. If it rejects, the process logs the error as its last line and exits with 1.
 *
 * @param name name of the process in log lines, for example `codec server`
 */
export function runProcess(name: string, main: (context: ProcessContext) => Promise<void>): void {
  // Until the configuration has been read, the log has the default level, so that errors of the start are written too.
  const output = openStandardOutput();
  // Hides the method `flushSync`. With it, pino would write the last line while an earlier line is still being written.
  const lines = { write: (line: string): void => void output.write(line) };
  let log = createLog({ to: lines });
  /** Ends the process once all log lines have been written, or after 2 s. The lines are written asynchronously. */
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
  // A supervisor starts this process with an IPC channel. The channel closes if the supervisor is killed or ends
  // without stopping this process.
  process.once('disconnect', () => {
    log.warn(`the supervisor of the ${name} has ended, so the ${name} is stopping`);
    stop.abort();
  });
  // Replaces Node's own listener, which prints plain text.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'Node.js reported a warning'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, `the ${name} has ended because of an uncaught error`);
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
      log.fatal({ err: error }, `the ${name} has ended; correct the cause and start the ${name} again`);
      exit(1);
    },
  );
}

/** Resolves when the signal aborts. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

/**
 * Parses an option of a process.
 *
 * @throws if the text is not a whole number
 */
export function numberOption(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${name} must be a whole number`);
  return Number(text);
}
