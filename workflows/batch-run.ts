import {
  CancellationScope,
  condition,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { CheckReport } from '../activities/companies/batch';
import type { RunStart } from '../activities/migration/lifecycle';
import { batchDetails, type BatchFacts } from '../presentation/temporal-ui/batch-details';
import type { Counts } from '../domain/companies/counts';
import type { StopReason } from '../domain/companies/failures';
import type { Outage } from '../domain/migration/outage';
import type { WindowOccurrence } from '../domain/planning/windows';
import { shortActivities, sliceActivities } from './activity-proxies';
import { createRunContext, type RunContext } from './batch/run-context';
import { importAll, POLL_DELAY } from './batch/importing';
import { assertIsChildOf } from './identity';
import { backoff } from './backoff';
import { backgroundTask, runAlongside } from './concurrency';
import { batchProgressSignal, wakeSignal } from './messages';

export interface Batch {
  readonly migrationId: string;
  /** The number of this run within its migration, counted from 1. */
  readonly runNumber: number;
  /** The window in which moves may begin; null if they may begin at any time. */
  readonly window: WindowOccurrence | null;
  /**
   * True if a problem, not a person, has paused the migration: the run begins no moves, and only finishes companies
   * that are being imported or are syncing. The run then ends when the migration is resumed.
   */
  readonly finishing: boolean;
  /** The highest mark of the ledger that the migration has seen; 0 if it has seen none. */
  readonly ledgerMark: number;
}

export interface BatchReport {
  /**
   * Why the run stopped early; null if it did all it could, or left the remaining companies to the next run because of
   * its duration or its long history.
   */
  readonly stop: StopReason | null;
  /** The failure rate or the companies that led to the stop, as text for people; null if neither did. */
  readonly stopNumbers: string | null;
}

/**
 * Moves and verifies the companies that can be moved now. That includes companies that become ready during the run,
 * because their credential is supplied, a window opens, or support retries them.
 *
 * The run ends when no company is left to move or verify, when a failure stops the batch, when its history has grown
 * long, or after a day at most.
 */
export async function batchRun(batch: Batch): Promise<BatchReport> {
  const { migrationId, runNumber } = batch;
  assertIsChildOf(migrationId);
  const page = createPage(batch);
  const context = createRunContext(batch, `batch-${runNumber}`, page.showOutage);
  setHandler(wakeSignal, context.wake, {
    description:
      'Sent by the migration when something has changed, for example after a decision, so that the run checks immediately what can be done',
  });
  const begun = await shortActivities.beginRun({ migrationId, run: context.runName });
  page.showCounts(begun.counts);
  await runAlongside(
    () => moveAndVerify(context, begun, batch.window),
    // A cancelled run still reports the results of its last slices.
    (isOver) => CancellationScope.nonCancellable(() => reportProgress(context, page, isOver)),
  );
  return { stop: context.stopReason(), stopNumbers: context.stopNumbers() };
}

// A run on a versioned worker stays on that version (`PINNED`). Old versions drain, because a run ends after a day at
// most. A worker that is not versioned must not ask for `PINNED`, because Temporal would refuse all of its tasks.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  batchRun,
);

/** Verifies companies whose sync may have finished, and imports companies in the background whenever some are ready. */
async function moveAndVerify(
  context: RunContext,
  { slicesAtOnce }: RunStart,
  window: WindowOccurrence | null,
): Promise<void> {
  const { migrationId, finishing } = context;
  const importing = backgroundTask(() => importAll(context, slicesAtOnce), context.wake);
  const nextDelayMs = backoff(POLL_DELAY);
  const isDone = ({ syncing, outsideWindow }: CheckReport): boolean =>
    // In the second case, windows have been agreed since this run began without windows. The run ends, because the
    // migration creates the Schedule of the windows only between runs.
    syncing === 0 || (outsideWindow && window === null);
  importing.start();
  try {
    for (;;) {
      // While the run imports, a slice stays open and waits for checks that become due, unless the run is finishing.
      // During an outage nothing is imported, so it must not wait.
      const whileImporting = importing.isRunning() && !context.isAwaitingRecovery();
      const report = await sliceActivities.verifySlice({ migrationId, finishing, whileImporting });
      context.recordSlice(report.finished, report);
      if (finishing && !report.paused) context.end();
      if (report.claimable && !context.isEnding()) importing.start();
      if (context.stopReason() !== null) return;
      if (!importing.isRunning() && (isDone(report) || context.isEnding())) return;
      // The slice has waited itself, so a timer would only cost workflow tasks.
      if (report.isTimeUp && importing.isRunning() && !context.isAwaitingRecovery() && !report.outage) continue;
      const nextInMs = report.nextCheckInMs ?? 0;
      if (report.outage) await context.awaitRecovery(report.outage, nextInMs);
      else await context.sleep(nextDelayMs(nextInMs, report.finished > 0), 'Until the next check of syncing companies');
    }
  } finally {
    await importing.finish();
  }
}

/** The delay between two reports. It is short at first, so that people also see the progress of a small batch. */
const REPORT_DELAY = { shortestMs: 5_000, longestMs: 60_000 };

/** Reports progress to the migration: every 5 s at first, later at most once a minute. */
async function reportProgress(context: RunContext, page: BatchPage, isOver: () => boolean): Promise<void> {
  const { migration, migrationId } = context;
  if (!migration) return;
  const { shortestMs, longestMs } = REPORT_DELAY;
  let reported = 0;
  for (let delayMs = shortestMs; ; delayMs = Math.min(longestMs, 2 * delayMs)) {
    await condition(() => isOver() || context.progress() > reported);
    if (isOver()) return;
    reported = context.progress();
    const counts = await shortActivities.countCompanies({ migrationId });
    page.showCounts(counts);
    await migration.signal(batchProgressSignal);
    await condition(isOver, delayMs, { summary: 'Until the companies are counted again' });
  }
}

/** The page of the run in the Temporal UI. */
interface BatchPage {
  showCounts(counts: Counts): void;
  showOutage(this: void, outage: Outage | null): void;
}

function createPage(batch: Batch): BatchPage {
  let facts: Pick<BatchFacts, 'counts' | 'at' | 'outage'> = { counts: null, at: '', outage: null };
  const show = (changes: Partial<typeof facts>): void => {
    facts = { ...facts, ...changes };
    setCurrentDetails(batchDetails({ ...batch, ...facts }));
  };
  show({});
  return {
    showCounts: (counts) => show({ counts, at: new Date().toISOString() }),
    showOutage: (outage) => show({ outage }),
  };
}
