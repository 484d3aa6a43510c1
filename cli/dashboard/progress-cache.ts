/** Queries the workflows of the visible migrations for their progress, and caches the answers. */
import type { Progress } from '../../domain/progress/progress';
import { NoWorker, queryLedgerMark, queryProgress, type LedgerClient } from '../../client';
import { readProgressInTime } from '../connections/ledger-limit';
import type { DashboardRow } from './state';

/**
 * Answers expire after this time, because the numbers in the texts about a migration can change while its row in the
 * list stays the same.
 */
const MAX_AGE_MS = 30_000;
/**
 * Long enough for a second attempt, which reaches another worker if the worker that had cached the workflow has died.
 */
const QUERY_TIMEOUT_MS = 4_000;
const MARK_TIMEOUT_MS = 2_000;
const MAX_QUERIES = 6;
/** A workflow that no worker answered for is not queried again for this long, unless its row in the list changes. */
const RETRY_AFTER_MS = 10_000;

interface CacheEntry {
  /** Null if the workflow has not answered yet. */
  readonly progress: Progress | null;
  /** The highest mark of the ledger that the workflow has reported; 0 if it has reported none. */
  readonly mark: number;
  /**
   * The state, step and role that the list showed when the workflow was queried. The entry expires when the list shows
   * other values.
   */
  readonly version: string;
  readonly expiresAt: number;
}

export interface ProgressCache {
  /** Returns null if the migration has not answered yet. */
  of(migrationId: string): Progress | null;
  /** Returns the highest mark of the ledger that the workflow has reported; 0 if it has reported none. */
  markOf(migrationId: string): number;
  /**
   * Queries up to `MAX_QUERIES` of the workflows whose entries are missing or expired.
   *
   * @throws the failure of the last queries, if none of them was answered
   */
  refresh(rows: readonly DashboardRow[]): Promise<void>;
}

export function openProgressCache(ferry: LedgerClient): ProgressCache {
  const entries = new Map<string, CacheEntry>();
  const cached = (migrationId: string): Progress | null => entries.get(migrationId)?.progress ?? null;
  const knownMark = (migrationId: string): number => entries.get(migrationId)?.mark ?? 0;
  let failure: Error | null = null;

  async function query(row: DashboardRow): Promise<void> {
    const { migrationId } = row;
    const version = versionOf(row);
    try {
      // The workflow of a terminated migration would answer as if it were still running.
      const read = row.endedInTemporal ? readProgressInTime : queryProgress;
      const progress = await read(ferry, migrationId, QUERY_TIMEOUT_MS);
      // Best effort. Not in parallel, because a worker that cannot replay the workflow answers only one of several
      // queries.
      const reported = row.endedInTemporal
        ? 0
        : await queryLedgerMark(ferry, migrationId, MARK_TIMEOUT_MS).catch(() => 0);
      const mark = Math.max(reported, knownMark(migrationId));
      entries.set(migrationId, { progress, mark, version, expiresAt: Date.now() + MAX_AGE_MS });
    } catch (error) {
      // Only `NoWorker` delays the next query. Any other error is probably temporary, because Temporal has just listed
      // the migrations.
      const expiresAt = Date.now() + (error instanceof NoWorker ? RETRY_AFTER_MS : 0);
      const known = { progress: cached(migrationId), mark: knownMark(migrationId) };
      entries.set(migrationId, { ...known, version, expiresAt });
      throw error;
    }
  }

  return {
    of: cached,
    markOf: knownMark,
    refresh: async (rows) => {
      const expired = rows.filter((row) => isExpired(entries.get(row.migrationId), row)).slice(0, MAX_QUERIES);
      const queried = await Promise.allSettled(expired.map(query));
      const failed = queried.find((each) => each.status === 'rejected');
      if (queried.length > 0)
        failure = failed && queried.every(({ status }) => status === 'rejected') ? asError(failed.reason) : null;
      if (failure) throw failure;
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function isExpired(entry: CacheEntry | undefined, row: DashboardRow): boolean {
  return entry === undefined || entry.version !== versionOf(row) || Date.now() >= entry.expiresAt;
}

function versionOf({ state, step, waitingFor }: DashboardRow): string {
  return `${state} ${step} ${waitingFor}`;
}
