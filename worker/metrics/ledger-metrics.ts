/**
 * The metrics of the ledger, which all workers share. One worker at a time reports them: the worker whose monitoring
 * connection holds a lock in Postgres. When that worker ends, the next worker that is scraped takes over. The ledger is
 * read at most every 15 seconds, however often the worker is scraped.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import { COMPANY_STATES } from '../../domain/companies/company-state';
import { FAILURE_KINDS } from '../../domain/companies/failures';
import { ROLES } from '../../domain/migration/steps';
import {
  readDecisionFigures,
  readLedgerFigures,
  takeReportingLock,
  type Database,
  type LedgerFigures,
} from '../../store';
import { LEDGER_METRICS } from './definitions';
import type { Waits } from './waits';

const READ_EVERY_MS = 15_000;

type MetricName = keyof typeof LEDGER_METRICS;

export interface LedgerMetricsOptions {
  readonly db: Database;
  /**
   * Reads from Temporal how long migrations have waited for each role; null while the worker is starting or stopping.
   */
  readonly readWaits: () => Promise<Waits | null>;
  /** How many open migrations have their own metrics, the largest first. */
  readonly maxMigrations: number;
}

export class LedgerMetrics {
  private cached: { readonly at: number; readonly text: Promise<string> } | undefined;

  constructor(private readonly options: LedgerMetricsOptions) {}

  /** Returns the metrics as text; empty if another worker reports them. Rejects if the ledger does not answer. */
  text(): Promise<string> {
    const now = performance.now();
    if (!this.cached || now - this.cached.at >= READ_EVERY_MS) this.cached = { at: now, text: this.read() };
    return this.cached.text;
  }

  private async read(): Promise<string> {
    const { db, readWaits, maxMigrations } = this.options;
    if (!(await takeReportingLock(db))) return '';
    const [figures, decisions, waits] = await Promise.all([
      readLedgerFigures(db),
      readDecisionFigures(db),
      readWaits().catch(() => null),
    ]);
    const registry = new Registry();
    const gauge = (name: MetricName): Gauge => new Gauge({ ...describe(name), registers: [registry] });

    const companies = gauge('tokenferry_companies');
    for (const state of COMPANY_STATES)
      companies.set(
        { state },
        sum(figures, (each) => each.state === state),
      );
    const failed = gauge('tokenferry_failed_companies');
    for (const failure of FAILURE_KINDS)
      failed.set(
        { failure },
        sum(figures, (each) => each.state === 'failed' && each.failure === failure),
      );
    const migrations = gauge('tokenferry_migrations');
    migrations.set({ status: 'running' }, figures.migrations.running);
    migrations.set({ status: 'paused' }, figures.migrations.paused);
    migrations.set({ status: 'paused-itself' }, figures.migrations.pausedItself);
    if (maxMigrations > 0) setMigrations(gauge('tokenferry_migration_companies'), figures, maxMigrations);
    gauge('tokenferry_moved_companies_per_minute').set(figures.movedInLastMinute);
    if (figures.companiesPerMinuteLimit !== null)
      gauge('tokenferry_limit_companies_per_minute').set(figures.companiesPerMinuteLimit);
    gauge('tokenferry_oldest_lease_age_seconds').set(figures.oldestLeaseSeconds ?? 0);
    gauge('tokenferry_longest_out_of_date_seconds').set(figures.longestOutOfDateSeconds ?? 0);
    gauge('tokenferry_oldest_credential_age_seconds').set(figures.oldestCredentialSeconds ?? 0);
    const decided = new Counter({ ...describe('tokenferry_decisions_total'), registers: [registry] });
    decided.inc({ result: 'applied' }, decisions.applied);
    decided.inc({ result: 'refused' }, decisions.refused);
    if (waits) {
      const waiting = gauge('tokenferry_waiting_migrations');
      const oldest = gauge('tokenferry_oldest_wait_seconds');
      for (const role of ROLES) {
        waiting.set({ role }, waits[role].migrations);
        oldest.set({ role }, waits[role].oldestSeconds);
      }
    }
    return registry.metrics();
  }
}

function describe(name: MetricName) {
  const { help, labels } = LEDGER_METRICS[name];
  return { name, help, labelNames: labels as readonly string[] };
}

function sum({ companies }: LedgerFigures, matches: (each: LedgerFigures['companies'][number]) => boolean): number {
  return companies.filter(matches).reduce((total, each) => total + each.companies, 0);
}

function setMigrations(gauge: Gauge, figures: LedgerFigures, maxMigrations: number): void {
  const sizes = new Map<string, number>();
  for (const { migrationId, companies } of figures.companies)
    sizes.set(migrationId, (sizes.get(migrationId) ?? 0) + companies);
  const largest = [...sizes].sort(([, a], [, b]) => b - a).slice(0, maxMigrations);
  for (const [migration] of largest)
    for (const state of COMPANY_STATES)
      gauge.set(
        { migration, state },
        sum(figures, (each) => each.migrationId === migration && each.state === state),
      );
}
