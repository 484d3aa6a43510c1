/**
 * The ledger's mark: a number that only rises. It shows whether a ledger was restored to an older state.
 *
 * Each claim and each recorded decision raises the mark of its migration, in the same transaction. The workflow keeps
 * the highest mark that it has seen, outside the ledger, and passes it to the activities. A slice also keeps the mark
 * of its last claim. If the ledger's mark is lower, the ledger has lost claims or decisions. Possible causes are a
 * restored dump, point-in-time recovery, and a failover that lost the last seconds.
 *
 * The ledger is then flagged (`behind_since`), and no company of the migration can be claimed until `ferry reconcile`
 * has repaired the ledger. The flag is needed because later decisions could raise the mark above the lost mark.
 */
import { sql } from 'kysely';
import { oneRow, type Queryable } from '../database/database';

export interface LedgerStatus {
  readonly mark: number;
  /** When the ledger was flagged as behind; null if it is not flagged. */
  readonly behindSince: Date | null;
  /**
   * True if the mark or the service has shown that the ledger is behind. False if the ledger is not flagged, or flagged
   * only for a reconciliation.
   */
  readonly isProvenBehind: boolean;
  /** The only run that can claim companies; null before the first run. */
  readonly currentRun: string | null;
}

/** Builds the SQL for the mark of a migration. The mark is 0 if nothing has raised it yet. */
export function markOf(migrationId: string) {
  return sql<number>`
    (select coalesce(sum(mark), 0) from ledger_marks where migration_id = ${migrationId})::bigint`;
}

/** Reads the mark, whether the ledger is flagged, and the current run. Changes nothing. */
export async function readLedgerStatus(db: Queryable, migrationId: string): Promise<LedgerStatus> {
  return oneRow<LedgerStatus>(db)`
    select ${markOf(migrationId)} as mark,
      (select behind_since from migrations where id = ${migrationId}) as "behindSince",
      (select current_run from migrations where id = ${migrationId}) as "currentRun",
      exists (
        select from migrations where id = ${migrationId} and behind_since is not null and not behind_unproven)
        as "isProvenBehind"`;
}

/**
 * Reads for each of these migrations whether its ledger is proven to be behind: it is flagged for that, or its mark is
 * lower than the mark that the caller read earlier. Changes nothing.
 *
 * @param knownMarks the marks by the ids of the migrations
 * @returns by the ids of the migrations, without those that the ledger does not contain
 */
export async function readLedgersBehind(
  db: Queryable,
  knownMarks: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, boolean>> {
  const found = await sql<{ id: string; isBehind: boolean }>`
    select id, (behind_since is not null and not behind_unproven)
      or known.mark > (select coalesce(sum(m.mark), 0) from ledger_marks m where m.migration_id = id) as "isBehind"
    from migrations
    join unnest(${[...knownMarks.keys()]}::text[], ${[...knownMarks.values()]}::bigint[]) as known (migration_id, mark)
      on known.migration_id = id`.execute(db);
  return new Map(found.rows.map(({ id, isBehind }) => [id, isBehind]));
}

/**
 * Compares the ledger's mark with a mark that the caller read earlier, and flags the ledger if its mark is now lower.
 *
 * @returns the status after the comparison
 */
export async function checkLedgerMark(db: Queryable, migrationId: string, knownMark: number): Promise<LedgerStatus> {
  const status = await readLedgerStatus(db, migrationId);
  if (status.isProvenBehind || status.mark >= knownMark) return status;
  await flagLedger(db, migrationId);
  return readLedgerStatus(db, migrationId);
}

/** Flags the ledger as behind, so that no company can be claimed. Keeps the time of an earlier flag. */
export async function flagLedger(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    update migrations set behind_since = coalesce(behind_since, clock_timestamp()), behind_unproven = false
    where id = ${migrationId}`.execute(db);
}

/** Flags the ledger for a reconciliation, although nothing shows that it is behind. Keeps an earlier flag. */
export async function flagForReconciliation(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    update migrations set behind_since = clock_timestamp(), behind_unproven = true
    where id = ${migrationId} and behind_since is null`.execute(db);
}

/**
 * A reconciliation raises the mark to this amount above the known mark or the ledger's mark, whichever is higher. The
 * amount is larger than any possible number of lost claims.
 */
const RECONCILED_GAP = 1_000_000;

/**
 * Allows claims again, and raises the mark far above `knownMark`. The reason: the ledger might have lost claims of a
 * slice that is still running. `knownMark` does not include them, because a slice reports its mark to the workflow only
 * when it ends.
 */
export async function clearLedgerFlag(db: Queryable, migrationId: string, knownMark: number): Promise<void> {
  await sql`
    with raised as (
      insert into ledger_marks (migration_id, source, mark)
      values (${migrationId}, 'reconciled', greatest(0, ${knownMark}::bigint - ${markOf(migrationId)}) + ${RECONCILED_GAP})
      on conflict (migration_id, source) do update set mark = ledger_marks.mark + excluded.mark
    )
    update migrations set behind_since = null, behind_unproven = false where id = ${migrationId}`.execute(db);
}
