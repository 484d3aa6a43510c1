/**
 * All metrics of a worker, apart from those of Temporal's SDK and of Node.js. docs/monitoring.md has a table of them,
 * which a test compares with this list.
 *
 * No label has a value per company, person or request. Only `tokenferry_migration_companies` has a label value per
 * migration. It is off by default, and its option limits the number of migrations.
 */
interface Definition {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly unit:
    | 'companies'
    | 'migrations'
    | 'decisions'
    | 'connections'
    | 'seconds'
    | 'answers'
    | 'calls'
    | 'statements';
  readonly labels: readonly string[];
  readonly help: string;
}

/**
 * Metrics that one worker at a time reports. They are read from the ledger, except the two metrics about waiting for a
 * role, which are read from Temporal.
 */
export const LEDGER_METRICS = {
  tokenferry_companies: {
    type: 'gauge',
    unit: 'companies',
    labels: ['state'],
    help: 'Companies of open migrations by state.',
  },
  tokenferry_failed_companies: {
    type: 'gauge',
    unit: 'companies',
    labels: ['failure'],
    help: 'Failed companies of open migrations, by kind of failure.',
  },
  tokenferry_migrations: {
    type: 'gauge',
    unit: 'migrations',
    labels: ['status'],
    help: 'Open migrations by status: running, paused by a person (paused), or paused automatically (paused-itself).',
  },
  tokenferry_migration_companies: {
    type: 'gauge',
    unit: 'companies',
    labels: ['migration', 'state'],
    help: 'Companies of one open migration by state. Reported for the largest migrations, at most TOKENFERRY_METRICS_MIGRATIONS of them.',
  },
  tokenferry_moved_companies_per_minute: {
    type: 'gauge',
    unit: 'companies',
    labels: [],
    help: 'Companies of open migrations that were moved in the last minute.',
  },
  tokenferry_limit_companies_per_minute: {
    type: 'gauge',
    unit: 'companies',
    labels: [],
    help: 'Sum of the per-minute limits of open migrations that are not paused. Absent if one of these has no such limit, or if there are none.',
  },
  tokenferry_oldest_lease_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: [],
    help: 'Age of the oldest lease of a company that is being imported. 0 if there is none.',
  },
  tokenferry_longest_out_of_date_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: [],
    help: 'Longest time since the client confirmed that syncing is off for a company that is waiting, importing, syncing or outcome-unknown. 0 if there is no such company.',
  },
  tokenferry_oldest_credential_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: [],
    help: 'Longest time since the client obtained a credential that has not been handed over to the service, of a company that is waiting, importing, syncing or outcome-unknown. 0 if there is none.',
  },
  tokenferry_decisions_total: {
    type: 'counter',
    unit: 'decisions',
    labels: ['result'],
    help: 'Decisions in the audit trails: applied or refused.',
  },
  tokenferry_waiting_migrations: {
    type: 'gauge',
    unit: 'migrations',
    labels: ['role'],
    help: 'Migrations that are waiting for a decision by a role. Read from Temporal.',
  },
  tokenferry_oldest_wait_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: ['role'],
    help: 'Longest known time that a migration has waited for a decision by a role. 0 if none is waiting.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

/** Metrics that each worker counts in its memory. */
export const WORKER_METRICS = {
  tokenferry_service_answers_total: {
    type: 'counter',
    unit: 'answers',
    labels: ['call', 'answer'],
    help: 'Requests to the service by their answer: ok, the HTTP status of an error, or why no answer arrived.',
  },
  tokenferry_service_answer_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['call'],
    help: 'Time from sending a request to the service to its complete answer.',
  },
  tokenferry_service_retries_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['reason'],
    help: 'Retries of calls to the service by their cause: the HTTP status of an error, unreadable, or why there was no answer.',
  },
  tokenferry_ledger_pool_connections: {
    type: 'gauge',
    unit: 'connections',
    labels: ['state'],
    help: "Connections in the worker's pool to the ledger: used or idle. The pool has at most 10.",
  },
  tokenferry_ledger_pool_waiting: {
    type: 'gauge',
    unit: 'statements',
    labels: [],
    help: 'Statements that are waiting for a connection to the ledger.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export const METRICS: Readonly<Record<string, Definition>> = { ...LEDGER_METRICS, ...WORKER_METRICS };
