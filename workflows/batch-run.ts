import { CancellationScope, condition, getExternalWorkflowHandle, sleep, workflowInfo } from '@temporalio/workflow';
import type { SliceReport } from '../activities/batch';
import type { StopReason } from '../domain/failures';
import type { MigrationLimits } from '../domain/limits';
import { records, slices } from './activity-proxies';
import { growingWait } from './growing-wait';
import { batchProgressSignal } from './messages';

export interface Batch {
  readonly migrationId: string;
  /** Counted from 1 in the migration. */
  readonly runNumber: number;
  readonly limits: MigrationLimits;
}

export interface BatchReport {
  /** Why it stopped with companies left; null: it did what could be done. */
  readonly stop: StopReason | null;
}

/** The shortest wait between two looks, and how far it grows while nothing happens: each costs a few events. */
const WAIT = { shortestMs: 500, longestMs: 60_000 };
const PROGRESS_EVERY_MS = 60_000;

/** Moves and verifies the companies that can be moved now, slice after slice. */
export async function batchRun({ migrationId, runNumber, limits }: Batch): Promise<BatchReport> {
  const run = `batch-${runNumber}`;
  let stop: StopReason | null = null;
  let importing = true;
  let ended = false;

  function importSlice(slice: number): Promise<SliceReport> {
    return slices.importSlice.executeWithOptions({ summary: `Move companies, slice ${slice}` }, [
      { migrationId, run, slice },
    ]);
  }

  /** Claims group after group, and waits for companies whose next try is due later, until none is left to claim. */
  async function importWaiting(slice: number): Promise<void> {
    const wait = growingWait(WAIT);
    while (stop === null) {
      const { claimed, stop: stopped, nextClaimInMs } = await importSlice(slice);
      stop ??= stopped;
      if (nextClaimInMs === null) return;
      await pauseFor(wait(nextClaimInMs, claimed > 0), 'Until the next company can be tried');
    }
  }

  /** When every slice has ended, whatever is still importing has lost its attempt: it is taken over in time. */
  async function importStalled(): Promise<void> {
    const wait = growingWait(WAIT);
    while (stop === null) {
      const { claimed, stop: stopped, nextClaimInMs, nextTakeOverInMs } = await importSlice(1);
      stop ??= stopped;
      const nextInMs = nextClaimInMs ?? nextTakeOverInMs;
      if (nextInMs === null) return;
      await pauseFor(wait(nextInMs, claimed > 0), 'Until a company may be taken over');
    }
  }

  async function importAll(): Promise<void> {
    await everyoneEnded(Array.from({ length: limits.slicesAtOnce }, (_, index) => importWaiting(index + 1)));
    await importStalled();
    importing = false;
  }

  /** Looks at companies whose sync may be over, for as long as one is syncing or may yet come. */
  async function verifySyncs(): Promise<void> {
    const wait = growingWait(WAIT);
    for (;;) {
      const report = await slices.verifyDue.executeWithOptions({ summary: 'Check companies whose sync may be over' }, [
        { migrationId, atOnce: limits.companiesPerSliceAtOnce, syncTimeoutMs: limits.syncTimeoutMs },
      ]);
      stop ??= report.stop;
      if (report.stop !== null || (!importing && report.nextInMs === null)) return;
      await pauseFor(wait(report.nextInMs ?? 0, report.settled > 0), 'Until the next check');
    }
  }

  async function tellTheMigration(): Promise<void> {
    const { parent } = workflowInfo();
    if (!parent) return;
    const migration = getExternalWorkflowHandle(parent.workflowId, parent.runId);
    while (!(await condition(() => ended, PROGRESS_EVERY_MS))) {
      await migration.signal(batchProgressSignal, await records.count({ migrationId }));
    }
  }

  // The first run is the ramp: the others follow once it went well.
  await records.beginRun({ migrationId, run, ramp: runNumber === 1 });
  // To the very end: a cancelled run tells what its last slices have done, too.
  const telling = CancellationScope.nonCancellable(tellTheMigration);
  try {
    await everyoneEnded([verifySyncs(), importAll()]);
  } finally {
    ended = true;
    await telling;
  }
  return { stop };
}

/** A run that is cancelled ends when the last of its slices has written down what it did. */
async function everyoneEnded(works: readonly Promise<void>[]): Promise<void> {
  const broken = (await Promise.allSettled(works)).find((work) => work.status === 'rejected');
  if (broken) throw broken.reason;
}

async function pauseFor(ms: number, summary: string): Promise<void> {
  await sleep(ms, { summary });
}
