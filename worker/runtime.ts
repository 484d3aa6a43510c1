import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import type { Logger } from 'pino';
import { migrationOfWorkflow } from '../domain/migration/temporal-names';

/**
 * Installs Temporal's runtime, unless the process has one. The log lines of the runtime from level INFO go to `log`,
 * and those of its native part from level WARN. The runtime does not handle signals, because `ferry up` must be able to
 * stop its workers before the servers that they use.
 *
 * The runtime ends when its last connection to Temporal is closed, or if no connection can be opened. A worker that
 * waits for Temporal therefore installs the runtime again for each attempt to connect.
 *
 * @param metricsAddress `host:port` on which the runtime serves its own metrics; default: it collects none
 */
export function installRuntime(log: Logger, metricsAddress?: string): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('TRACE', createForward(log)),
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

/** The number of runs whose migration is remembered: more than a worker has in its cache. */
const REMEMBERED_RUNS = 1_000;

/**
 * Returns a function that forwards the SDK's log lines of level INFO and above. Lines of the SDK's native part contain
 * the run but not the migration. The function therefore remembers the migration of each run from other lines, for
 * example from the TRACE line that says that a workflow was created.
 */
function createForward(log: Logger): (entry: LogEntry) => void {
  const migrations = new Map<string, string>();
  return ({ level, message, meta }) => {
    const { workflowId, runId, run_id: run = runId } = (meta ?? {}) as Readonly<Record<string, unknown>>;
    const migration = typeof workflowId === 'string' ? migrationOfWorkflow(workflowId) : undefined;
    if (typeof run === 'string' && migration !== undefined) {
      migrations.delete(run);
      migrations.set(run, migration);
      const [oldest] = migrations.keys();
      if (migrations.size > REMEMBERED_RUNS && oldest !== undefined) migrations.delete(oldest);
    }
    if (level === 'TRACE' || level === 'DEBUG') return;
    const fields = toLogFields(meta, migration ?? migrations.get(String(run)));
    switch (level) {
      case 'INFO':
        return log.info(fields, message);
      case 'WARN':
        return log.warn(fields, message);
      case 'ERROR':
        return log.error(fields, message);
    }
  };
}

/**
 * Returns the fields of a log line under the names that all lines of Tokenferry use: `migration` and `run`, which is
 * the id of the workflow's run. pino shows an error only if it is called `err`.
 */
function toLogFields(meta: LogEntry['meta'], known: string | undefined): Record<string, unknown> {
  const { error, workflowId, runId, run_id, migrationId, ...others } = (meta ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const migration = migrationId ?? known;
  const run = runId ?? run_id;
  return {
    ...(migration !== undefined && { migration }),
    ...(workflowId !== undefined && { workflowId }),
    ...(run !== undefined && { run }),
    ...others,
    ...(error !== undefined && { err: error }),
  };
}
