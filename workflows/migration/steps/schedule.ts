/** Step 2: the duration is estimated, and client and support agree on a start. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { withoutEnds } from '../../../domain/planning/estimate';
import { shortActivities } from '../../activity-proxies';
import { isRecorded, mayEndStep } from '../conditions';
import type { MigrationContext } from '../context';

/** Estimates the duration for every new proposal and every change of limits, until both sides approve a proposal. */
export async function scheduleMigration(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  for (;;) {
    // Waits for the ledger, because the estimate reads the proposed windows from it.
    if (!(await migration.awaitInStep(isRecorded))) return;
    const { proposal, limits } = migration.state();
    const estimate = await shortActivities.estimatePlan({ migrationId, startAt: proposal?.startAt ?? null });
    const isAgreed = (state: MigrationState): boolean => mayEndStep(state, 'schedule');
    const isOutdated = (state: MigrationState): boolean => state.proposal !== proposal || state.limits !== limits;
    migration.change((state) => ({ ...state, estimate: isOutdated(state) ? withoutEnds(estimate) : estimate }));
    if (!(await migration.awaitInStep((state) => isAgreed(state) || isOutdated(state)))) return;
    if (isAgreed(migration.state())) return migration.endStep('schedule');
  }
}
