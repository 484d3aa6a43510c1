/**
 * Imports a slice of companies: claims them in groups, imports each (import.ts) and writes the outcomes, until the
 * slice ends (`runSlice` in slice.ts). The first company is imported by the same function, with its row as `onlyRow`
 * (first-company.ts).
 */
import { heartbeat, sleep } from '@temporalio/activity';
import { paceOf, type Pace } from '../../domain/planning/pacing';
import {
  beginSlice,
  checkLedgerMark,
  claimCompanies,
  createSendIntentRecorder,
  readVault,
  reclaimSent,
  recordImports,
  releaseUnsent,
  type ClaimedCompany,
  type ImportOutcome,
  type LeaseOwner,
} from '../../store';
import type { ActivityDeps } from '../deps';
import type { ImportContext } from './company-at-service';
import { CompanyImport } from './import';
import type { DeferralSeries, SliceOutage } from './circuit-breaker';
import { assessLedger } from './ledger-comparison';
import { beginAgainIfLost } from './runs';
import { platformOf, runSlice, sharedSignal, stopsFor, type SliceRun, type SliceSteps } from './slice';

export interface SliceResult extends SliceRun {
  readonly claimed: number;
  /** The highest mark that the slice has seen in the ledger. */
  readonly ledgerMark: number;
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
  /** The deferrals with which the previous slice of this number ended. Absent or null if there are none. */
  readonly series?: DeferralSeries | null;
}

/**
 * The delay before a slice searches again for interrupted companies, if its last search found none to reclaim. The
 * first search takes place when the slice begins.
 */
const RECLAIM_EVERY_MS = 1_000;

const NOTHING_CLAIMED = {
  ...{ claimed: 0, lastThroughAt: null, series: null },
  ...{ stop: null, stopNumbers: null, outage: null },
} as const;

/**
 * Claims and imports companies until the slice ends.
 *
 * @param isServiceDown probes the service after a company was deferred because of it. Absent: it is not probed
 */
export async function importSlice(
  deps: ActivityDeps,
  work: SliceWork,
  isServiceDown?: (signal: AbortSignal) => Promise<boolean>,
): Promise<SliceResult> {
  const { db, sendWithinMs } = deps;
  const { migrationId, slice, onlyRow, finishing = false } = work;
  const owner = await beginSlice(db, { migrationId, run: work.run, slice, leaseMs: deps.leaseMs });
  const trust = await assessLedger(deps, owner, work.ledgerMark);
  let knownMark = trust.mark;
  if (trust.ledger === 'behind') {
    return { ...NOTHING_CLAIMED, ledgerMark: knownMark, stop: 'ledger-behind' };
  }
  if (trust.ledger === 'reconciling') {
    return { ...NOTHING_CLAIMED, ledgerMark: knownMark, outage: reconciling(migrationId) };
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
      // Reclaimed companies go first, because they were claimed before all others. Their moves have begun already, so
      // they do not count towards the pace.
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

  const steps: SliceSteps<{ company: ClaimedCompany; sendBefore: Date }, ImportOutcome> = {
    stopsFor: stopsFor(work),
    ...(isServiceDown && { isServiceDown }),
    concurrencyOf: ({ companiesPerSliceAtOnce }) => companiesPerSliceAtOnce,
    beforeTake: async (inFlight, opened) => {
      // Waits only if no company is in flight, because the worker pool writes no outcomes while this function waits.
      if (inFlight > 0 || Date.now() >= nextClaimAt) return false;
      await Promise.race([sleep(nextClaimAt - Date.now()), opened]);
      return true;
    },
    take: async (size, limits) => {
      const pace = paceOf(limits);
      const isSurplus = onlyRow === null && slice > pace.slices;
      // Claims nothing until a whole group, or half of the companies that the slice can import at once, can begin.
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
  };
  const end = await runSlice(deps, migrationId, steps, work.series);
  // A ledger that was restored during the slice has refused further claims. The marks reveal the restore.
  const { mark, behindSince, isProvenBehind } = await checkLedgerMark(db, migrationId, knownMark);
  const stop = isProvenBehind ? 'ledger-behind' : end.stop;
  const outage = behindSince === null || isProvenBehind ? end.outage : reconciling(migrationId);
  // The numbers belong to the stop of the slice.
  const stopNumbers = isProvenBehind ? null : end.stopNumbers;
  return { claimed, ...end, stop, stopNumbers, outage, ledgerMark: Math.max(mark, knownMark) };
}

/**
 * Reports a reconciliation like an outage, so that the batch run waits and the migration is not paused, because a
 * reconciliation takes only seconds.
 */
function reconciling(migrationId: string): SliceOutage {
  const again = `if this takes more than a few minutes, run: ferry reconcile ${migrationId}`;
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
