import { CancellationScope, condition, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { CheckReport } from '../activities/companies/batch';
import type { RunBegun } from '../activities/migration/lifecycle';
import { batchDetails } from '../presentation/temporal-ui/batch-details';
import type { Counts } from '../domain/companies/company-state';
import type { StopReason } from '../domain/companies/failures';
import type { WindowOccurrence } from '../domain/planning/windows';
import { shortActivities, sliceActivities } from './activity-proxies';
import type { RunContext } from './batch/run-context';
import { openRunContext } from './batch/run-context';
import { importAll, WAIT } from './batch/importing';
import { backoff } from './backoff';
import { batchProgressSignal, lookAgainSignal } from './messages';

export interface Batch {
  readonly migrationId: string;
  /** Counted from 1 in the migration. */
  readonly runNumber: number;
  /** The window it may start companies in; null: it may at any time. */
  readonly opening: WindowOccurrence | null;
}

export interface BatchReport {
  /** Why it stopped with companies left; null: it did what could be done, or was long enough under way. */
  readonly stop: StopReason | null;
}

/**
 * Moves and verifies the companies that can be moved now. What can be moved only while others still sync, because it was
 * supplied late, a window has opened, or it is tried again, is moved as well.
 */
export async function batchRun(batch: Batch): Promise<BatchReport> {
  const { migrationId, runNumber } = batch;
  const course = openRunContext(migrationId, `batch-${runNumber}`);
  setHandler(lookAgainSignal, course.wake, { description: 'Sent by the migration when something was decided' });
  show(batch, null);
  // The first run is the ramp: the others follow once it went well.
  const begun = await shortActivities.beginRun({ migrationId, run: course.run, ramp: runNumber === 1 });
  show(batch, begun.counts);
  // To the very end: a cancelled run tells what its last slices have done, too.
  let ended = false;
  const telling = CancellationScope.nonCancellable(() => tellTheMigration(batch, course, () => ended));
  try {
    await moveAndVerify(course, begun, batch.opening);
  } finally {
    ended = true;
    await telling;
  }
  return { stop: course.stop() };
}

/**
 * Looks at companies whose sync may be over, and starts companies beside it whenever some can be started.
 */
async function moveAndVerify(
  course: RunContext,
  { slicesAtOnce, mayStillSync }: RunBegun,
  opening: WindowOccurrence | null,
): Promise<void> {
  const { migrationId } = course;
  const importing = beside(() => importAll(course, slicesAtOnce), course.wake);
  const wait = backoff(WAIT);
  const isDone = ({ syncing, paused = false, heldByWindow = false }: CheckReport): boolean => {
    // Windows that were agreed on meanwhile are opened by a Schedule, which the migration makes before its next run.
    if (heldByWindow && opening === null) return true;
    // The slowest of a ramp are left behind for others to follow, not for nobody.
    return syncing <= (paused || heldByWindow ? 0 : mayStillSync);
  };
  importing.begin();
  try {
    for (;;) {
      const report = await sliceActivities.verifyDue({ migrationId });
      course.report(report.settled, report.stop, report.blocked);
      if (report.claimable && !course.isOver()) importing.begin();
      if (course.stop() !== null) return;
      if (!importing.isUnderWay() && (isDone(report) || course.isOver())) return;
      const nextInMs = report.nextInMs ?? 0;
      if (report.blocked) await course.standStill(report.blocked, nextInMs);
      else await course.pause(wait(nextInMs, report.settled > 0), 'Until the next check');
    }
  } finally {
    await importing.ended();
  }
}

/** Work beside other work, one at a time; how it failed is known at the end. */
function beside(work: () => Promise<void>, onEnd: () => void) {
  let current: Promise<void> | null = null;
  let broken: { readonly reason: unknown } | undefined;
  return {
    isUnderWay: () => current !== null,
    begin: (): void => {
      if (broken) throw broken.reason;
      current ??= work()
        .catch((reason: unknown) => void (broken ??= { reason }))
        .finally(() => {
          current = null;
          onEnd();
        });
    },
    ended: async (): Promise<void> => {
      await current;
      if (broken) throw broken.reason;
    },
  };
}

const TELL_EVERY_MS = 60_000;
const TELLING = { summary: 'Until the migration is told again how far it is' };

async function tellTheMigration(batch: Batch, course: RunContext, isOver: () => boolean): Promise<void> {
  const { migration } = course;
  if (!migration) return;
  for (let told = 0; ;) {
    await condition(() => isOver() || course.moved() > told);
    if (isOver()) return;
    told = course.moved();
    const counts = await shortActivities.count({ migrationId: course.migrationId });
    show(batch, counts);
    await migration.signal(batchProgressSignal, counts);
    await condition(isOver, TELL_EVERY_MS, TELLING);
  }
}

function show(batch: Batch, counts: Counts | null): void {
  setCurrentDetails(batchDetails({ ...batch, counts, at: new Date().toISOString() }));
}
