/** Step 6: batch runs move the remaining companies, and both sides sign off. */
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import { CancellationScope, condition, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { batchSummary } from '../../../presentation/temporal-ui/batch-details';
import { movableCompanies } from '../../../domain/companies/company-state';
import { isIsolated } from '../../../domain/companies/failures';
import type { MigrationState, Pause } from '../../../domain/migration/migration-state';
import { batchRunIdOf } from '../../../domain/migration/temporal-names';
import { shortActivities } from '../../activity-proxies';
import { batchRun } from '../../batch-run';
import { runAlongside } from '../../concurrency';
import { wakeSignal } from '../../messages';
import { changedSince, isRecorded, mayEndStep, mayMove } from '../conditions';
import type { MigrationContext } from '../context';
import { refreshCounts, refreshEstimate, pauseMigration } from '../ledger-state';
import { whileRelinking } from '../relinking';

const STEP = 'complete-migration';

/**
 * Waits until the step is complete or companies can be moved, and then does one batch run if needed. `runMigration`
 * calls this function repeatedly until the step has ended. Companies whose end customers were asked to reconnect are
 * checked meanwhile, because a batch run can take a day.
 */
export async function completeMigration(migration: MigrationContext): Promise<void> {
  return whileRelinking(migration, () => waitOrRun(migration));
}

async function waitOrRun(migration: MigrationContext): Promise<void> {
  const canMove = (state: MigrationState): boolean => mayMove(state) && movableCompanies(state.counts) > 0;
  const isReady = (state: MigrationState): boolean =>
    mayEndStep(state, STEP) || needsFinishingRun(state) || canMove(state);
  if (!(await migration.awaitInStep(isReady))) return;
  const state = migration.state();
  if (mayEndStep(state, STEP)) migration.endStep(STEP);
  else if (needsFinishingRun(state)) await runBatch(migration);
  else if (canMove(state) && (onlySyncing(state) || (await windowOpened(migration)))) await runBatch(migration);
}

/**
 * Returns whether a run is needed that only finishes companies: the migration is paused, and an earlier run has left
 * companies importing or syncing.
 */
function needsFinishingRun(state: MigrationState): boolean {
  const { counts, pause } = state;
  return isRecorded(state) && counts.importing + counts.syncing > 0 && pause !== null && canFinish(pause);
}

/** Returns whether companies can be finished. They cannot if the API key or the account has caused the pause. */
function canFinish({ stopReason }: Pause): boolean {
  return stopReason === null || stopReason === 'too-many-failures' || isIsolated(stopReason);
}

/** Returns whether every company that can be moved now is already syncing. Verifying them needs no window. */
function onlySyncing({ counts }: MigrationState): boolean {
  return movableCompanies(counts) === counts.syncing;
}

/** How long to wait for the Schedule to open a window, before checking that the Schedule exists. */
const SCHEDULE_GRACE_MS = 5 * 60_000;

/**
 * Returns whether a batch run may begin now. If not, waits until something has changed or the next window should have
 * opened, then returns false.
 *
 * The migration's Schedule opens its windows, so that people can pause and trigger it with Temporal's own tools. Within
 * a window, a run may begin if the Schedule is not paused or if this window has already been opened.
 */
async function windowOpened(migration: MigrationContext): Promise<boolean> {
  const { migrationId } = migration.plan;
  const hasChanged = changedSince(migration.state());
  const { window, opensInMs } = await shortActivities.findWindow({ migrationId });
  // A migration that never had windows has no Schedule to update.
  const hasSchedule = window !== null || migration.state().schedule !== 'none';
  const schedule = hasSchedule ? await shortActivities.updateSchedule({ migrationId }) : 'none';
  migration.change((state) => ({ ...state, window, schedule }));
  if (window === null) return true;
  const isOpened = schedule === 'running' || migration.state().openedWindow?.opensAt === window.opensAt;
  if (opensInMs <= 0 && isOpened) return true;
  // Before the window opens, a run can only verify stragglers, because the ledger refuses every claim.
  if (opensInMs > 0 && migration.state().counts.syncing > 0) return true;
  await migration.awaitCondition(hasChanged, {
    ms: opensInMs + SCHEDULE_GRACE_MS,
    summary: 'Until the next window has opened',
  });
  return false;
}

async function runBatch(migration: MigrationContext): Promise<void> {
  const { migrationId } = migration.plan;
  const runNumber = migration.state().batchRuns + 1;
  migration.change((state) => ({ ...state, batchRuns: runNumber }));
  const { window, ledgerMark = 0, pause } = migration.state();
  const finishing = pause !== null && pause.stopReason !== null;
  const batch = { migrationId, runNumber, window, ledgerMark, finishing };
  const run = await startChild(batchRun, {
    args: [batch],
    workflowId: batchRunIdOf(migrationId),
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: batchSummary(batch),
  });
  const { stop, stopNumbers } = await runAlongside(
    () => run.result(),
    // A cancelled run still finishes its slices, so it must be woken until it has ended.
    (isOver) => CancellationScope.nonCancellable(() => wakeOnChange(migration, run, isOver)),
  );
  await refreshCounts(migration, () => ({ outage: null }));
  if (stop) await pauseMigration(migration, stop, stopNumbers);
  await refreshEstimate(migration, true);
}

/** Wakes the run whenever a decision has been recorded or a window has opened. */
async function wakeOnChange(
  migration: MigrationContext,
  run: ChildWorkflowHandle<typeof batchRun>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const hasChanged = changedSince(migration.state());
    await condition(() => isOver() || hasChanged(migration.state()));
    // The signal fails if the run has just ended.
    if (!isOver()) await run.signal(wakeSignal).catch(() => undefined);
  }
}
