/**
 * The health of a worker process.
 *
 * Alive: unless the pollers are stuck, because only then can a restart help. The pollers are stuck if Temporal has
 * answered none of their polls for three minutes, although it answers other calls. Temporal answers each poll within
 * about a minute, even if there is no task. A worker that waits for Temporal or Postgres is alive.
 *
 * Ready: the worker takes tasks, the ledger and Temporal answer, and the worker's workflow tasks do not all fail.
 * Workflow tasks count as failing once three of them have failed without a completed task in between. They count as
 * working again as soon as a task is completed, or when none has failed for 15 minutes, because Temporal retries a
 * failing task at least every 10 minutes.
 */
import type { Logger } from 'pino';
import { HealthMonitor } from '../observability/health-monitor';
import type { CheckState, CheckStates, Health } from '../observability/health-server';
import { pingDatabase, type Database } from '../store';
import type { RunningWorker } from './index';
import { readSdkMetrics, sumOf } from './sdk-metrics';

const POLLERS_STUCK_AFTER_MS = 3 * 60_000;
const FAILED_IN_A_ROW = 3;
const FORGET_FAILURES_AFTER_MS = 15 * 60_000;
const TEMPORAL_TIMEOUT_MS = 2_500;

/** Counters of the SDK since the worker started. */
export interface TaskCounters {
  /** Polls that the worker has sent. A poller sends the next poll only after the previous poll has ended. */
  readonly polls: number;
  readonly completedWorkflowTasks: number;
  readonly failedWorkflowTasks: number;
}

/** Judges the SDK's counters over time. Times are milliseconds of one clock. */
export class TaskWatch {
  private last: TaskCounters | undefined;
  private lastPollAt: number;
  private failuresInARow = 0;
  private lastFailureAt = -Infinity;

  constructor(startedAt: number) {
    this.lastPollAt = startedAt;
  }

  /** @param temporalAnswers false during an outage, in which no poll can be answered */
  observe(counters: TaskCounters, temporalAnswers: boolean, now: number): void {
    const { last } = this;
    this.last = counters;
    if (!temporalAnswers || (last !== undefined && counters.polls > last.polls)) this.lastPollAt = now;
    const failed = counters.failedWorkflowTasks - (last?.failedWorkflowTasks ?? 0);
    const completed = counters.completedWorkflowTasks - (last?.completedWorkflowTasks ?? 0);
    if (completed > 0) this.failuresInARow = 0;
    else if (failed > 0) this.failuresInARow += failed;
    if (failed > 0) this.lastFailureAt = now;
  }

  /** Returns why the pollers count as stuck; null if they do not. */
  pollersStuck(now: number): string | null {
    if (now - this.lastPollAt < POLLERS_STUCK_AFTER_MS) return null;
    return `Temporal has not answered a poll for ${Math.round((now - this.lastPollAt) / 1_000)} s, although it answers other calls`;
  }

  /** Returns why the workflow tasks count as failing; null if they do not. */
  tasksFail(now: number): string | null {
    if (this.failuresInARow < FAILED_IN_A_ROW || now - this.lastFailureAt > FORGET_FAILURES_AFTER_MS) return null;
    return `the last ${this.failuresInARow} workflow tasks failed; the reason is in the worker's log`;
  }
}

export class WorkerHealth implements Health {
  private readonly monitor: HealthMonitor;
  private readonly tasks: TaskWatch;
  private worker: RunningWorker | undefined;
  private started: CheckState = failing('the worker is starting');
  private pollers: CheckState = ok();

  constructor(
    log: Logger,
    private readonly db: Database,
    private readonly sdkMetricsAddress: string,
  ) {
    this.monitor = new HealthMonitor(log);
    this.tasks = new TaskWatch(performance.now());
  }

  live(): CheckStates {
    return { pollers: this.pollers };
  }

  ready(): CheckStates {
    return { started: this.started, ...this.monitor.states() };
  }

  /** Called while the worker waits for Temporal or Postgres. */
  waiting(why: string): void {
    this.started = failing(why);
  }

  running(worker: RunningWorker): void {
    this.worker = worker;
    this.started = ok();
    this.monitor.add('ledger', async () => {
      await pingDatabase(this.db);
      return null;
    });
    this.monitor.add('temporal', () => this.checkTemporal());
    this.monitor.add('workflow tasks', () => this.checkTasks());
  }

  /** Called when the worker takes no more tasks. */
  stopping(): void {
    this.started = failing('the worker is stopping');
  }

  close(): void {
    this.monitor.stop();
  }

  private async checkTemporal(): Promise<string | null> {
    await this.worker?.pingTemporal(new Date(Date.now() + TEMPORAL_TIMEOUT_MS));
    return null;
  }

  private async checkTasks(): Promise<string | null> {
    const counters = taskCounters(await readSdkMetrics(this.sdkMetricsAddress));
    const now = performance.now();
    this.tasks.observe(counters, this.monitor.states()['temporal']?.status === 'ok', now);
    const stuck = this.started.status === 'ok' ? this.tasks.pollersStuck(now) : null;
    if ((stuck === null) !== (this.pollers.status === 'ok')) this.pollers = stuck === null ? ok() : failing(stuck);
    return this.tasks.tasksFail(now);
  }
}

/** Reads the counters from the SDK's metrics. */
export function taskCounters(text: string): TaskCounters {
  return {
    polls:
      sumOf(text, 'temporal_long_request_total', 'operation="PollWorkflowTaskQueue"') +
      sumOf(text, 'temporal_long_request_total', 'operation="PollActivityTaskQueue"'),
    completedWorkflowTasks: sumOf(text, 'temporal_request_total', 'operation="RespondWorkflowTaskCompleted"'),
    failedWorkflowTasks: sumOf(text, 'temporal_workflow_task_execution_failed_total'),
  };
}

const ok = (): CheckState => ({ status: 'ok', since: new Date().toISOString() });
const failing = (why: string): CheckState => ({ status: 'failing', why, since: new Date().toISOString() });
