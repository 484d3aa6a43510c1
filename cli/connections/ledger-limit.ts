/** Limits how long a command waits for the ledger, so that it can still show or print what it knows. */
import { queryLedgerMark, readProgress, type MigrationClient } from '../../client';
import { isOver } from '../../domain/migration/terminated';
import { withReconciledLedger } from '../../domain/progress/ledger-behind';
import type { Progress } from '../../domain/progress/progress';
import { readLedgersBehind } from '../../store';
import { withTimeout } from './waiting';

/** Needed because a stopped database might not answer at all, not even with an error. */
const LEDGER_WITHIN_MS = 4_000;

/**
 * Rejects if the ledger has not answered within 4 s.
 *
 * @param otherMs how much longer the reading may take because it also reads something else, in milliseconds. Default 0
 */
export function withLedgerLimit<Result>(reading: Promise<Result>, otherMs = 0): Promise<Result> {
  return withTimeout(otherMs + LEDGER_WITHIN_MS, reading);
}

/**
 * Reads the progress like `readProgress`, but rejects after `answerWithinMs` and another 4 s, because it also reads the
 * ledger.
 *
 * @param answerWithinMs how long to wait for a worker, in milliseconds
 */
export function readProgressInTime(
  ferry: MigrationClient,
  migrationId: string,
  answerWithinMs: number,
): Promise<Progress> {
  return withLedgerLimit(readProgress(ferry, migrationId, answerWithinMs), answerWithinMs);
}

/** Time-out of the query for the workflow's mark, and then of the search for the reason if no worker answers. */
const MARK_WITHIN_MS = 2_000;

/**
 * Adds whether the mark or the service has shown that the ledger is behind: false after the end, without a ledger, and
 * if the ledger does not have the migration. If it is not behind, a migration that has paused itself because of the
 * ledger has only to be resumed. Rejects if this takes longer than 8 s.
 */
export async function withLedgerState(
  ferry: MigrationClient,
  progress: Progress,
): Promise<{ readonly progress: Progress; readonly ledgerBehind: boolean }> {
  const { db } = ferry;
  const { migrationId, state } = progress;
  if (!db || isOver(state)) return { progress, ledgerBehind: false };
  // The workflow is queried first, because the ledger's mark can only rise in the meantime.
  const reading = queryLedgerMark(ferry, migrationId, MARK_WITHIN_MS).then((mark) =>
    readLedgersBehind(db, new Map([[migrationId, mark]])),
  );
  const isBehind = (await withLedgerLimit(reading, 2 * MARK_WITHIN_MS)).get(migrationId);
  return { progress: isBehind === false ? withReconciledLedger(progress) : progress, ledgerBehind: isBehind ?? false };
}
