import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';

let installed = false;

/**
 * Temporal's runtime, once in a process: its logs go to ours, and it leaves signals to whoever started the process,
 * because servers must outlive the workers that use them.
 */
export function installRuntime(log: Logger): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => forward(log, entry)),
    shutdownSignals: [],
  });
}

function forward(log: Logger, { level, message, meta }: LogEntry): void {
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
