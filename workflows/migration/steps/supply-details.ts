/** Step 1, and the checks of what is added or corrected after it. */
import { condition } from '@temporalio/workflow';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import { longActivities, shortActivities } from '../../activity-proxies';
import type { MigrationContext } from '../context';
import { refreshCounts, isRecorded } from '../ledger';

/** The ledger and the vault are opened and the details checked; support accepts them, where somebody has to. */
export async function detailsSupplied(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  // Checked already: the history was cut while somebody was waited for.
  if (desk.state().preflight === null) {
    await shortActivities.openMigration({ migrationId });
    await checkDetails(desk);
  }
  // A rejection, or a correction, asks for another check.
  const ended = await desk.until((state) => isStepComplete(state, 'supply-details') || state.preflight === null);
  if (ended && desk.state().preflight) desk.end('supply-details');
}

/** After step 1 has ended, companies that are added or corrected wait for this check, beside everything else. */
export async function keepDetailsChecked(desk: MigrationContext): Promise<void> {
  const due = ({ changes, changesChecked, step }: MigrationState): boolean =>
    changes > changesChecked && step !== 'supply-details';
  for (;;) {
    await condition(() => due(desk.state()) || desk.state().closed !== null);
    if (desk.state().closed !== null) return;
    await checkDetails(desk);
  }
}

/** Checks what was supplied; what is changed meanwhile is checked next. */
async function checkDetails(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  // What is left out in the ledger is not checked.
  await condition(() => isRecorded(desk.state()));
  const { changes, proposal } = desk.state();
  const preflight = await longActivities.preflight({ migrationId, startAt: proposal?.startAt ?? null });
  await refreshCounts(desk, (state) => ({
    changesChecked: Math.max(state.changesChecked, changes),
    ...(state.changes === changes ? { preflight } : {}),
  }));
}
