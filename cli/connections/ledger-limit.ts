/** Limits how long a command waits for the ledger, so that it can still show or print what it knows. */
import { readProgress, type MigrationClient } from '../../client';
import type { Progress } from '../../domain/progress/progress';
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
