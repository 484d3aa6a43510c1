import { CancellationScope, condition, getExternalWorkflowHandle, sleep, workflowInfo } from '@temporalio/workflow';
import type { SliceReport } from '../activities/batch';
import type { StopReason } from '../domain/failures';
import { records, slices } from './activity-proxies';
import { growingWait } from './growing-wait';
import { batchProgressSignal } from './messages';

export interface Batch {
  readonly migrationId: string;
  /** Counted from 1 in the migration. */
  readonly runNumber: number;
}

export interface BatchReport {
  /** Why it stopped with companies left; null: it did what could be done, or was long enough under way. */
  readonly stop: StopReason | null;
}

/** The shortest wait between two looks, and how far it grows while nothing happens: each costs a few events. */
const WAIT = { shortestMs: 500, longestMs: 60_000 };
const PROGRESS_EVERY_MS = 60_000;
const TELLING = { summary: 'Until the migration is told how far it is' };
/** A run that is still at work then leaves the rest to the next one. */
const LONGEST_RUN_MS = 24 * 3_600_000;

/** Moves and verifies the companies that can be moved now, slice after slice. */
export async function batchRun({ migrationId, runNumber }: Batch): Promise<BatchReport> {
  const run = `batch-${runNumber}`;
  let stop: StopReason | null = null;
  let allImported = false;
  let ended = false;
  const endsAt = Date.now() + LONGEST_RUN_MS;
  const isOver = (): boolean => stop !== null || Date.now() >= endsAt || workflowInfo().continueAsNewSuggested;

  async function importSlice(slice: number): Promise<SliceReport> {
    return slices.importSlice.executeWithOptions({ summary: `Move companies, slice ${slice}` }, [
      { migrationId, run, slice },
    ]);
  }

  /** Slices that have been begun, and not ended because there are too many of them now. */
  const begun = new Set<number>();
  const importing: Promise<void>[] = [];
  let broken: { readonly reason: unknown } | undefined;

  function beginSlices(slicesAtOnce: number): void {
    for (let slice = 1; slice <= slicesAtOnce; slice += 1) {
      if (begun.has(slice)) continue;
      begun.add(slice);
      importing.push(importWaiting(slice).catch((reason: unknown) => void (broken ??= { reason })));
    }
  }

  /** Claims group after group, and waits for companies whose next try is due later, until none is left to claim. */
  async function importWaiting(slice: number): Promise<void> {
    const wait = growingWait(WAIT);
    while (!isOver()) {
      const { claimed, stop: stopped, nextClaimInMs, slicesAtOnce } = await importSlice(slice);
      stop ??= stopped;
      // The limits may have been changed meanwhile.
      if (slice > slicesAtOnce) return void begun.delete(slice);
      beginSlices(slicesAtOnce);
      if (nextClaimInMs === null) return;
      await pauseFor(wait(nextClaimInMs, claimed > 0), 'Until the next company can be tried');
    }
  }

  /** When every slice has ended, whatever is still importing has lost its attempt: it is taken over in time. */
  async function importStalled(): Promise<void> {
    const wait = growingWait(WAIT);
    while (!isOver()) {
      const { claimed, stop: stopped, nextClaimInMs, nextTakeOverInMs } = await importSlice(1);
      stop ??= stopped;
      const nextInMs = nextClaimInMs ?? nextTakeOverInMs;
      if (nextInMs === null) return;
      await pauseFor(wait(nextInMs, claimed > 0), 'Until a company may be taken over');
    }
  }

  async function importAll(slicesAtOnce: number): Promise<void> {
    try {
      beginSlices(slicesAtOnce);
      // One of them may begin others while it is waited for.
      for (const slice of importing) await slice;
      if (broken) throw broken.reason;
      await importStalled();
    } finally {
      allImported = true;
    }
  }

  /** Looks at companies whose sync may be over, for as long as one is syncing or may yet come. */
  async function verifySyncs(): Promise<void> {
    const wait = growingWait(WAIT);
    for (;;) {
      const report = await slices.verifyDue.executeWithOptions({ summary: 'Check companies whose sync may be over' }, [
        { migrationId },
      ]);
      stop ??= report.stop;
      if (report.stop !== null || (allImported && (report.nextInMs === null || isOver()))) return;
      await pauseFor(wait(report.nextInMs ?? 0, report.settled > 0), 'Until the next check');
    }
  }

  async function tellTheMigration(): Promise<void> {
    const { parent } = workflowInfo();
    if (!parent) return;
    const migration = getExternalWorkflowHandle(parent.workflowId, parent.runId);
    while (!(await condition(() => ended, PROGRESS_EVERY_MS, TELLING))) {
      await migration.signal(batchProgressSignal, await records.count({ migrationId }));
    }
  }

  // The first run is the ramp: the others follow once it went well.
  const { slicesAtOnce } = await records.beginRun({ migrationId, run, ramp: runNumber === 1 });
  // To the very end: a cancelled run tells what its last slices have done, too.
  const telling = CancellationScope.nonCancellable(tellTheMigration);
  try {
    await everyoneEnded([verifySyncs(), importAll(slicesAtOnce)]);
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
