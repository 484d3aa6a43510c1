/** Reads figures for monitoring: of all open migrations, and counts of the decisions of all migrations. */
import { sql } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import type { FailureKind } from '../../domain/companies/failures';
import { oneRow, type Database } from '../database/database';

/** Figures of all open migrations. Ages are in seconds; null if there is nothing of that kind. */
export interface LedgerFigures {
  readonly companies: readonly {
    readonly migrationId: string;
    readonly state: CompanyState;
    readonly failure: FailureKind | null;
    readonly companies: number;
  }[];
  /** Numbers of open migrations that are running, that a person has paused, and that have paused themselves. */
  readonly migrations: { readonly running: number; readonly paused: number; readonly pausedItself: number };
  /** Companies that were moved in the last minute. */
  readonly movedInLastMinute: number;
  /**
   * The sum of the companies-per-minute limits of migrations that are not paused; null if one of them has no such
   * limit, or if there are no such migrations.
   */
  readonly companiesPerMinuteLimit: number | null;
  /** The longest time since a company that is still importing was last claimed or reclaimed. */
  readonly oldestLeaseSeconds: number | null;
  /** The longest time since an open company was confirmed. Its data has been out of date since then. */
  readonly longestOutOfDateSeconds: number | null;
  /** The age of the oldest credential of an open company that has not been handed over. */
  readonly oldestCredentialSeconds: number | null;
}

/** Numbers of decisions in the audit trails of all migrations. These numbers only grow. */
export interface DecisionFigures {
  readonly applied: number;
  readonly refused: number;
}

const ageOf = (moment: ReturnType<typeof sql>): ReturnType<typeof sql> =>
  sql`greatest(extract(epoch from clock_timestamp() - ${moment}), 0)::float8`;

/** Reads the figures of all open migrations with three statements. */
export async function readLedgerFigures(db: Database): Promise<LedgerFigures> {
  const { rows: companies } = await sql<
    LedgerFigures['companies'][number] & {
      readonly moved: number;
      readonly oldestClaim: number | null;
      readonly longest: number | null;
    }
  >`
    select c.migration_id as "migrationId", c.state, c.failure, count(*) as companies,
      count(*) filter (where c.moved_at > clock_timestamp() - interval '1 minute') as moved,
      max(${ageOf(sql`c.claimed_at`)}) filter (where c.state = 'importing') as "oldestClaim",
      max(${ageOf(sql`c.confirmed_at`)}) filter (where c.state in ('waiting', 'importing', 'syncing', 'outcome-unknown'))
        as longest
    from companies c join migrations m on m.id = c.migration_id
    where m.state = 'open'
    group by c.migration_id, c.state, c.failure`.execute(db);
  const migrations = await oneRow<LedgerFigures['migrations'] & { readonly limit: number | null }>(db)`
    select count(*) filter (where not paused) as running,
      count(*) filter (where paused and not paused_itself) as paused,
      count(*) filter (where paused and paused_itself) as "pausedItself",
      case when bool_and((limits ->> 'companiesPerMinute') is not null) filter (where not paused)
        then sum((limits ->> 'companiesPerMinute')::float8) filter (where not paused) end as limit
    from migrations where state = 'open'`;
  const { oldest } = await oneRow<{ readonly oldest: number | null }>(db)`
    select max(${ageOf(sql`v.obtained_at`)}) as oldest
    from credentials v join migrations m on m.id = v.migration_id
    join companies c on c.migration_id = v.migration_id and c.row = v.row
    where m.state = 'open' and v.crossed_at is null
      and c.state in ('waiting', 'importing', 'syncing', 'outcome-unknown')`;
  const { limit, ...migrationsByStatus } = migrations;
  return {
    companies,
    migrations: migrationsByStatus,
    movedInLastMinute: companies.reduce((sum, { moved }) => sum + moved, 0),
    companiesPerMinuteLimit: limit,
    oldestLeaseSeconds: largest(companies.map(({ oldestClaim }) => oldestClaim)),
    longestOutOfDateSeconds: largest(companies.map(({ longest }) => longest)),
    oldestCredentialSeconds: oldest,
  };
}

const largest = (values: readonly (number | null)[]): number | null =>
  values.reduce((max, value) => (value !== null && (max === null || value > max) ? value : max), null);

/** Counts the decisions in the audit trails of all migrations. */
export async function readDecisionFigures(db: Database): Promise<DecisionFigures> {
  return oneRow<DecisionFigures>(db)`
    select count(*) filter (where applied) as applied, count(*) filter (where not applied) as refused from decisions`;
}

/** The key of the advisory lock that lets only one worker at a time report the ledger's figures. */
const MONITORING_LOCK = 4_071_301;

/**
 * Takes the lock for reporting the ledger's figures, and returns whether this connection holds it. Another connection
 * can take the lock once this connection has ended.
 */
export async function takeReportingLock(db: Database): Promise<boolean> {
  const { isHolder } = await oneRow<{ readonly isHolder: boolean }>(db)`
    select pg_try_advisory_lock(${MONITORING_LOCK}) as "isHolder"`;
  return isHolder;
}
