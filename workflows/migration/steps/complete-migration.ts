/** Step 6. */
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import { CancellationScope, condition, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { batchSummary } from '../../../presentation/temporal-ui/batch-details';
import { movableCompanies } from '../../../domain/companies/company-state';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { batchRunIdOf } from '../../../domain/migration/plan';
import { isStepComplete } from '../../../domain/decisions/step-transitions';
import { shortActivities } from '../../activity-proxies';
import type { BatchReport } from '../../batch-run';
import { batchRun } from '../../batch-run';
import type { MigrationContext } from '../context';
import { lookAgainSignal } from '../../messages';
import { refreshCounts, refreshEstimate, pauseMigration, isRecorded, mayMove, changedSince } from '../ledger';
import { whileRelinking } from '../relinking';

const STEP = 'complete-migration';

/** Batch runs move the rest; both sides sign off when nothing is open any more. */
export async function remainingCompaniesMigrated(desk: MigrationContext): Promise<void> {
  const ready = (state: MigrationState): boolean =>
    isStepComplete(state, STEP) || mayVerify(state) || (mayMove(state) && movableCompanies(state.counts) > 0);
  if (!(await whileRelinking(desk, () => desk.until(ready)))) return;
  if (isStepComplete(desk.state(), STEP)) desk.end(STEP);
  else if (mayVerify(desk.state()) || onlySyncing(desk.state()) || (await windowOpened(desk))) await oneBatchRun(desk);
}

/**
 * A ramp's run ends while its slowest companies sync, so that the rest may follow. Where it may not, because somebody has
 * paused, they are verified all the same: nothing is started by that. A migration that has paused itself would only meet
 * with the same trouble again.
 */
function mayVerify(state: MigrationState): boolean {
  return isRecorded(state) && state.counts.syncing > 0 && state.pause !== null && state.pause.stop === null;
}

/** What syncs already is verified whenever it is ready: nothing is started by that. */
function onlySyncing({ counts }: MigrationState): boolean {
  return movableCompanies(counts) === counts.syncing;
}

/** Longer than an opening may be late; then it is seen to that there is somebody to open it. */
const LATE_MS = 5 * 60_000;

/**
 * Whether companies may be started now. Windows are opened by the migration's Schedule, so that people can pause and
 * trigger it in Temporal's own tools; what begins within an opening that was not paused needs no other.
 */
async function windowOpened(desk: MigrationContext): Promise<boolean> {
  const { migrationId } = desk.plan;
  const isNews = changedSince(desk);
  const { opening, opensInMs } = await shortActivities.openWindow({ migrationId });
  // Where there were no windows, and are none, there is no Schedule to keep or to delete.
  const isKept = opening !== null || desk.state().schedule !== 'none';
  const schedule = isKept ? await shortActivities.keepSchedule({ migrationId }) : 'none';
  desk.change((state) => ({ ...state, opening, schedule }));
  if (opening === null) return true;
  if (opensInMs <= 0 && (schedule === 'running' || desk.state().opened?.opensAt === opening.opensAt)) return true;
  // Before it opens the ledger lets nothing be started, and what a ramp's run has left syncing is verified.
  if (opensInMs > 0 && desk.state().counts.syncing > 0) return true;
  await desk.whileNothing(isNews, { ms: opensInMs + LATE_MS, summary: 'Until the next window has opened' });
  return false;
}

async function oneBatchRun(desk: MigrationContext): Promise<void> {
  const { migrationId } = desk.plan;
  const runNumber = desk.state().batchRuns + 1;
  desk.change((state) => ({ ...state, batchRuns: runNumber }));
  const batch = { migrationId, runNumber, opening: desk.state().opening };
  const run = await startChild(batchRun, {
    args: [batch],
    workflowId: batchRunIdOf(migrationId),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: batchSummary(batch),
  });
  const { stop } = await whileTelling(desk, run);
  await refreshCounts(desk, () => ({ standstill: null }));
  if (stop) await pauseMigration(desk, stop);
  await refreshEstimate(desk, true);
}

/** What a run reports in the end. Meanwhile it looks again whenever something was decided, or a window has opened. */
async function whileTelling(desk: MigrationContext, run: ChildWorkflowHandle<typeof batchRun>): Promise<BatchReport> {
  let over = false;
  async function tell(): Promise<void> {
    while (!over) {
      const isNews = changedSince(desk);
      await condition(() => over || isNews(desk.state()));
      // One that has just ended is not told any more.
      if (!over) await run.signal(lookAgainSignal).catch(() => undefined);
    }
  }
  // A run that is cancelled reports as well.
  const telling = CancellationScope.nonCancellable(tell);
  try {
    return await run.result();
  } finally {
    over = true;
    await telling;
  }
}
