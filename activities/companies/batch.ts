/** The slices and looks of a batch run. */
import { cancellationSignal } from '@temporalio/activity';
import { CompanyDataError } from '../../company-data-client';
import type { StopReason } from '../../domain/companies/failures';
import { consequenceOf } from '../../domain/companies/failures';
import { paceOf } from '../../domain/planning/limits';
import { readLimits } from '../../store';
import type { CheckWork, SliceWork } from './slices';
import { verifySlice, importSlice, readAhead } from './slices';
import type { ActivityDeps } from '../deps';
import type { OpenCircuit } from './circuit-breaker';

export interface SliceReport {
  readonly claimed: number;
  readonly stop: StopReason | null;
  /** Nothing gets through to the service or its platform any more; null: something does. */
  readonly blocked: OpenCircuit | null;
  /** As the limits are now: a slice beyond them has nothing more to do. */
  readonly slicesAtOnce: number;
  /** Milliseconds until something can be claimed; null: nothing is left to claim, or the migration is paused. */
  readonly nextClaimInMs: number | null;
  /** Milliseconds until a company may be taken over whose attempt has died; null: none is importing. */
  readonly nextTakeOverInMs: number | null;
}

export interface CheckReport {
  /** Companies that are over, well or badly. */
  readonly settled: number;
  readonly stop: StopReason | null;
  /** Nothing can be seen of any company; null: of some it can. */
  readonly blocked: OpenCircuit | null;
  /** Absent in histories of before, as is the next. */
  readonly paused?: boolean;
  /** Companies could be started, were it not for the window, which is not open. */
  readonly heldByWindow?: boolean;
  /** Companies that are still syncing. */
  readonly syncing: number;
  /** Milliseconds until the next look is due; null: no company is syncing. */
  readonly nextInMs: number | null;
  /** Whether companies can be started, now or later. */
  readonly claimable: boolean;
}

/** The service does not answer, or has asked to wait. */
export interface ServiceUnavailable {
  readonly why: string;
  /** Milliseconds; 0: it does not say how long. */
  readonly afterMs: number;
}

export function batchActivities(deps: ActivityDeps) {
  return {
    /** Asks the service for something that costs nothing. Null: it answers, whatever it says. */
    async askService(): Promise<ServiceUnavailable | null> {
      try {
        await deps.service.account({ signal: cancellationSignal() });
        return null;
      } catch (error) {
        if (!(error instanceof CompanyDataError)) throw error;
        const consequence = consequenceOf('find-company', error.toFailure());
        return consequence.then === 'again' ? { why: error.message, afterMs: consequence.afterMs ?? 0 } : null;
      }
    },

    async importSlice(work: Omit<SliceWork, 'onlyRow'>): Promise<SliceReport> {
      const result = await importSlice(deps, { ...work, onlyRow: null });
      const { paused, nextClaimInMs, nextReclaimInMs: nextTakeOverInMs } = await readAhead(deps, work.migrationId);
      const { limits } = await readLimits(deps.db, work.migrationId);
      return {
        ...result,
        slicesAtOnce: paceOf(limits).slices,
        nextClaimInMs: paused ? null : nextClaimInMs,
        nextTakeOverInMs,
      };
    },

    async verifyDue(work: Omit<CheckWork, 'onlyRow' | 'everyDataSet'>): Promise<CheckReport> {
      const result = await verifySlice(deps, { ...work, onlyRow: null, everyDataSet: false });
      const { paused, heldByWindow, syncing, nextCheckInMs, nextClaimInMs } = await readAhead(deps, work.migrationId);
      const claimable = !paused && nextClaimInMs !== null;
      return { ...result, paused, heldByWindow, syncing, nextInMs: nextCheckInMs, claimable };
    },
  };
}
