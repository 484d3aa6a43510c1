/** The parts of a migration's state that depend on the ledger: the counts, the estimate and a pause. */
import { stopReasonText, type StopReason } from '../../domain/companies/failures';
import type { MigrationState } from '../../domain/migration/migration-state';
import { withAutomaticPause } from '../../domain/decisions/pauses';
import { shortActivities } from '../activity-proxies';
import { changedSince } from './conditions';
import { now, type MigrationContext } from './context';

/**
 * Counts the companies. If something changes during the count (`changedSince`), counts again, because the first result
 * might not include the effect of the change.
 *
 * @param otherChanges changes that are applied together with the counts
 */
export async function refreshCounts(
  migration: MigrationContext,
  otherChanges: (state: MigrationState) => Partial<MigrationState> = () => ({}),
): Promise<void> {
  const { migrationId } = migration.plan;
  for (;;) {
    const hasChanged = changedSince(migration.state());
    const counts = await shortActivities.countCompanies({ migrationId });
    if (hasChanged(migration.state())) continue;
    return migration.change((state) => ({ ...state, counts, ...otherChanges(state) }));
  }
}

/**
 * Counts the companies each time a count is requested, until the migration is closed. A batch run requests a count when
 * it reports progress. The counts come from the ledger, not from the message.
 *
 * @returns a function that requests a count. Several requests during one count lead to one more count.
 */
export function createCountRefresh(migration: MigrationContext): () => void {
  let requested = false;
  migration.whenever(
    () => requested && migration.state().closed === null,
    async () => {
      requested = false;
      await refreshCounts(migration);
    },
  );
  return () => {
    requested = true;
  };
}

/**
 * Estimates the remaining duration from the speed measured on companies that have moved. Before any speed has been
 * measured, uses the speed of an earlier migration on the platform, or else a cautious assumption.
 */
export async function refreshEstimate(migration: MigrationContext, runFinished: boolean): Promise<void> {
  const { migrationId } = migration.plan;
  const estimate = await shortActivities.estimateRemaining({ migrationId, runFinished });
  migration.change((state) => ({ ...state, estimate }));
}

/**
 * Pauses the migration because of a problem that can concern more than one company. It stays paused until support (in
 * the self-service route, the client) resumes it. Pauses by people are kept.
 *
 * @param numbers text for people: the failure rate or the companies that led to the pause; null if there is none
 * @param otherChanges changes that are applied together with the pause
 */
export async function pauseMigration(
  migration: MigrationContext,
  stop: StopReason,
  numbers: string | null,
  otherChanges: Partial<MigrationState> = {},
): Promise<void> {
  await shortActivities.pauseMigration({ migrationId: migration.plan.migrationId });
  const pause = { reason: stopReasonText(stop, numbers), by: null, stopReason: stop, at: now() };
  migration.change((state) => withAutomaticPause({ ...state, ...otherChanges }, pause));
}
