/** The path of decisions from the migration's state to the ledger and the audit trail. */
import { ActivityFailure, condition } from '@temporalio/workflow';
import type { Counts } from '../../domain/companies/company-state';
import { nextAuditBatch } from '../../domain/decisions/audit-trail';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import { localActivities, shortActivities } from '../activity-proxies';
import type { MigrationContext } from './context';

/**
 * Records decisions in the order in which they were taken, for as long as the migration lives. Message handlers add
 * them to `unrecorded`; the activity applies each to the ledger and adds it to the audit trail.
 *
 * Decisions that arrive while the migration is about to continue as new are carried over and recorded after it, because
 * a flood of messages would otherwise put that off without end.
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

/** Tries a local activity first, because it is faster, and then a regular one, which is retried until it succeeds. */
async function record(migrationId: string, recorded: readonly DecisionRecord[]): Promise<Counts> {
  try {
    return await localActivities.recordDecisions({ migrationId, recorded });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return shortActivities.recordDecisions({ migrationId, recorded });
  }
}
