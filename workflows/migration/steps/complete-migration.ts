/** Step 6: batch runs move the remaining companies, and both sides sign off. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowFailure,
  ParentClosePolicy,
  rootCause,
  patched,
  startChild,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { batchSummary } from '../../../presentation/temporal-ui/batch-details';
import { countReadyOrMoving, isSameCounts } from '../../../domain/companies/counts';
import { outageSummary } from '../../../domain/migration/outage';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { automaticPause, canFinish, isPaused, pausesOf } from '../../../domain/migration/pauses';
import { batchRunIdOf, endedText, occupiedText } from '../../../domain/migration/temporal-names';
import { shortActivities } from '../../activity-proxies';
import { batchRun, type Batch, type BatchReport } from '../../batch-run';
import { runAlongside } from '../../concurrency';
import { wakeSignal } from '../../messages';
import { changedSince, isRecorded, mayEndStep, mayMove } from '../conditions';
import { now, type MigrationContext } from '../context';
import { refreshCounts, refreshEstimate, pauseMigration } from '../ledger-state';
import { whileRelinking } from '../relinking';

const STEP = 'complete-migration';

/**
 * Waits until the step is complete or companies can be moved. Then starts one batch run if needed, and waits for its
 * end. `runMigration` calls this function repeatedly until the step has ended. Companies whose end customers were asked
 * to reconnect are checked in the meantime, because a batch run can take a day.
 */
export function completeMigration(migration: MigrationContext): Promise<void> {
  return whileRelinking(migration, () => waitOrRun(migration));
}

async function waitOrRun(migration: MigrationContext): Promise<void> {
  const canMove = (state: MigrationState): boolean => mayMove(state) && countReadyOrMoving(state.counts) > 0;
  const isReady = (state: MigrationState): boolean =>
    mayEndStep(state, STEP) || needsFinishingRun(state) || canMove(state);
  if (!(await migration.awaitInStep(isReady))) return;
  const state = migration.state();
  if (mayEndStep(state, STEP)) migration.endStep(STEP);
  else if (needsFinishingRun(state)) await runBatch(migration, state.wakes);
  else if (canMove(state) && (onlySyncing(state) || (await awaitWindow(migration))))
    await runBatch(migration, state.wakes);
}

/**
 * Returns whether a run is needed although the migration is paused: an earlier run has left companies importing or
 * syncing, and they can be finished.
 */
function needsFinishingRun(state: MigrationState): boolean {
  const { counts } = state;
  return isRecorded(state) && counts.importing + counts.syncing > 0 && isPaused(state) && canFinish(pausesOf(state));
}

/** Returns whether every company that can be moved now is already syncing. Verifying them needs no window. */
function onlySyncing({ counts }: MigrationState): boolean {
  return countReadyOrMoving(counts) === counts.syncing;
}

/**
 * How long the Schedule can be late in opening a window. After that, the step calls `updateSchedule` again, which
 * creates a missing Schedule.
 */
const SCHEDULE_GRACE_MS = 5 * 60_000;

/**
 * Returns whether a batch run may begin now. If not, waits until something has changed or the next window should have
 * opened, then returns false.
 *
 * The migration's Schedule opens the windows, so that people can pause and trigger the Schedule with Temporal's own
 * tools. Within a window, a run may begin if the Schedule is not paused, or if this window has already been opened.
 */
async function awaitWindow(migration: MigrationContext): Promise<boolean> {
  const { migrationId } = migration.plan;
  const hasChanged = changedSince(migration.state());
  const { window, opensInMs } = await shortActivities.findWindow({ migrationId });
  // A migration that never had windows has no Schedule to update.
  const hasSchedule = window !== null || migration.state().schedule !== 'none';
  const schedule = hasSchedule ? await shortActivities.updateSchedule({ migrationId }) : 'none';
  const wasOpened = window !== null && migration.state().openedWindow?.opensAt === window.opensAt;
  const isLast = schedule === 'paused' && wasOpened;
  migration.change(({ noFurtherWindow: _, ...state }) => ({
    ...{ ...state, window, schedule },
    ...(isLast && { noFurtherWindow: true }),
  }));
  if (window === null) return true;
  if (opensInMs <= 0 && (schedule === 'running' || wasOpened)) return true;
  // Before the window opens, a run can only verify syncing companies, because the ledger refuses every claim.
  if (opensInMs > 0 && migration.state().counts.syncing > 0) return true;
  await migration.awaitCondition(hasChanged, {
    ms: opensInMs + SCHEDULE_GRACE_MS,
    summary: opensInMs > 0 ? 'Until the next window has opened' : 'Until the paused window schedule is checked again',
  });
  return false;
}

/** @param wakes the wakes before the Schedule was last read, see `followSchedule` */
async function runBatch(migration: MigrationContext, wakes: number): Promise<void> {
  const { migrationId } = migration.plan;
  const hasChanged = changedSince(migration.state());
  const countsBefore = migration.state().counts;
  const runNumber = migration.state().batchRuns + 1;
  migration.change((state) => ({ ...state, batchRuns: runNumber }));
  const { window, ledgerMark = 0 } = migration.state();
  const finishing = automaticPause(migration.state()) !== null;
  const batch = { migrationId, runNumber, window, ledgerMark, finishing };
  const run = await startBatchRun(batch);
  if (run === null) return awaitFreeId(migration);
  if (migration.state().outage !== null) migration.change((before) => ({ ...before, outage: null }));
  const report = await runAlongside(
    () => reportOf(run),
    // A cancelled run still finishes its slices, so it must be woken until it has ended.
    (isOver) =>
      CancellationScope.nonCancellable(() => {
        // Ends with the run. Not awaited, because that would change the order of commands in older histories.
        followSchedule(migration, wakes, isOver).catch(() => undefined);
        return wakeOnChange(migration, run, isOver);
      }),
  );
  await refreshCounts(migration, () => ({ outage: null }));
  if ('problem' in report) return awaitNextRun(migration, endedText(report.problem), now(), ENDED_DELAY_MS);
  const { stop, stopNumbers } = report;
  if (stop) await pauseMigration(migration, stop, stopNumbers);
  await refreshEstimate(migration, true);
  // Waits after a run that has changed nothing. Otherwise, such runs would follow one another immediately, for example
  // if claims are paused in the ledger but not in the migration's state.
  if (stop === null && isSameCounts(migration.state().counts, countsBefore))
    await migration.awaitCondition(hasChanged, { ms: IDLE_DELAY_MS, summary: 'Until the next batch run' });
}

/** The delay after a run that has changed nothing, in milliseconds. */
const IDLE_DELAY_MS = 30_000;

/** Starts a batch run. Returns null if another workflow occupies its id. */
async function startBatchRun(batch: Batch): Promise<ChildWorkflowHandle<typeof batchRun> | null> {
  try {
    return await startChild(batchRun, {
      args: [batch],
      workflowId: batchRunIdOf(batch.migrationId),
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: batchSummary(batch),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return null;
  }
}

/**
 * Returns the report of a run, or why the run has ended without a report: a person has terminated or cancelled it with
 * Temporal's own tools, or it has failed. The migration must not fail because of that.
 *
 * @throws the cancellation by which a decision closes the migration
 */
async function reportOf(
  run: ChildWorkflowHandle<typeof batchRun>,
): Promise<BatchReport | { readonly problem: string }> {
  try {
    return await run.result();
  } catch (error) {
    if (CancellationScope.current().consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    // For a cancelled run, `rootCause` returns no text.
    return { problem: rootCause(error) || error.message };
  }
}

/** The delay after a run that has ended without a report, in milliseconds. */
const ENDED_DELAY_MS = 60_000;

/** The delay between two attempts to start a run whose id is occupied, in milliseconds. */
const OCCUPIED_DELAY = { shortestMs: 5_000, longestMs: 5 * 60_000 };

/**
 * Shows that another workflow occupies the id of the batch run, and waits before the next attempt: for as long as the
 * id has been occupied so far, within bounds, or until something has changed. The other workflow is either the run from
 * before a reset, which ends soon, or a workflow that another program has started. The migration must not fail because
 * of that.
 */
async function awaitFreeId(migration: MigrationContext): Promise<void> {
  const { outage: known } = migration.state();
  const why = occupiedText(batchRunIdOf(migration.plan.migrationId));
  const since = known?.why === why ? known.since : now();
  const { shortestMs, longestMs } = OCCUPIED_DELAY;
  const ms = Math.max(shortestMs, Math.min(longestMs, Date.now() - Date.parse(since)));
  migration.change((state) => ({ ...state, batchRuns: state.batchRuns - 1 }));
  await awaitNextRun(migration, why, since, ms);
}

/** Shows why no batch run is running, and waits for `ms` milliseconds or until something has changed. */
async function awaitNextRun(migration: MigrationContext, why: string, since: string, ms: number): Promise<void> {
  const hasChanged = changedSince(migration.state());
  const outage = { why, since, until: new Date(Date.now() + ms).toISOString() };
  migration.change((state) => ({ ...state, outage }));
  await migration.awaitCondition(hasChanged, { ms, summary: outageSummary(outage) });
}

/** Wakes the run each time something has changed for the migration, see `changedSince`. */
async function wakeOnChange(
  migration: MigrationContext,
  run: ChildWorkflowHandle<typeof batchRun>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const hasChanged = changedSince(migration.state());
    await migration.until(() => isOver() || hasChanged(migration.state()));
    // The signal fails if the run has just ended.
    if (!isOver()) await run.signal(wakeSignal).catch(() => undefined);
  }
}

/**
 * Reads the Schedule again after each wake during a batch run, because a person might have paused or resumed it with
 * ferry. The run continues until its window closes, but views must not promise moves in a further window that does not
 * open.
 *
 * @param wakes the wakes before the Schedule was last read
 */
async function followSchedule(migration: MigrationContext, wakes: number, isOver: () => boolean): Promise<void> {
  const { migrationId } = migration.plan;
  for (let known = wakes; ;) {
    await migration.until(() => isOver() || migration.state().wakes !== known);
    if (isOver()) return;
    const { closed, schedule } = migration.state();
    known = migration.state().wakes;
    // Histories of earlier versions do not contain this activity.
    if (closed !== null || schedule === 'none' || !patched('follow-schedule')) continue;
    const current = await shortActivities.updateSchedule({ migrationId });
    migration.change(({ noFurtherWindow: _, ...state }) =>
      current === 'paused' ? { ...state, noFurtherWindow: true } : { ...state, schedule: current },
    );
  }
}
