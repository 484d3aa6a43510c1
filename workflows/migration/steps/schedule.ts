/** Step 2. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import { shortActivities } from '../../activity-proxies';
import type { MigrationContext } from '../context';
import { isRecorded } from '../ledger';

/** The duration is estimated, anew for each proposal and other limits; both sides approve the same time. */
export async function timeAgreed(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  for (;;) {
    // Windows that were proposed are in the ledger when they are estimated with.
    if (!(await desk.until(isRecorded))) return;
    const { proposal, limits } = desk.state();
    const estimate = await shortActivities.estimatePlan({ migrationId, startAt: proposal?.startAt ?? null });
    desk.change((state) => ({ ...state, estimate }));
    const agreed = (state: MigrationState): boolean => isRecorded(state) && isStepComplete(state, 'schedule');
    const isOther = (state: MigrationState): boolean => state.proposal !== proposal || state.limits !== limits;
    if (!(await desk.until((state) => agreed(state) || isOther(state)))) return;
    if (agreed(desk.state())) return desk.end('schedule');
  }
}
