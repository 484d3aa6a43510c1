/** The activities of a batch run: import a slice, verify the companies that are due, and probe the service. */
import { cancellationSignal } from '@temporalio/activity';
import { CompanyDataError } from '../../company-data-client';
import type { StopReason } from '../../domain/companies/failures';
import { consequenceOf } from '../../domain/companies/failures';
import { paceOf } from '../../domain/planning/pacing';
import { readLimits, readRemainingWork } from '../../store';
import type { ActivityDeps } from '../deps';
import type { OpenCircuit } from './circuit-breaker';
import type { CheckWork, SliceWork } from './slices';
import { importSlice, verifySlice } from './slices';

export interface SliceReport {
  readonly claimed: number;
  readonly stop: StopReason | null;
  /** The outage that ended the slice; null if there was none. */
  readonly outage: OpenCircuit | null;
  /** The current limit. A slice with a higher number must end. */
  readonly slicesAtOnce: number;
  /**
   * Milliseconds until a company can be claimed; null if none is ready to be claimed now or later, for example because
   * the rest wait for the ramp or for a confirmation, or if the migration is paused or the window is closed.
   */
  readonly nextClaimInMs: number | null;
  /** Milliseconds until a company can be reclaimed from an attempt that died; null if no company is importing. */
  readonly nextReclaimInMs: number | null;
}

export interface CheckReport {
  /** The number of companies whose verification has ended, whether they were moved or not. */
  readonly finished: number;
  readonly stop: StopReason | null;
  /** The outage that ended the checks; null if there was none. */
  readonly outage: OpenCircuit | null;
  /** Absent in older histories, as is `outsideWindow`. */
  readonly paused?: boolean;
  /**
   * True if the window is closed and companies could be claimed if it were open; false while the migration is paused.
   */
  readonly outsideWindow?: boolean;
  /** The number of companies that are still syncing. */
  readonly syncing: number;
  /** Milliseconds until the next check is due; null if no company is syncing. */
  readonly nextCheckInMs: number | null;
  /** True if companies can be claimed, now or later; false while the migration is paused or the window is closed. */
  readonly claimable: boolean;
}

/** Why and for how long the service cannot be used: it fails, does not respond, or asks us to wait. */
export interface ServiceUnavailable {
  readonly why: string;
  /** How long the service asks us to wait, in milliseconds; 0 if it does not say. */
  readonly afterMs: number;
}

export function batchActivities(deps: ActivityDeps) {
  return {
    /**
     * Probes the service by reading the account.
     *
     * @returns why the service cannot be used, if the call should be retried later (no response, 5xx, 409, 429);
     * otherwise null
     */
    async probeService(): Promise<ServiceUnavailable | null> {
      try {
        await deps.service.account({ signal: cancellationSignal() });
        return null;
      } catch (error) {
        if (!(error instanceof CompanyDataError)) throw error;
        const consequence = consequenceOf('find-company', error.toFailure());
        return consequence.action === 'retry' ? { why: error.message, afterMs: consequence.afterMs ?? 0 } : null;
      }
    },

    async importSlice(work: Omit<SliceWork, 'onlyRow'>): Promise<SliceReport> {
      const result = await importSlice(deps, { ...work, onlyRow: null });
      const remaining = await readRemainingWork(deps.db, work.migrationId);
      const { limits } = await readLimits(deps.db, work.migrationId);
      return {
        ...result,
        slicesAtOnce: paceOf(limits).slices,
        nextClaimInMs: remaining.paused ? null : remaining.nextClaimInMs,
        nextReclaimInMs: remaining.nextReclaimInMs,
      };
    },

    async verifySlice(work: Omit<CheckWork, 'onlyRow' | 'everyDataSet'>): Promise<CheckReport> {
      const result = await verifySlice(deps, { ...work, onlyRow: null, everyDataSet: false });
      const remaining = await readRemainingWork(deps.db, work.migrationId);
      const { paused, outsideWindow, syncing, nextCheckInMs, nextClaimInMs } = remaining;
      const claimable = !paused && nextClaimInMs !== null;
      return { ...result, paused, outsideWindow, syncing, nextCheckInMs, claimable };
    },
  };
}
