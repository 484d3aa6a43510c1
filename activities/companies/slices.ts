/**
 * Imports and verifies slices of companies.
 *
 * A slice is the part of a batch run that one activity works through (batch.ts). It takes companies in groups until it
 * ends (`runSlice` in slice.ts). The first company is moved by the same functions, with its row as `onlyRow`
 * (first-company.ts).
 */
import { setMaxListeners } from 'node:events';
import { cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import { paceOf, type Pace } from '../../domain/planning/pacing';
import { findPlatform, type Platform } from '../../platforms/platforms';
import type {
  CheckOutcome,
  ClaimedCompany,
  Database,
  DueCompany,
  ImportOutcome,
  LeaseOwner,
  RemainingWork,
} from '../../store';
import {
  beginSlice,
  checkLedgerMark,
  claimCompanies,
  createSendIntentRecorder,
  readDueChecks,
  readMigration,
  readRemainingWork,
  readVault,
  reclaimSent,
  recordChecks,
  recordImports,
  releaseUnsent,
} from '../../store';
import type { ActivityDeps } from '../deps';
import type { ImportContext } from './company-at-service';
import { CompanyImport } from './import';
import type { SliceOutage } from './circuit-breaker';
import { assessLedger } from './ledger-comparison';
import { beginAgainIfLost } from './runs';
import { verifyCompany } from './verify';
import { runSlice, stopsFor, type SliceEnd } from './slice';

export interface SliceResult extends SliceEnd {
  readonly claimed: number;
  /** The highest mark that the slice has seen in the ledger. */
  readonly ledgerMark: number;
}

export interface CheckResult extends SliceEnd {
  /** The number of companies whose verification has ended, whether they were moved or not. */
  readonly finished: number;
  /**
   * True if the slice has waited for checks during an import until its time was up, so that the next slice can begin at
   * once. Absent in the results of older workers.
   */
  readonly isTimeUp?: boolean;
}

export interface SliceWork {
  readonly migrationId: string;
  readonly run: string;
  readonly slice: number;
  /** The only row to import; null if any row can be imported. */
  readonly onlyRow: number | null;
  /** The highest mark of the ledger that the workflow has seen; 0 if it has seen none. */
  readonly ledgerMark: number;
  /** True if the slice only finishes companies that are already being imported. Default: false. */
  readonly finishing?: boolean;
}

/**
 * The delay before a slice searches again for interrupted companies, if its last search found none to reclaim. The
 * first search takes place when the slice begins.
 */
const RECLAIM_EVERY_MS = 1_000;

export async function importSlice(deps: ActivityDeps, work: SliceWork): Promise<SliceResult> {
  const { db, sendWithinMs } = deps;
  const { migrationId, slice, onlyRow, finishing = false } = work;
  const owner = await beginSlice(db, { migrationId, run: work.run, slice, leaseMs: deps.leaseMs });
  const trust = await assessLedger(deps, owner, work.ledgerMark);
  let knownMark = trust.mark;
  if (trust.ledger === 'behind') {
    return { claimed: 0, ledgerMark: knownMark, stop: 'ledger-behind', stopNumbers: null, outage: null };
  }
  if (trust.ledger === 'reconciling') {
    return { claimed: 0, ledgerMark: knownMark, stop: null, stopNumbers: null, outage: reconciling(migrationId) };
  }
  await beginAgainIfLost(db, owner, trust.currentRun);
  const context = await createImportContext(deps, owner, trust.ledger === 'current');
  let claimed = 0;
  /**
   * No company is claimed before this time, because of the limit of companies per minute. Epoch milliseconds; 0 without
   * a limit.
   */
  let nextClaimAt = 0;
  let nextReclaimAt = 0;

  /** Reclaims up to `size` companies. If there are none to reclaim, claims as many as the pace allows. */
  async function nextCompanies(size: number, pace: Pace): Promise<readonly ClaimedCompany[]> {
    if (Date.now() >= nextReclaimAt) {
      const reclaimed = await reclaimSent(db, owner, size);
      // Reclaimed companies go first, because they were claimed before all others. Their moves have begun already.
      if (reclaimed.length > 0) return reclaimed;
      await releaseUnsent(db, owner);
      nextReclaimAt = Date.now() + RECLAIM_EVERY_MS;
    }
    if (finishing) return [];
    const beganAt = Date.now();
    const companies = await claimCompanies(db, owner, Math.min(size, pace.companies), onlyRow, knownMark);
    // The slice of the first company does not wait, because it takes no other company.
    if (onlyRow === null && pace.waitMs > 0) nextClaimAt = beganAt + companies.length * pace.waitMs;
    return companies;
  }

  const end = await runSlice<{ company: ClaimedCompany; sendBefore: Date }, ImportOutcome>(deps, migrationId, {
    stopsFor: stopsFor(work),
    concurrencyOf: ({ companiesPerSliceAtOnce }) => companiesPerSliceAtOnce,
    beforeTake: async (inFlight) => {
      // Waits only if no company is in flight, because the pool must be free to write outcomes.
      if (inFlight > 0 || Date.now() >= nextClaimAt) return false;
      await sleep(nextClaimAt - Date.now());
      return true;
    },
    take: async (size, limits) => {
      const pace = paceOf(limits);
      const isSurplus = onlyRow === null && slice > pace.slices;
      // Waits until enough slots are free for a group, or half of all slots.
      const isTooFew = size < Math.min(pace.companies, Math.floor(limits.companiesPerSliceAtOnce / 2));
      if (isSurplus || isTooFew || Date.now() < nextClaimAt) return [];
      // The clock is read before the claim, so that the deadline is never later than the lease allows.
      const claimedAt = Date.now();
      const companies = await nextCompanies(size, pace);
      claimed += companies.length;
      knownMark = Math.max(knownMark, companies[0]?.ledgerMark ?? 0);
      const sendBefore = new Date(claimedAt + sendWithinMs);
      return companies.map((company) => ({ company, sendBefore }));
    },
    nextTakeAt: () => nextClaimAt,
    handle: async ({ company, sendBefore }) => {
      const result = await new CompanyImport({ ...context, sendBefore }, company).run();
      return { ...result, isRetry: company.tries > 1 };
    },
    write: async (outcomes) => {
      const limits = await recordImports(db, owner, outcomes);
      heartbeat({ claimed });
      return limits;
    },
  });
  // A ledger that was restored during the slice has refused further claims. The marks reveal the restore.
  const { mark, behindSince, isProvenBehind } = await checkLedgerMark(db, migrationId, knownMark);
  const stop = isProvenBehind ? 'ledger-behind' : end.stop;
  const outage = behindSince === null || isProvenBehind ? end.outage : reconciling(migrationId);
  return { claimed, ...end, stop, outage, ledgerMark: Math.max(mark, knownMark) };
}

/**
 * Reports a reconciliation like an outage, so that the batch run waits and the migration is not paused, because a
 * reconciliation takes only seconds.
 */
function reconciling(migrationId: string): SliceOutage {
  const again = `if this takes more than a few minutes, reconcile it again with: ferry reconcile ${migrationId}`;
  return { why: `the ledger is being reconciled; ${again}`, gotThrough: 0 };
}

async function createImportContext(
  deps: ActivityDeps,
  owner: LeaseOwner,
  ledgerIsCurrent: boolean,
): Promise<Omit<ImportContext, 'sendBefore'>> {
  const { db, keys, service } = deps;
  const { migrationId } = owner;
  return {
    migrationId,
    platform: await platformOf(db, migrationId),
    service,
    vault: await readVault(db, keys, migrationId),
    signal: sharedSignal(),
    recordSendIntent: createSendIntentRecorder(db, owner),
    ledgerIsCurrent,
  };
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
   * for `CHECK_FOR_MS`. Default: false.
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
  const { migrationId, onlyRow, countEveryDataSet, whileImporting = false } = work;
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
      if (result.deferredBy) deferredRows.add(company.row);
      return result;
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

async function platformOf(db: Database, migrationId: string): Promise<Platform> {
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger, or its platform is unknown`);
  return platform;
}

/** Returns the activity's cancellation signal. Disables Node's warning about many listeners. */
function sharedSignal(): AbortSignal {
  const signal = cancellationSignal();
  setMaxListeners(0, signal);
  return signal;
}
