/** The end of a migration: its Schedule is deleted, its ledger closed, its credentials destroyed. */
import { ActivityFailure, allHandlersFinished, condition, log, sleep } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import type { Ending } from '../../domain/migration/migration-state';
import { shortActivities, bestEffortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';

/** The result of a migration. `ferry report` reads the companies from the ledger. */
export interface Handover {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** Closes a migration after its last step, or after a decision that ended it. */
export async function closeMigration(migration: MigrationContext): Promise<Handover> {
  const { migrationId } = migration.plan;
  const ending = migration.state().closed ?? 'completed';
  if (migration.state().schedule !== 'none') await shortActivities.deleteSchedule({ migrationId });
  const counts = await closeLedger(migrationId, ending);
  migration.change((state) => ({ ...state, counts }));
  await removeUnused(migrationId);
  await condition(allHandlersFinished);
  return { ending, counts };
}

/**
 * Closes the ledger and destroys the migration's key, so that the credentials that are left cannot be read. First finds
 * out what happened to the credentials of interrupted companies, which may take until their leases have ended.
 */
export async function closeLedger(migrationId: string, ending: Ending): Promise<Counts> {
  for (;;) {
    const { againInMs } = await shortActivities.settleInterrupted({ migrationId });
    if (againInMs === null) return shortActivities.closeMigration({ migrationId, ending });
    await sleep(againInMs, { summary: 'Until no request for an interrupted company can be in flight' });
  }
}

/** Removes from the service what was created for companies that were not moved. The report lists what is left. */
export async function removeUnused(migrationId: string): Promise<void> {
  try {
    await bestEffortActivities.removeUnused({ migrationId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('companies that were created but not used are left at the service', { migrationId });
  }
}
