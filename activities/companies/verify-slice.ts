/**
 * Verifies a slice of companies: takes, in groups, those whose next check is due, verifies each (verify.ts) and writes
 * the outcomes, until the slice ends (`runSlice` in slice.ts). The first company is verified by the same function, with
 * its row as `onlyRow` (first-company.ts).
 */
import { heartbeat, sleep } from '@temporalio/activity';
import {
  readDueChecks,
  readRemainingWork,
  recordChecks,
  type CheckOutcome,
  type DueCompany,
  type RemainingWork,
} from '../../store';
import type { ActivityDeps } from '../deps';
import { verifyCompany } from './verify';
import { platformOf, runSlice, sharedSignal, stopsFor, type SliceRun } from './slice';

export interface CheckResult extends SliceRun {
  /** The number of companies whose verification has ended, whether they were moved or not. */
  readonly finished: number;
  /**
   * True if the slice has waited for checks during an import until its time was up, so that the next slice can begin at
   * once. Absent in the results of older workers.
   */
  readonly isTimeUp?: boolean;
}

export interface CheckWork {
  readonly migrationId: string;
  /** The only row to check; null if any row can be checked. */
  readonly onlyRow: number | null;
  /** True to count and time every data set; see `Verification`. */
  readonly countEveryDataSet: boolean;
  /** True if the migration is paused or closed, and only its companies in progress are finished. Default: false. */
  readonly finishing?: boolean;
  /**
   * True if the run is importing at the same time, so that more checks will become due. The slice then waits for them
   * for `CHECK_FOR_MS`, unless it is `finishing`. Default: false.
   */
  readonly whileImporting?: boolean;
}

/**
 * How long a slice waits for checks while companies are being imported. A new activity for each check would cost
 * Temporal more than the check itself: at ten companies per minute, about 40 activities and 80 workflow tasks per
 * minute. The wait is not longer, because the run learns of the results only when the slice ends.
 */
const CHECK_FOR_MS = 30_000;

/**
 * The delay between two polls of the ledger while a slice waits for checks. The delay is short at first, because a
 * small import ends within a second. It then grows, because a person would not notice more frequent checks.
 */
const LEDGER_POLL_MS = { shortest: 500, longest: 2_000 };

/**
 * Verifies the companies whose next check is due, at most as many at once as all slices together can import.
 *
 * @param isServiceDown asks whether the service is down. Called if the slice would report an outage, but has deferred
 *   only one company, because the service can fail again and again for a single company. Absent: the outage is reported
 */
export async function verifySlice(
  deps: ActivityDeps,
  work: CheckWork,
  isServiceDown?: () => Promise<boolean>,
): Promise<CheckResult> {
  const { db, service, sliceTimeLimitMs } = deps;
  const { migrationId, onlyRow, countEveryDataSet, finishing = false } = work;
  // A run that only finishes companies ends as soon as it learns that the migration has been resumed.
  const whileImporting = !finishing && (work.whileImporting ?? false);
  const waitsUntil = whileImporting ? Date.now() + Math.min(CHECK_FOR_MS, sliceTimeLimitMs) : 0;
  const platform = await platformOf(db, migrationId);
  const signal = sharedSignal();
  /** The rows in flight. The ledger lists them as due until their outcomes have been written. */
  const rowsInFlight = new Set<number>();
  const deferredRows = new Set<number>();
  let finished = 0;
  let polls = 0;

  const end = await runSlice<{ company: DueCompany; syncTimeoutMs: number }, CheckOutcome>(deps, migrationId, {
    stopsFor: stopsFor(work),
    concurrencyOf: ({ slicesAtOnce, companiesPerSliceAtOnce }) => slicesAtOnce * companiesPerSliceAtOnce,
    beforeTake: async (inFlight) => {
      let hasWaited = false;
      while (inFlight === 0 && Date.now() < waitsUntil) {
        const remaining = await readRemainingWork(db, migrationId);
        // Ends the wait and the slice, because the ramp advances only after a slice (`advanceRamp` in batch.ts).
        if (remaining.rampOnly && finished > 0) break;
        const delayMs = delayUntilCheck(remaining, polls);
        polls += 1;
        if (delayMs === null) break;
        await sleep(delayMs);
        hasWaited = true;
      }
      return hasWaited;
    },
    take: async (size, { syncTimeoutMs }) => {
      const due = await readDueChecks(db, migrationId, { size, onlyRow, without: [...rowsInFlight] });
      for (const { row } of due) rowsInFlight.add(row);
      return due.map((company) => ({ company, syncTimeoutMs }));
    },
    handle: async ({ company, syncTimeoutMs }) => {
      const result = await verifyCompany({ service, platform, syncTimeoutMs, countEveryDataSet, signal }, company);
      const isRetry = deferredRows.has(company.row);
      if (result.deferredBy) deferredRows.add(company.row);
      return { ...result, isRetry };
    },
    confirmOutage: async () => deferredRows.size > 1 || !isServiceDown || isServiceDown(),
    write: async (outcomes) => {
      const limits = await recordChecks(db, migrationId, outcomes);
      for (const { row } of outcomes) rowsInFlight.delete(row);
      finished += outcomes.filter(({ to }) => to !== 'syncing').length;
      heartbeat({ finished });
      return limits;
    },
  });
  return { finished, ...end, isTimeUp: whileImporting && Date.now() >= waitsUntil };
}

/**
 * Returns the delay before a slice that verifies companies during an import polls the ledger again.
 *
 * @param polls the number of times that the slice has polled the ledger so far
 * @returns milliseconds; null if the slice must not wait, because a check is due, or because the workflow has to
 *   decide: the migration is paused, or no company is left to import
 */
function delayUntilCheck(
  { paused, importing, nextClaimInMs, nextCheckInMs }: RemainingWork,
  polls: number,
): number | null {
  if (paused || nextCheckInMs === 0 || (importing === 0 && nextClaimInMs === null)) return null;
  const { shortest, longest } = LEDGER_POLL_MS;
  const pollMs = Math.min(longest, shortest * 2 ** polls);
  return Math.min(longest, Math.max(pollMs, nextCheckInMs ?? pollMs));
}
