/** The importing half of a batch run: it starts companies, several slices at once. */
import type { SliceReport } from '../../activities/companies/batch';
import { sliceActivities } from '../activity-proxies';
import { backoff } from '../backoff';
import type { RunContext } from './run-context';

/** Between two polls of the ledger in a batch run. */
export const POLL_DELAY = { shortestMs: 500, longestMs: 60_000 };

/** Starts companies until none is left that can be claimed now. */
export async function importAll(context: RunContext, slicesAtOnce: number): Promise<void> {
  /** The numbers of the slices that run, or have run until no company was left. */
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

  /** Claims one group of companies after another, and waits for retries that are due later, until none is left. */
  async function runSlice(slice: number): Promise<void> {
    const nextDelayMs = backoff(POLL_DELAY);
    while (!context.isEnding()) {
      const { claimed, blocked, nextClaimInMs, slicesAtOnce: atOnce } = await importSlice(context, slice);
      // A decision may have changed the limits: end slices that are too many, start those that are missing.
      if (slice > atOnce) return void started.delete(slice);
      startSlices(atOnce);
      if (nextClaimInMs === null) return;
      if (blocked) await context.waitOutOutage(blocked, nextClaimInMs);
      else await context.pause(nextDelayMs(nextClaimInMs, claimed > 0), 'Until the next company can be tried');
    }
  }

  startSlices(slicesAtOnce);
  // The list grows when a slice starts others.
  for (const slice of slices) await slice;
  if (failure) throw failure.reason;
  await reclaimInterrupted(context);
}

/**
 * Reclaims interrupted companies after their lease. All slices have ended, so a company that is still importing belongs
 * to a dead attempt.
 */
async function reclaimInterrupted(context: RunContext): Promise<void> {
  const nextDelayMs = backoff(POLL_DELAY);
  while (!context.isEnding()) {
    const { claimed, blocked, nextClaimInMs, nextTakeOverInMs } = await importSlice(context, 1);
    const nextInMs = nextClaimInMs ?? nextTakeOverInMs;
    if (nextInMs === null) return;
    if (blocked) await context.waitOutOutage(blocked, nextInMs);
    else await context.pause(nextDelayMs(nextInMs, claimed > 0), 'Until the lease of an interrupted company ends');
  }
}

async function importSlice(context: RunContext, slice: number): Promise<SliceReport> {
  const { migrationId, runName } = context;
  // "Part", because clients read the summary and do not know the word "slice".
  const options = { summary: `Move companies, part ${slice}` };
  const report = await sliceActivities.importSlice.executeWithOptions(options, [{ migrationId, run: runName, slice }]);
  context.note(report.claimed, report.stop, report.blocked);
  return report;
}
