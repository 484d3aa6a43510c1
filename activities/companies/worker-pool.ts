/**
 * Worker pool of a slice: handles companies concurrently, but takes them and writes their outcomes in groups.
 *
 * Groups keep the number of SQL statements small: one statement claims many companies, and one writes many outcomes. No
 * company waits for another company, so a slow company does not delay the others.
 *
 * `runSlice` is used by the import and by the verification, which differ only in their `SliceSteps`. Each group follows
 * the current limits: the statement that writes outcomes also returns the limits, and the next group is taken
 * immediately afterwards. After each group the slice pauses the migration if the limits no longer tolerate the
 * failures. `runWorkerPool` is the loop itself.
 *
 * ## Modes
 *
 * - FILLING, the initial mode. When at most half of the slots are busy, `take` is called for more items, and each of
 *   them starts at once. It is called again after the next write, or at the time that it names if a slot is free then,
 *   because the pace can allow another company while items are in flight. It returns none if no company can be taken
 *   now, the slice's time is up, or the activity is cancelled.
 *   - `write` returned false, or `handle` threw -> DRAINING. `write` returns false if an outcome stops the run, the
 *     slice has paused the migration because of its failures, or the circuit breaker is open.
 *   - `take` returned none, and no item is in flight or unwritten -> ENDED.
 * - DRAINING. No more items are taken. Items in flight run to completion and are written.
 *   - No item is in flight or unwritten -> ENDED.
 * - ENDED. The pool returns, or throws the first error of `handle`.
 *
 * If `take` or `write` itself throws, the pool waits for the items in flight and throws that error. Results that were
 * not written are lost. The attempt still owns their companies, and the next attempt reclaims them
 * (store/companies/lease.ts).
 *
 * ## When results are written
 *
 * Results are written as soon as one of these is true: half of the slots have a result, the oldest result has waited
 * for 200 ms, or no item is in flight. Results that arrive in the same turn of the event loop are written together.
 * After every write, items are taken if at most half of the slots are busy, so slots are also filled in groups.
 */
import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { StopReason } from '../../domain/companies/failures';
import { isIsolated } from '../../domain/companies/failures';
import type { MigrationLimits } from '../../domain/planning/limits';
import { exceedsTolerance, exceededToleranceText } from '../../domain/planning/limits';
import type { CheckOutcome, Database, ImportOutcome } from '../../store';
import { countFailures, pauseForProblem, readFailureSeries, readLimits, reportStop } from '../../store';
import type { ActivityDeps } from '../deps';
import type { Deferral, SliceOutage } from './circuit-breaker';
import { createCircuitBreaker } from './circuit-breaker';

/** Why a slice ended early. */
export interface SliceEnd {
  readonly stop: StopReason | null;
  /**
   * The failure rate that stopped the slice, or the companies that stopped it, as text for people. Null if neither did.
   */
  readonly stopNumbers: string | null;
  /** The outage that the slice reports; null if there is none. */
  readonly outage: SliceOutage | null;
}

/**
 * Which failures stop the slice. `any`: every failure that could affect other companies (first company). `several`:
 * several in a row, or too many (batch). `none`: no failure of a company, only a problem with the API key or the
 * account; used when a paused or closed migration finishes its companies in progress.
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

/** The parts in which the import and the verification differ. */
interface SliceSteps<Item, Outcome> {
  readonly stopsFor: StopsFor;
  /** Returns how many companies the limits allow at once. */
  concurrencyOf(limits: MigrationLimits): number;
  /**
   * Waits until the next group may be taken. Returns whether it has waited. If so, the limits are read again, because
   * they can change in the meantime.
   */
  beforeTake?(inFlight: number): Promise<boolean>;
  take(size: number, limits: MigrationLimits): Promise<readonly Item[]>;
  /** Returns when the pace allows the next item to be taken. Epoch milliseconds; 0 if there is no pace. */
  nextTakeAt?(): number;
  handle(item: Item): Promise<{
    readonly outcome: Outcome;
    readonly stop: StopReason | null;
    readonly deferredBy?: Deferral;
    /** True if the company has been tried before. */
    readonly isRetry?: boolean;
  }>;
  /** Writes outcomes. Returns the current limits. */
  write(outcomes: readonly Outcome[]): Promise<MigrationLimits>;
  /** Returns whether an outage that the circuit breaker reports is one. Absent: every such outage is one. */
  confirmOutage?(): Promise<boolean>;
}

/**
 * Takes and handles companies until the pool has ended, and sends heartbeats in the meantime.
 *
 * @throws the first error of a step or of the ledger
 */
export async function runSlice<Item, Outcome extends ImportOutcome | CheckOutcome>(
  { db, sliceTimeLimitMs }: ActivityDeps,
  migrationId: string,
  steps: SliceSteps<Item, Outcome>,
): Promise<SliceEnd> {
  const endsAt = Date.now() + sliceTimeLimitMs;
  const signal = cancellationSignal();
  const breaker = createCircuitBreaker();
  const pauseIfTooManyFailed = watchTolerance(db, migrationId);
  let concurrency = 1;
  /** The limits as last read, or returned by a write; null until the first group is taken. */
  let limits: MigrationLimits | null = null;
  let stop: StopReason | null = null;
  let stopNumbers: string | null = null;

  const outage = await withHeartbeats(async () => {
    await runWorkerPool<Item, Awaited<ReturnType<typeof steps.handle>>>({
      take: async (inFlight) => {
        const hasWaited = await steps.beforeTake?.(inFlight);
        if (limits === null || hasWaited) ({ limits } = await readLimits(db, migrationId));
        concurrency = steps.concurrencyOf(limits);
        const size = concurrency - inFlight;
        const isOver = Date.now() >= endsAt || signal.aborted;
        const items = isOver || size <= 0 ? [] : await steps.take(size, limits);
        return { items, concurrency, nextTakeAt: steps.nextTakeAt?.() ?? 0 };
      },
      handle: (item) => steps.handle(item),
      write: async (handled) => {
        const outcomes = handled.map(({ outcome }) => outcome);
        limits = await steps.write(outcomes);
        for (const { deferredBy = null, isRetry = false } of handled) breaker.record(deferredBy, isRetry);
        for (const each of handled) {
          if (stop !== null || each.stop === null) continue;
          const concerned = await concernedBy(db, migrationId, each.stop, steps.stopsFor);
          if (concerned !== null)
            [stop, stopNumbers] = [each.stop, concerned.length === 0 ? null : `companies ${concerned.join(', ')}`];
        }
        if (stop === null && steps.stopsFor !== 'none') stopNumbers = await pauseIfTooManyFailed(outcomes, limits);
        if (stopNumbers !== null) stop ??= 'too-many-failures';
        return stop === null && !breaker.isOpen(concurrency);
      },
    });
    const reported = breaker.report(concurrency);
    return reported !== null && (await steps.confirmOutage?.()) === false ? null : reported;
  });
  return { stop, stopNumbers, outage };
}

/**
 * Decides whether a slice stops. It stops if the reason affects all companies, if `stopsFor` is `any`, or if it is
 * `several` and the reason has occurred several times in a row.
 *
 * @returns null if the slice continues; otherwise the references of the companies that failed in a row, or an empty
 *   list if a single failure is enough
 */
async function concernedBy(
  db: Database,
  migrationId: string,
  reason: StopReason,
  stopsFor: StopsFor,
): Promise<readonly string[] | null> {
  if (stopsFor === 'any' || !isIsolated(reason)) return [];
  return stopsFor === 'several' ? readFailureSeries(db, migrationId, reason) : null;
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
    await reportStop(db, migrationId, { stop: 'too-many-failures', numbers });
    await pauseForProblem(db, migrationId);
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

interface WorkerPoolOptions<Item, Result> {
  /**
   * Takes the next items; empty if there are none right now.
   *
   * @param inFlight the number of items that have been taken but not written
   */
  readonly take: (inFlight: number) => Promise<NextItems<Item>>;
  readonly handle: (item: Item) => Promise<Result>;
  /** Writes results. Returns false to stop taking items. */
  readonly write: (results: readonly Result[]) => Promise<boolean>;
}

interface NextItems<Item> {
  readonly items: readonly Item[];
  /** The pool's concurrency from now on. */
  readonly concurrency: number;
  /**
   * When `take` is called again, even if no result has been written and more than half of the slots are busy. Epoch
   * milliseconds; 0: only after the next write.
   */
  readonly nextTakeAt: number;
}

const WRITE_WITHIN_MS = 200;

/**
 * Runs the pool until it has ended.
 *
 * @throws the first error of `handle`, `take` or `write`
 */
export async function runWorkerPool<Item, Result>({
  take,
  handle,
  write,
}: WorkerPoolOptions<Item, Result>): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let results: Result[] = [];
  let concurrency = 1;
  let nextTakeAt = 0;
  let isDraining = false;
  let failure: { readonly reason: unknown } | undefined;
  let onItemEnd = (): void => undefined;

  function begin(item: Item): void {
    const work = handle(item)
      .then(
        (result) => void results.push(result),
        (reason: unknown) => void (failure ??= { reason }),
      )
      .finally(() => {
        inFlight.delete(work);
        onItemEnd();
      });
    inFlight.add(work);
  }

  function canTake(): boolean {
    if (isDraining || failure) return false;
    const isDue = nextTakeAt > 0 && Date.now() >= nextTakeAt;
    return inFlight.size <= concurrency / 2 || (isDue && inFlight.size < concurrency);
  }

  /** Waits until results are worth writing, or until the next items can be taken. */
  async function untilNextStep(): Promise<void> {
    let writeTimer: NodeJS.Timeout | undefined;
    let takeTimer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const takeInMs = nextTakeAt - Date.now();
      if (takeInMs > 0 && !isDraining && !failure) takeTimer = setTimeout(resolve, takeInMs);
      onItemEnd = () => {
        if (inFlight.size === 0 || results.length >= concurrency / 2) setImmediate(resolve);
        else if (results.length > 0) writeTimer ??= setTimeout(resolve, WRITE_WITHIN_MS);
      };
      onItemEnd();
    });
    clearTimeout(writeTimer);
    clearTimeout(takeTimer);
  }

  try {
    for (;;) {
      const group = results;
      results = [];
      if (group.length > 0 && !(await write(group))) isDraining = true;
      if (canTake()) {
        // Results that arrived during the write still occupy their slots.
        const taken = await take(inFlight.size + results.length);
        ({ concurrency, nextTakeAt } = taken);
        taken.items.forEach(begin);
      }
      if (inFlight.size === 0 && results.length === 0) break;
      await untilNextStep();
    }
  } finally {
    await Promise.all(inFlight);
  }
  if (failure) throw failure.reason;
}
