/**
 * The activities of a batch run: import a slice, verify the companies that are due, and probe the service.
 *
 * `importSlice` and `verifySlice` each work through one slice (slice.ts), and then report the result and the remaining
 * work. From this report, the workflow decides when to import or verify again.
 */
import { cancellationSignal } from '@temporalio/activity';
import { CompanyDataError } from '../../company-data-client';
import type { DeferralSeries } from './circuit-breaker';
import { consequenceOf, type OutageSource } from '../../domain/companies/failures';
import { paceOf } from '../../domain/planning/pacing';
import { advanceRamp, readLimits, readRemainingWork } from '../../store';
import type { ActivityDeps } from '../deps';
import { recordProbe, recordSliceEnd, recordVerificationEnd, withEarlierStop } from './stoppages';
import { verifySlice, type CheckResult, type CheckWork } from './verify-slice';
import { importSlice, type SliceResult, type SliceWork } from './import-slice';

export interface SliceReport extends Omit<SliceResult, 'lastThroughAt' | 'series'> {
  /**
   * The deferrals that the next slice continues. Null if there are none, or if the slice reports an outage. Absent in
   * the results of older workers.
   */
  readonly series?: DeferralSeries | null;
  /**
   * When a company last got through, epoch milliseconds; null if none did. Absent in the results of older workers.
   */
  readonly lastThroughAt?: number | null;
  /** The number of companies in the ramp, to which claims are restricted; null if there is no ramp. */
  readonly ramp: number | null;
  /** The number of slices that the current limits allow. A slice with a higher number must end. */
  readonly slicesAtOnce: number;
  /**
   * Milliseconds until a company can be claimed. Null if the migration is paused, if the window is closed, or if every
   * remaining company needs something else first, such as the end of the ramp or a confirmation.
   */
  readonly nextClaimInMs: number | null;
  /** Milliseconds until the first time at which a company could be reclaimed; null if no company is importing. */
  readonly nextReclaimInMs: number | null;
}

export interface CheckReport extends Omit<CheckResult, 'lastThroughAt' | 'series'> {
  /** The number of companies in the ramp, to which claims are restricted; null if there is no ramp. */
  readonly ramp: number | null;
  /** True if the migration is paused, so that no company can be claimed. */
  readonly paused: boolean;
  /** True if the window is closed and companies are ready to move; false while the migration is paused. */
  readonly outsideWindow: boolean;
  readonly syncing: number;
  /** Milliseconds until the next check is due; null if no company is syncing. */
  readonly nextCheckInMs: number | null;
  /** True if companies can be claimed, now or later; false while the migration is paused or the window is closed. */
  readonly claimable: boolean;
}

/** Why and for how long the service cannot be used: it fails, does not respond, or asks us to wait. */
export interface ServiceUnavailable {
  readonly why: string;
  /** Absent while the ledger is being reconciled. */
  readonly source?: OutageSource;
  /** How long the service asks us to wait, in milliseconds; 0 if it does not say. */
  readonly afterMs: number;
}

/** Probes the service for the activity `probeService`, and for slices that suspect an outage. */
async function probe(
  { service }: Pick<ActivityDeps, 'service'>,
  signal = cancellationSignal(),
): Promise<ServiceUnavailable | null> {
  try {
    await service.account({ signal });
    return null;
  } catch (error) {
    if (!(error instanceof CompanyDataError)) throw error;
    const consequence = consequenceOf('find-company', error.toFailure());
    if (consequence.action !== 'retry') return null;
    return { why: error.message, source: 'service', afterMs: consequence.afterMs ?? 0 };
  }
}

export function batchActivities(deps: ActivityDeps) {
  const isServiceDown = async (signal?: AbortSignal): Promise<boolean> => (await probe(deps, signal)) !== null;

  return {
    /**
     * Probes the service by reading the account.
     *
     * @returns why the service cannot be used; null if it can, or if domain/companies/failures.ts says not to retry the
     * call
     */
    async probeService(): Promise<ServiceUnavailable | null> {
      const trouble = await probe(deps);
      await recordProbe(deps.db, trouble);
      return trouble;
    },

    async importSlice(work: Omit<SliceWork, 'onlyRow'>): Promise<SliceReport> {
      const { lastThroughAt, series, ...end } = await importSlice(deps, { ...work, onlyRow: null }, isServiceDown);
      const result = await withEarlierStop(deps.db, work.migrationId, end, work.finishing);
      await recordSliceEnd(deps.db, work.migrationId, { ...result, lastThroughAt });
      const ramp = await advanceRamp(deps.db, work.migrationId);
      const remaining = await readRemainingWork(deps.db, work.migrationId);
      const { limits } = await readLimits(deps.db, work.migrationId);
      return {
        ...result,
        lastThroughAt,
        series: result.outage === null ? series : null,
        ramp,
        slicesAtOnce: paceOf(limits).slices,
        nextClaimInMs: remaining.paused ? null : remaining.nextClaimInMs,
        nextReclaimInMs: remaining.nextReclaimInMs,
      };
    },

    async verifySlice(work: Omit<CheckWork, 'onlyRow' | 'countEveryDataSet'>): Promise<CheckReport> {
      const settings = { ...work, onlyRow: null, countEveryDataSet: false };
      const { lastThroughAt, series: _, ...end } = await verifySlice(deps, settings, isServiceDown);
      const result = await withEarlierStop(deps.db, work.migrationId, end, work.finishing);
      await recordVerificationEnd(deps.db, work.migrationId, { ...result, lastThroughAt });
      const ramp = await advanceRamp(deps.db, work.migrationId);
      const remaining = await readRemainingWork(deps.db, work.migrationId);
      const { paused, outsideWindow, syncing, nextCheckInMs, nextClaimInMs } = remaining;
      const claimable = !paused && nextClaimInMs !== null;
      return { ...result, ramp, paused, outsideWindow, syncing, nextCheckInMs, claimable };
    },
  };
}
