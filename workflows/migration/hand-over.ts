import { ActivityFailure, allHandlersFinished, condition, log, sleep } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import type { Ending } from '../../domain/migration/migration-state';
import { shortActivities, bestEffortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';

/** How a migration ended. The companies are in the ledger, and `ferry report` reads them there. */
export interface Handover {
  readonly ending: Ending;
  readonly counts: Counts;
}

/** Hands over what became of a migration, and leaves nothing of it behind. */
export async function handOver(desk: MigrationContext): Promise<Handover> {
  const { migrationId } = desk.plan;
  const ending = desk.state().closed ?? 'completed';
  if (desk.state().schedule !== 'none') await shortActivities.deleteSchedule({ migrationId });
  const counts = await ledgerClosed(migrationId, ending);
  desk.change((state) => ({ ...state, counts }));
  await unusedRemoved(migrationId);
  await condition(allHandlersFinished);
  return { ending, counts };
}

/**
 * Closes the ledger; the credentials that are left are destroyed with the key that opened them. Before, it is found out
 * what became of the credentials of companies whose attempt died.
 */
export async function ledgerClosed(migrationId: string, ending: Ending): Promise<Counts> {
  for (;;) {
    const { againInMs } = await shortActivities.settleInterrupted({ migrationId });
    if (againInMs === null) return shortActivities.closeMigration({ migrationId, ending });
    await sleep(againInMs, { summary: 'Until nothing of an interrupted company can be on its way' });
  }
}

/** What was created at the service for companies that were not moved goes; what cannot be removed, the report lists. */
export async function unusedRemoved(migrationId: string): Promise<void> {
  try {
    await bestEffortActivities.removeUnused({ migrationId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('companies that were created and not used are left at the service', { migrationId });
  }
}
