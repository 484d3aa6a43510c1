/** The metrics that a worker counts in its memory. Counting takes microseconds; everything else happens at a scrape. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Answer, RetryWait } from '../../company-data-client';
import type { PoolUsage } from '../../store';
import { WORKER_METRICS } from './definitions';

type MetricName = keyof typeof WORKER_METRICS;

/** Statuses with their own label value. Others are counted as 3xx, 4xx or 5xx, so that a proxy cannot add values. */
const STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 409, 422, 429, 500, 502, 503, 504]);

const DURATION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Gauges of the library that are named like counters. They are removed, because other gauges, such as
 * `nodejs_active_resources`, contain the same values by type.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export class WorkerMetrics {
  readonly registry = new Registry();
  private readonly answers = new Counter({ ...this.describe('tokenferry_service_answers_total') });
  private readonly durations = new Histogram({
    ...this.describe('tokenferry_service_answer_duration_seconds'),
    buckets: DURATION_BUCKETS,
  });
  private readonly retries = new Counter({ ...this.describe('tokenferry_service_retries_total') });
  private poolUsage: (() => PoolUsage) | undefined;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    const usage = (): PoolUsage => this.poolUsage?.() ?? { used: 0, idle: 0, waiting: 0 };
    new Gauge({
      ...this.describe('tokenferry_ledger_pool_connections'),
      collect() {
        const { used, idle } = usage();
        this.set({ state: 'used' }, used);
        this.set({ state: 'idle' }, idle);
      },
    });
    new Gauge({
      ...this.describe('tokenferry_ledger_pool_waiting'),
      collect() {
        this.set(usage().waiting);
      },
    });
  }

  readonly onPool = (usage: () => PoolUsage): void => {
    this.poolUsage = usage;
  };

  readonly onAnswer = ({ isAuthorization, outcome, durationMs }: Answer): void => {
    const call = isAuthorization ? 'authorize' : 'other';
    this.answers.inc({ call, answer: answerLabel(outcome) });
    if (durationMs !== undefined) this.durations.observe({ call }, durationMs / 1_000);
  };

  readonly onRetry = ({ failure }: RetryWait): void => {
    const reason = failure.kind === 'no-response' ? failure.reason : answerLabel(failure.status);
    this.retries.inc({ reason: reason === 'ok' ? 'unreadable' : reason });
  };

  private describe(name: MetricName) {
    const { help, labels } = WORKER_METRICS[name];
    return { name, help, labelNames: labels as readonly string[], registers: [this.registry] };
  }
}

function answerLabel(outcome: Answer['outcome']): string {
  if (typeof outcome !== 'number') return outcome;
  if (outcome < 300) return 'ok';
  if (STATUSES.has(outcome)) return String(outcome);
  if (outcome < 400) return '3xx';
  return outcome < 500 ? '4xx' : '5xx';
}
