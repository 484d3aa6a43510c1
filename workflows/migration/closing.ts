/** The end of a migration: its Schedule is deleted, it is closed in the ledger, and its credentials are destroyed. */
import { ActivityFailure, allHandlersFinished, condition, log, sleep } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/counts';
import type { Activities } from '../../activities';
import type { Ending } from '../../domain/migration/migration-state';
import { bestEffortActivities, shortActivities, sliceActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import type { MigrationContext } from './context';

/** The result of a migration's workflow. Contains no companies, because `ferry report` reads them from the ledger. */
export interface MigrationResult {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** Closes a migration after its last step, or after a decision that ended it. */
export async function closeMigration(migration: MigrationContext): Promise<MigrationResult> {
  const { migrationId } = migration.plan;
  if (migration.state().schedule !== 'none') await shortActivities.deleteSchedule({ migrationId });
  const { ending, counts, reconnect } = await closeLedger(migrationId);
  migration.change((state) => ({ ...state, counts, closed: ending, ...(reconnect && { reconnect }) }));
  await deleteUnused(migrationId);
  const verified = await verifySyncing(migrationId, counts);
  migration.change((state) => ({ ...state, counts: verified }));
  await condition(allHandlersFinished);
  return { ending, counts: verified };
}

/**
 * Closes the migration in the ledger and destroys its vault, so that the remaining credentials can never be read. First
 * finds out what happened to the credentials of interrupted companies. This can take until their leases have ended.
 *
 * @returns how the migration ended, according to the recorded decisions; its counts; and the first companies whose end
 *   customers must reconnect, with their links
 */
export async function closeLedger(migrationId: string): ReturnType<Activities['closeMigration']> {
  for (;;) {
    const { retryInMs } = await shortActivities.resolveInterrupted({ migrationId });
    if (retryInMs === null) return shortActivities.closeMigration({ migrationId });
    await sleep(retryInMs, { summary: 'Until the service can be asked about an interrupted company' });
  }
}

/** The delay between two checks of the companies that are still syncing when a migration ends. */
const CHECK_DELAY = { shortestMs: 1_000, longestMs: 15 * 60_000 };

/**
 * Checks end after this time; companies then stay `syncing`. With the default limits, syncs time out earlier unless the
 * service is down.
 */
const LONGEST_CHECK_MS = 14 * 24 * 3_600_000;

/**
 * Verifies the companies that were still syncing when the migration ended, so that the report shows what became of
 * them. Needs no credentials.
 *
 * @param counts the counts when the migration ended
 * @returns the final counts
 */
export async function verifySyncing(migrationId: string, counts: Counts): Promise<Counts> {
  if (counts.syncing === 0) return counts;
  const endsAt = Date.now() + LONGEST_CHECK_MS;
  const nextDelayMs = backoff(CHECK_DELAY);
  for (;;) {
    const { syncing, nextCheckInMs, finished } = await sliceActivities.verifySlice({ migrationId, finishing: true });
    if (syncing === 0 || Date.now() >= endsAt) return shortActivities.countCompanies({ migrationId });
    await sleep(nextDelayMs(nextCheckInMs ?? 0, finished > 0), {
      summary: 'Until the companies that are still syncing are checked again',
    });
  }
}

/** Removes unused companies from the service. Best effort: the report lists those that could not be removed. */
export async function deleteUnused(migrationId: string): Promise<void> {
  try {
    await bestEffortActivities.deleteUnused({ migrationId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('some unused companies could not be removed from the service; the report lists them', {
      migrationId,
    });
  }
}
