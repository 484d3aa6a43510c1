/**
 * Runs the health checks of a process at intervals, so that a probe starts no check and gets an answer at once.
 *
 * Once a check has succeeded, it is reported as failing only after several failed runs in a row, because one slow
 * answer is not an outage. The check is reported as ok again at the first success. Each change is logged.
 */
import type { Logger } from 'pino';
import type { CheckState, CheckStates } from './health-server';

/** Resolves with null if all is well, and with the reason if not. A rejection also counts as a failure. */
export type Check = () => Promise<string | null>;

export interface MonitorTiming {
  /** Milliseconds between two runs of a check. */
  readonly everyMs: number;
  /** Time limit of a run, in milliseconds. A run that exceeds it has failed. */
  readonly timeoutMs: number;
  /** The number of failed runs in a row after which the check is reported as failing. */
  readonly failuresInRow: number;
}

/** With this timing, a check is reported as failing 10 to 24 seconds after an outage begins. */
const MONITOR_TIMING: MonitorTiming = { everyMs: 5_000, timeoutMs: 3_000, failuresInRow: 3 };

interface Monitored {
  state: CheckState;
  failures: number;
  timer?: NodeJS.Timeout;
}

export class HealthMonitor {
  private readonly monitored = new Map<string, Monitored>();
  private isStopped = false;

  constructor(
    private readonly log: Pick<Logger, 'info' | 'warn'>,
    private readonly timing: MonitorTiming = MONITOR_TIMING,
  ) {}

  /** Begins to run a check. The check is reported as failing until its first success. */
  add(name: string, check: Check): void {
    const since = new Date().toISOString();
    const monitored: Monitored = {
      state: { status: 'failing', why: 'not checked yet', since },
      failures: this.timing.failuresInRow - 1,
    };
    this.monitored.set(name, monitored);
    void this.repeat(name, check, monitored);
  }

  states(): CheckStates {
    return Object.fromEntries([...this.monitored].map(([name, { state }]) => [name, state]));
  }

  stop(): void {
    this.isStopped = true;
    for (const { timer } of this.monitored.values()) clearTimeout(timer);
  }

  private async repeat(name: string, check: Check, monitored: Monitored): Promise<void> {
    const why = await withTimeLimit(check, this.timing.timeoutMs);
    if (this.isStopped) return;
    monitored.failures = why === null ? 0 : monitored.failures + 1;
    if (why === null || monitored.failures >= this.timing.failuresInRow) this.update(name, monitored, why);
    monitored.timer = setTimeout(() => void this.repeat(name, check, monitored), this.timing.everyMs);
    monitored.timer.unref();
  }

  private update(name: string, monitored: Monitored, why: string | null): void {
    const status = why === null ? 'ok' : 'failing';
    const isUnchanged = monitored.state.status === status && monitored.state.why !== 'not checked yet';
    const since = isUnchanged ? monitored.state.since : new Date().toISOString();
    monitored.state = { status, ...(why !== null && { why }), since };
    if (isUnchanged) return;
    if (why === null) this.log.info({ check: name }, 'a health check is ok');
    else this.log.warn({ check: name, why }, 'a health check is failing');
  }
}

async function withTimeLimit(check: Check, timeoutMs: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${timeoutMs / 1_000} s`), timeoutMs);
    timer.unref();
  });
  try {
    return await Promise.race([check(), timedOut]);
  } catch (error) {
    // Node.js tries each address of a host, and reports the failures as one error without a message.
    const [first = error] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
    return first instanceof Error ? first.message || first.name : 'the check failed';
  } finally {
    clearTimeout(timer);
  }
}
