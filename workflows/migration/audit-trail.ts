/** Carries decisions from the migration's state to the ledger and the audit trail. */
import { ActivityFailure, condition } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import { nextAuditBatch } from '../../domain/decisions/audit-trail';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { localActivities, shortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';

/**
 * Records decisions in the order in which they arrived, until the migration is closed. Message handlers add decisions
 * to `unrecorded`. The activity applies each of them to the ledger and adds it to the audit trail.
 *
 * Decisions that arrive while the migration is about to continue as new are carried over and recorded by the next run.
 * Otherwise a flood of messages could delay continue-as-new indefinitely.
 */
export async function recordDecisions(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  for (;;) {
    await condition(
      () =>
        (migration.state().unrecorded.length > 0 && !migration.isContinuingAsNew()) ||
        migration.state().closed !== null,
    );
    const batch = nextAuditBatch(migration.state().unrecorded);
    if (batch.length === 0) return;
    await migration.deferContinueAsNew(async () => {
      const counts = await record(migrationId, batch);
      migration.change((state) => ({ ...state, counts, unrecorded: state.unrecorded.slice(batch.length) }));
    });
  }
}

/**
 * Tries a local activity first, because it is faster. If that fails, falls back to a regular activity, which is
 * retried.
 */
async function record(migrationId: string, recorded: readonly DecisionRecord[]): Promise<Counts> {
  try {
    return await localActivities.recordDecisions({ migrationId, recorded });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return shortActivities.recordDecisions({ migrationId, recorded });
  }
}
