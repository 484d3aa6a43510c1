import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';

let installed = false;

/**
 * Installs Temporal's runtime, once per process. Its log lines go to `log`. It does not handle signals, because
 * `ferry up` must be able to stop its workers before the servers that they use.
 */
export function installRuntime(log: Logger): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => forward(log, entry)),
    shutdownSignals: [],
  });
}

function forward(log: Logger, { level, message, meta: fields }: LogEntry): void {
  // pino shows an error only if it is called `err`.
  const { error, ...others } = (fields ?? {}) as Readonly<Record<string, unknown>>;
  const meta = error === undefined ? fields : { ...others, err: error };
  switch (level) {
    case 'TRACE':
    case 'DEBUG':
      return log.debug(meta ?? {}, message);
    case 'INFO':
      return log.info(meta ?? {}, message);
    case 'WARN':
      return log.warn(meta ?? {}, message);
    case 'ERROR':
      return log.error(meta ?? {}, message);
  }
}
