import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { LogEntry } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import type { Logger } from 'pino';
import { migrationOfWorkflow } from '../domain/migration/temporal-names';

/**
 * Installs Temporal's runtime, unless the process has one. All of its log lines go to `log`, also those of its native
 * part. It does not handle signals, because `ferry up` must be able to stop its workers before the servers that they
 * use.
 *
 * The runtime ends with its last connection. A worker that waits for Temporal therefore installs it for each attempt.
 *
 * @param metricsAddress `host:port` on which the runtime serves its own metrics; default: it collects none
 */
export function installRuntime(log: Logger, metricsAddress?: string): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('INFO', (entry) => forward(log, entry)),
      shutdownSignals: [],
      telemetryOptions: {
        logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
        ...(metricsAddress !== undefined && {
          metrics: {
            attachServiceName: false,
            prometheus: {
              bindAddress: metricsAddress,
              countersTotalSuffix: true,
              unitSuffix: true,
              useSecondsForDurations: true,
            },
          },
        }),
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

function forward(log: Logger, { level, message, meta }: LogEntry): void {
  const fields = toLogFields(meta);
  switch (level) {
    case 'TRACE':
    case 'DEBUG':
      return log.debug(fields, message);
    case 'INFO':
      return log.info(fields, message);
    case 'WARN':
      return log.warn(fields, message);
    case 'ERROR':
      return log.error(fields, message);
  }
}

/**
 * Returns the fields of a log line under the names that all lines of Tokenferry use: `migration` and `run`, which is
 * the id of the workflow's run. pino shows an error only if it is called `err`.
 */
function toLogFields(meta: LogEntry['meta']): Record<string, unknown> {
  const { error, workflowId, runId, run_id, migrationId, ...others } = (meta ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const migration = migrationId ?? (typeof workflowId === 'string' ? migrationOfWorkflow(workflowId) : undefined);
  const run = runId ?? run_id;
  return {
    ...(migration !== undefined && { migration }),
    ...(workflowId !== undefined && { workflowId }),
    ...(run !== undefined && { run }),
    ...others,
    ...(error !== undefined && { err: error }),
  };
}
