/** The importing half of a batch run: several slices claim and import companies at the same time. */
import { patched } from '@temporalio/workflow';
import type { SliceReport } from '../../activities/companies/batch';
import type { DeferralSeries } from '../../activities/companies/circuit-breaker';
import { sliceActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import type { RunContext } from './run-context';

/** The delay between two polls of the ledger in a batch run. */
export const POLL_DELAY = { shortestMs: 500, longestMs: 60_000 };

/**
 * Imports companies until no company is left to claim or to reclaim, including companies whose retry is due later. A
 * company that is waiting for its retry or for the end of its lease holds up no other company.
 */
export async function importAll(context: RunContext, slicesAtOnce: number): Promise<void> {
  let atOnce = slicesAtOnce;
  do atOnce = await importClaimable(context, atOnce);
  while (await reclaimInterrupted(context));
}

/**
 * Runs slices in parallel until no company is left to claim.
 *
 * @returns the number of slices that the limits allow at once
 */
async function importClaimable(context: RunContext, slicesAtOnce: number): Promise<number> {
  let atOnce = slicesAtOnce;
  const running = new Map<number, Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;
  /** When a company last got through in any slice. Epoch milliseconds. */
  let lastThroughAt = 0;

  /** Starts every slice that is not running: one that has ended, or one that a changed limit has added. */
  function startSlices(): void {
    for (let slice = 1; slice <= atOnce; slice += 1) {
      if (running.has(slice)) continue;
      const run = runSlice(slice)
        .catch((reason: unknown) => void (failure ??= { reason }))
        .finally(() => running.delete(slice));
      running.set(slice, run);
    }
  }

  /** Runs the activity of a slice repeatedly until no company is left. Waits for retries that are due later. */
  async function runSlice(slice: number): Promise<void> {
    const nextDelayMs = backoff(POLL_DELAY);
    let series: DeferralSeries | null = null;
    while (!context.isEnding()) {
      // The series has ended if another slice has got a company through in the meantime.
      const current: DeferralSeries | null = series !== null && series.since >= lastThroughAt ? series : null;
      const report = await importSlice(context, slice, current);
      const { claimed, outage, nextClaimInMs, nextReclaimInMs } = report;
      series = report.series ?? null;
      lastThroughAt = Math.max(lastThroughAt, report.lastThroughAt ?? 0);
      atOnce = report.slicesAtOnce;
      if (slice > atOnce || nextClaimInMs === null || endsNow(context)) return;
      if (nextClaimInMs === 0) startSlices();
      const nextInMs = Math.min(nextClaimInMs, nextReclaimInMs ?? Infinity);
      const delayMs = nextDelayMs(nextInMs, claimed > 0);
      if (outage) await context.awaitRecovery(outage, nextInMs);
      else if (!(await context.sleep(delayMs, 'Until the next company can be tried'))) continue;
      // After a decision, an outage or the end of a ramp, there can be work for all slices.
      if (!context.isEnding()) startSlices();
    }
  }

  startSlices();
  while (running.size > 0) await Promise.all(running.values());
  if (failure) throw failure.reason;
  return atOnce;
}

/**
 * Reclaims interrupted companies once their leases have ended. Called when all slices have ended, so that no attempt is
 * working on a company that is still importing.
 *
 * @returns true if the slices should run again, because other companies can be claimed or the run was woken
 */
async function reclaimInterrupted(context: RunContext): Promise<boolean> {
  const nextDelayMs = backoff(POLL_DELAY);
  while (!context.isEnding()) {
    const { claimed, outage, nextClaimInMs, nextReclaimInMs } = await importSlice(context, 1);
    if (nextClaimInMs !== null) return true;
    if (nextReclaimInMs === null || endsNow(context)) return false;
    const delayMs = nextDelayMs(nextReclaimInMs, claimed > 0);
    if (outage) await context.awaitRecovery(outage, nextReclaimInMs);
    else if (await context.sleep(delayMs, 'Until an interrupted company can be continued')) return true;
  }
  return false;
}

/**
 * Returns whether the run must end without another wait. A run can begin to end while a slice is in flight, which is
 * too late to wake the wait that follows: the next run would begin only after the lease of an interrupted company.
 * Histories of earlier versions contain that wait.
 */
function endsNow(context: RunContext): boolean {
  return context.isEnding() && patched('end-without-wait');
}

/** @param series the deferrals with which the previous slice of this number ended; null if there are none */
async function importSlice(
  context: RunContext,
  slice: number,
  series: DeferralSeries | null = null,
): Promise<SliceReport> {
  const { migrationId, runName, finishing } = context;
  // "Part", because clients read the summary and do not know what a slice is.
  const options = { summary: `Move companies, part ${slice}` };
  const report = await sliceActivities.importSlice.executeWithOptions(options, [
    { migrationId, run: runName, slice, finishing, ledgerMark: context.ledgerMark(), series },
  ]);
  context.noteLedgerMark(report.ledgerMark);
  context.recordSlice(report.claimed, report);
  return report;
}
