/** The half of a batch run that starts companies. */
import type { SliceReport } from '../../activities/companies/batch';
import { sliceActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import type { RunContext } from './run-context';

/** The shortest wait between two looks, and how far it grows while nothing happens: each costs a few events. */
export const WAIT = { shortestMs: 500, longestMs: 60_000 };

/** Starts companies, slice beside slice, until none is left that can be claimed now. */
export async function importAll(course: RunContext, slicesAtOnce: number): Promise<void> {
  /** Slices that have been begun, and not ended because there are too many of them now. */
  const begun = new Set<number>();
  const importing: Promise<void>[] = [];
  let broken: { readonly reason: unknown } | undefined;

  function begin(atOnce: number): void {
    for (let slice = 1; slice <= atOnce; slice += 1) {
      if (begun.has(slice)) continue;
      begun.add(slice);
      importing.push(importWaiting(slice).catch((reason: unknown) => void (broken ??= { reason })));
    }
  }

  /** Claims group after group, and waits for companies whose next try is due later, until none is left to claim. */
  async function importWaiting(slice: number): Promise<void> {
    const wait = backoff(WAIT);
    while (!course.isOver()) {
      const { claimed, blocked, nextClaimInMs, slicesAtOnce: atOnce } = await importSlice(course, slice);
      // The limits may have been changed meanwhile.
      if (slice > atOnce) return void begun.delete(slice);
      begin(atOnce);
      if (nextClaimInMs === null) return;
      if (blocked) await course.standStill(blocked, nextClaimInMs);
      else await course.pause(wait(nextClaimInMs, claimed > 0), 'Until the next company can be tried');
    }
  }

  begin(slicesAtOnce);
  // One of them may begin others while it is waited for.
  for (const slice of importing) await slice;
  if (broken) throw broken.reason;
  await takeOverStalled(course);
}

/** When every slice has ended, whatever is still importing has lost its attempt: it is taken over in time. */
async function takeOverStalled(course: RunContext): Promise<void> {
  const wait = backoff(WAIT);
  while (!course.isOver()) {
    const { claimed, blocked, nextClaimInMs, nextTakeOverInMs } = await importSlice(course, 1);
    const nextInMs = nextClaimInMs ?? nextTakeOverInMs;
    if (nextInMs === null) return;
    if (blocked) await course.standStill(blocked, nextInMs);
    else await course.pause(wait(nextInMs, claimed > 0), 'Until a company may be taken over');
  }
}

async function importSlice(course: RunContext, slice: number): Promise<SliceReport> {
  const { migrationId, run } = course;
  const options = { summary: `Move companies, part ${slice}` };
  const report = await sliceActivities.importSlice.executeWithOptions(options, [{ migrationId, run, slice }]);
  course.report(report.claimed, report.stop, report.blocked);
  return report;
}
