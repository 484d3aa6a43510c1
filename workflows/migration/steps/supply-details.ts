/** Step 1: the supplied details are checked. Companies that are added or corrected later are checked as well. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { longActivities, shortActivities } from '../../activity-proxies';
import { isRecorded, mayEndStep } from '../conditions';
import type { MigrationContext } from '../context';
import { refreshCounts } from '../ledger-state';

/**
 * Opens the migration in the ledger, opens its vault, runs the preflight, and waits until support has accepted the
 * details. In the self-service route, a preflight without errors is enough.
 */
export async function supplyDetails(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  // After continue-as-new, the carried state can already contain a preflight.
  if (migration.state().preflight === null) {
    await shortActivities.openMigration({ migrationId });
    await runPreflight(migration);
  }
  // A rejection or a correction discards the preflight, and the step runs again.
  const ended = await migration.awaitInStep((state) => mayEndStep(state, 'supply-details') || state.preflight === null);
  if (ended && migration.state().preflight) migration.endStep('supply-details');
}

/** Repeats the preflight each time details change after step 1, until the migration is closed. */
export function checkChangedDetails(migration: MigrationContext): void {
  const isDue = ({ changes, changesChecked, step, closed }: MigrationState): boolean =>
    changes > changesChecked && step !== 'supply-details' && closed === null;
  migration.whenever(
    () => isDue(migration.state()),
    () => runPreflight(migration),
  );
}

/** Runs the preflight. Discards its result if details change during the run, because another preflight follows. */
async function runPreflight(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  // The preflight skips companies that are left out in the ledger, so decisions must be recorded first.
  await migration.until(() => isRecorded(migration.state()));
  const { changes, proposal } = migration.state();
  const preflight = await longActivities.preflight({ migrationId, startAt: proposal?.startAt ?? null });
  await refreshCounts(migration, (state) => ({
    changesChecked: Math.max(state.changesChecked, changes),
    ...(state.changes === changes ? { preflight } : {}),
  }));
}
