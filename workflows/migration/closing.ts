/** The end of a migration: its Schedule is deleted, its ledger is closed, and its credentials are destroyed. */
import { ActivityFailure, allHandlersFinished, condition, log, sleep } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import type { Ending } from '../../domain/migration/migration-state';
import { shortActivities, bestEffortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';

/** The result of a migration's workflow. `ferry report` reads the companies from the ledger. */
export interface MigrationResult {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** Closes a migration after its last step, or after a decision that ended it. */
export async function closeMigration(migration: MigrationContext): Promise<MigrationResult> {
  const { migrationId } = migration.plan;
  if (migration.state().schedule !== 'none') await shortActivities.deleteSchedule({ migrationId });
  const { ending, counts } = await closeLedger(migrationId);
  migration.change((state) => ({ ...state, counts, closed: ending }));
  await deleteUnused(migrationId);
  await condition(allHandlersFinished);
  return { ending, counts };
}

/**
 * Closes the ledger and destroys the migration's key, so that the remaining credentials can never be read. Before that,
 * finds out what happened to the credentials of interrupted companies, which can take until their leases have ended.
 *
 * @returns how it ended, according to the recorded decisions
 */
export async function closeLedger(migrationId: string): Promise<MigrationResult> {
  for (;;) {
    const { retryInMs } = await shortActivities.resolveInterrupted({ migrationId });
    if (retryInMs === null) return shortActivities.closeMigration({ migrationId });
    await sleep(retryInMs, { summary: 'Until no request for an interrupted company can be in flight' });
  }
}

/** Removes unused companies from the service. Best effort: the report lists those that could not be removed. */
export async function deleteUnused(migrationId: string): Promise<void> {
  try {
    await bestEffortActivities.deleteUnused({ migrationId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('some unused companies could not be removed from the service; to list them, run: ferry report', {
      migrationId,
    });
  }
}
