/** Step 1: the supplied details are checked. After it, companies that are added or corrected are checked, too. */
import { condition } from '@temporalio/workflow';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import { longActivities, shortActivities } from '../../activity-proxies';
import { isRecorded } from '../conditions';
import type { MigrationContext } from '../context';
import { refreshCounts } from '../ledger-state';

/** Opens the ledger and the vault, runs the preflight, and waits until support accepts (self-service: no errors). */
export async function supplyDetails(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  // After continue-as-new the preflight may be in the carried state.
  if (migration.state().preflight === null) {
    await shortActivities.openMigration({ migrationId });
    await runPreflight(migration);
  }
  // A rejection or a correction discards the preflight: the step is run again.
  const ended = await migration.awaitInStep(
    (state) => isStepComplete(state, 'supply-details') || state.preflight === null,
  );
  if (ended && migration.state().preflight) migration.endStep('supply-details');
}

/** Repeats the preflight after step 1 when details have changed. Runs beside the steps until the migration closes. */
export async function checkChangedDetails(migration: MigrationContext): Promise<void> {
  const isDue = ({ changes, changesChecked, step }: MigrationState): boolean =>
    changes > changesChecked && step !== 'supply-details';
  for (;;) {
    await condition(() => isDue(migration.state()) || migration.state().closed !== null);
    if (migration.state().closed !== null) return;
    await runPreflight(migration);
  }
}

/** Runs the preflight. Its result is discarded if details have changed meanwhile, because another one follows. */
async function runPreflight(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  // The preflight does not check companies that the ledger has as left out, so such decisions must be recorded first.
  await condition(() => isRecorded(migration.state()));
  const { changes, proposal } = migration.state();
  const preflight = await longActivities.preflight({ migrationId, startAt: proposal?.startAt ?? null });
  await refreshCounts(migration, (state) => ({
    changesChecked: Math.max(state.changesChecked, changes),
    ...(state.changes === changes ? { preflight } : {}),
  }));
}
