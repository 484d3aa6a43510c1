/**
 * Runs a slice: the part of a batch run that one activity works through (batch.ts). The import (import-slice.ts) and
 * the verification (verify-slice.ts) differ only in their `SliceSteps`.
 *
 * Companies are taken and written in groups (worker-pool.ts). Groups follow the current limits: the statement that
 * writes outcomes also returns the limits, and the next group is usually taken immediately afterwards. After each
 * write, the slice pauses the migration if the limits no longer tolerate the failures.
 */
import { setMaxListeners } from 'node:events';
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { isIsolated, type IsolatedStop, type StopReason } from '../../domain/companies/failures';
import { exceedsTolerance, exceededToleranceText, type MigrationLimits } from '../../domain/planning/limits';
import { namedCompanies } from '../../domain/text/sentences';
import { findPlatform, type Platform } from '../../platforms/platforms';
import {
  countFailures,
  isFailureSeries,
  pauseForProblem,
  readAffected,
  readLimits,
  readMigration,
  type CheckOutcome,
  type Database,
  type ImportOutcome,
} from '../../store';
import type { ActivityDeps } from '../deps';
import {
  createCircuitBreaker,
  type CompanyResult,
  type Deferral,
  type DeferralSeries,
  type SliceOutage,
} from './circuit-breaker';
import { createServiceProbe } from './service-probe';
import { recordOutage, type SliceEnd } from './stoppages';
import { runWorkerPool } from './worker-pool';

/**
 * Which failures stop the slice. A problem with the API key or the account always stops it. `any`: also every failure
 * that could affect other companies, or too many failures (first company). `several`: also several such failures in a
 * row, or too many failures (batch). `none`: no failure of a company; used when a paused or closed migration finishes
 * its companies in progress.
 */
type StopsFor = 'any' | 'several' | 'none';

export function stopsFor({
  onlyRow,
  finishing = false,
}: {
  readonly onlyRow: number | null;
  readonly finishing?: boolean;
}): StopsFor {
  if (finishing) return 'none';
  return onlyRow === null ? 'several' : 'any';
}

/** How a slice ended, with the facts that the ledger or the next slice needs. */
export interface SliceRun extends SliceEnd {
  /** When a company last got through, epoch milliseconds; null if none did. */
  readonly lastThroughAt: number | null;
  /** The deferrals with which the slice ended; null if the last company got through, or only retries were deferred. */
  readonly series: DeferralSeries | null;
}

/** The parts in which the import and the verification differ. */
export interface SliceSteps<Item, Outcome> {
  readonly stopsFor: StopsFor;
  /** Returns how many companies the limits allow at once. */
  concurrencyOf(limits: MigrationLimits): number;
  /**
   * Waits until the next group may be taken, or until `opened` resolves because the circuit breaker has opened. Returns
   * whether it has waited. If so, the limits are read again, because they can change in the meantime.
   */
  beforeTake?(inFlight: number, opened: Promise<void>): Promise<boolean>;
  take(size: number, limits: MigrationLimits): Promise<readonly Item[]>;
  /** Returns when the pace allows the next item to be taken. Epoch milliseconds; 0 if there is no pace. */
  nextTakeAt?(): number;
  handle(item: Item): Promise<{
    readonly outcome: Outcome;
    readonly stop: StopReason | null;
    readonly deferredBy?: Deferral;
    /** True if the company neither got through nor was deferred. */
    readonly isUnanswered?: true;
    readonly isRetry: boolean;
  }>;
  /** Writes outcomes. Returns the current limits. */
  write(outcomes: readonly Outcome[]): Promise<MigrationLimits>;
  /** Returns whether an outage that the circuit breaker reports is real. Absent: every reported outage is. */
  confirmOutage?(): Promise<boolean>;
  /** Probes the service. Absent: only deferred companies open the circuit breaker. */
  isServiceDown?(signal: AbortSignal): Promise<boolean>;
}

/**
 * Takes and handles companies until the pool has ended, and sends heartbeats in the meantime.
 *
 * @param earlier the deferrals with which the previous slice ended; null if there are none
 * @throws the first error of a step or of the ledger
 */
export async function runSlice<Item, Outcome extends ImportOutcome | CheckOutcome>(
  { db, sliceTimeLimitMs }: ActivityDeps,
  migrationId: string,
  steps: SliceSteps<Item, Outcome>,
  earlier: DeferralSeries | null = null,
): Promise<SliceRun> {
  const endsAt = Date.now() + sliceTimeLimitMs;
  const signal = cancellationSignal();
  const breaker = createCircuitBreaker(earlier);
  const pauseIfTooManyFailed = watchTolerance(db, migrationId);
  let concurrency = 1;
  /** The limits as last read, or returned by a write; null until the first group is taken. */
  let limits: MigrationLimits | null = null;
  let stop: StopReason | null = null;
  let stopNumbers: string | null = null;

  const confirmedOutage = async (): Promise<SliceOutage | null> => {
    const reported = breaker.report(concurrency);
    if (reported === null) return null;
    const confirmation = steps.confirmOutage?.() ?? Promise.resolve(true);
    const isConfirmed = await confirmation.catch((error: unknown) => {
      // A cancelled slice cannot ask, but still reports what it has done.
      if (signal.aborted) return false;
      throw error;
    });
    return isConfirmed ? reported : null;
  };

  const recordConfirmed = async (): Promise<void> => {
    const found = await confirmedOutage();
    if (found !== null) await recordOutage(db, migrationId, found);
  };
  const probe = createServiceProbe({
    ...{ breaker, signal },
    isServiceDown: async (aborted) => (await steps.isServiceDown?.(aborted)) ?? null,
    onOpened: recordConfirmed,
  });

  const outage = await withHeartbeats(async () => {
    await runWorkerPool<Item, Awaited<ReturnType<typeof steps.handle>> & Pick<CompanyResult, 'beganAt' | 'endedAt'>>({
      take: async (inFlight) => {
        const hasWaited = await steps.beforeTake?.(inFlight, probe.opened);
        if (limits === null || hasWaited) ({ limits } = await readLimits(db, migrationId));
        concurrency = steps.concurrencyOf(limits);
        const size = concurrency - inFlight;
        const isOver = Date.now() >= endsAt || signal.aborted || breaker.isOpen(concurrency);
        const items = isOver || size <= 0 ? [] : await steps.take(size, limits);
        return { items, concurrency, nextTakeAt: steps.nextTakeAt?.() ?? 0 };
      },
      handle: async (item) => {
        const beganAt = Date.now();
        const result = await steps.handle(item);
        // The end is timed here, because the outcome is written later, with others.
        return { ...result, beganAt, endedAt: Date.now() };
      },
      write: async (handled) => {
        const outcomes = handled.map(({ outcome }) => outcome);
        limits = await steps.write(outcomes);
        for (const { deferredBy = null, isUnanswered = false, isRetry, beganAt, endedAt } of handled)
          if (!isUnanswered) breaker.record({ deferredBy, isRetry, beganAt, endedAt });
        for (const each of handled) {
          if (stop !== null || each.stop === null) continue;
          if (await isStopping(db, migrationId, each.stop, steps.stopsFor)) stop = each.stop;
        }
        if (stop === null && steps.stopsFor !== 'none') stopNumbers = await pauseIfTooManyFailed(outcomes, limits);
        if (stopNumbers !== null) stop ??= 'too-many-failures';
        const isOpen = breaker.isOpen(concurrency);
        // Recorded at once, because the slice ends only when the companies in flight are done.
        if (isOpen && stop === null) await recordConfirmed();
        if (!isOpen && stop === null) probe.start();
        return stop === null && !isOpen;
      },
    }).catch(async (error: unknown) => {
      probe.cancel();
      await probe.end();
      throw error;
    });
    if (stop !== null) probe.cancel();
    await probe.end();
    // Read only now, because companies in flight can have failed in the same way since the slice stopped.
    if (stop !== null && isIsolated(stop) && steps.stopsFor === 'several')
      stopNumbers = await affectedText(db, migrationId, stop);
    return confirmedOutage();
  });
  return { stop, stopNumbers, outage, lastThroughAt: breaker.lastThroughAt(), series: breaker.series() };
}

/**
 * Decides whether a slice stops. It stops if the reason affects all companies, if `stopsFor` is `any`, or if `stopsFor`
 * is `several` and the reason has occurred several times in a row.
 */
async function isStopping(db: Database, migrationId: string, reason: StopReason, stopsFor: StopsFor): Promise<boolean> {
  if (stopsFor === 'any' || !isIsolated(reason)) return true;
  return stopsFor === 'several' && isFailureSeries(db, migrationId, reason);
}

/** Says how many companies have failed for this reason so far, and names the first of them. */
async function affectedText(db: Database, migrationId: string, reason: IsolatedStop): Promise<string> {
  const { companies, references } = await readAffected(db, migrationId, reason);
  return `affected so far: ${namedCompanies(companies, references)}`;
}

/**
 * The first check counts at most this many tried companies, but all failures. Its failure rate is therefore never lower
 * than the true rate. All tried companies need to be counted only if the first rate exceeds the limit.
 */
const SAMPLE = 1_000;

/**
 * Returns a function that pauses the migration if the migration has too many failures. The function returns the failure
 * rate as text if it paused the migration, otherwise null. After the first call, the function queries the ledger only
 * if a call has found a failed company.
 */
function watchTolerance(db: Database, migrationId: string) {
  // Initially true, because companies that other slices handled may have failed.
  let someFailed = true;
  return async (
    outcomes: readonly (ImportOutcome | CheckOutcome)[],
    limits: MigrationLimits,
  ): Promise<string | null> => {
    someFailed ||= outcomes.some(({ to }) => to === 'failed' || to === 'outcome-unknown');
    if (!someFailed) return null;
    const sample = await countFailures(db, migrationId, SAMPLE);
    someFailed = sample.failed > 0;
    if (!exceedsTolerance(limits, sample)) return null;
    const failures = await countFailures(db, migrationId);
    if (!exceedsTolerance(limits, failures)) return null;
    const numbers = exceededToleranceText(limits, failures);
    await pauseForProblem(db, migrationId, { stop: 'too-many-failures', numbers });
    return numbers;
  };
}

/** Twice within the heartbeat timeout of 15 seconds. Each heartbeat is a transaction of Temporal's database. */
const HEARTBEAT_EVERY_MS = 6_000;

/** Sends heartbeats during the work, because a single group can take longer than the heartbeat timeout. */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Returns the platform of a migration. */
export async function platformOf(db: Database, migrationId: string): Promise<Platform> {
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger, or its platform is unknown`);
  return platform;
}

/** Returns the activity's cancellation signal. Disables Node's warning about many listeners. */
export function sharedSignal(): AbortSignal {
  const signal = cancellationSignal();
  setMaxListeners(0, signal);
  return signal;
}
