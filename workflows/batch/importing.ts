/** The importing half of a batch run: several slices claim and import companies at the same time. */
import type { SliceReport } from '../../activities/companies/batch';
import { sliceActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import type { RunContext } from './run-context';

/** The delay between two polls of the ledger in a batch run. */
export const POLL_DELAY = { shortestMs: 500, longestMs: 60_000 };

/** Imports companies until no company is left to claim, including companies whose retry is due later. */
export async function importAll(context: RunContext, slicesAtOnce: number): Promise<void> {
  /** The numbers of the slices that are running, or that have ended because no company was left. */
  const started = new Set<number>();
  const slices: Promise<void>[] = [];
  let failure: { readonly reason: unknown } | undefined;

  function startSlices(atOnce: number): void {
    for (let slice = 1; slice <= atOnce; slice += 1) {
      if (started.has(slice)) continue;
      started.add(slice);
      slices.push(runSlice(slice).catch((reason: unknown) => void (failure ??= { reason })));
    }
  }

  /** Runs the activity of a slice repeatedly until no company is left. Waits for retries that are due later. */
  async function runSlice(slice: number): Promise<void> {
    const nextDelayMs = backoff(POLL_DELAY);
    while (!context.isEnding()) {
      const { claimed, outage, nextClaimInMs, slicesAtOnce: atOnce } = await importSlice(context, slice);
      // A decision may have changed the limits: end this slice if it is surplus, and start the slices that are missing.
      if (slice > atOnce) return void started.delete(slice);
      startSlices(atOnce);
      if (nextClaimInMs === null) return;
      if (outage) await context.waitOutOutage(outage, nextClaimInMs);
      else await context.sleep(nextDelayMs(nextClaimInMs, claimed > 0), 'Until the next company can be tried');
    }
  }

  startSlices(slicesAtOnce);
  // The list can grow during this loop, because a slice can start others.
  for (const slice of slices) await slice;
  if (failure) throw failure.reason;
  await reclaimInterrupted(context);
}

/**
 * Reclaims interrupted companies once their leases have ended. All slices have ended, so the attempt of every company
 * that is still importing has died.
 */
async function reclaimInterrupted(context: RunContext): Promise<void> {
  const nextDelayMs = backoff(POLL_DELAY);
  while (!context.isEnding()) {
    const { claimed, outage, nextClaimInMs, nextReclaimInMs } = await importSlice(context, 1);
    const nextInMs = nextClaimInMs ?? nextReclaimInMs;
    if (nextInMs === null) return;
    if (outage) await context.waitOutOutage(outage, nextInMs);
    else await context.sleep(nextDelayMs(nextInMs, claimed > 0), 'Until the lease of an interrupted company ends');
  }
}

async function importSlice(context: RunContext, slice: number): Promise<SliceReport> {
  const { migrationId, runName } = context;
  // "Part", because clients read the summary and do not know what a slice is.
  const options = { summary: `Move companies, part ${slice}` };
  const report = await sliceActivities.importSlice.executeWithOptions(options, [{ migrationId, run: runName, slice }]);
  context.recordSlice(report.claimed, report.stop, report.outage);
  return report;
}
