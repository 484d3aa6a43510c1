/**
 * Slices. A slice is the part of a run that one activity works through. It takes companies in groups, handles several
 * at once (worker-pool.ts) and writes their outcomes to the ledger in groups.
 *
 * `runSlice` is the loop that import and verification share. It ends when no company is left to take, its time is up,
 * the activity is cancelled, an outcome stops the run, the limits no longer tolerate the failures, or the circuit
 * breaker opens. Companies in flight are finished, and their outcomes are written unless a call to the ledger fails.
 */
import { setMaxListeners } from 'node:events';
import { cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import type { StopReason } from '../../domain/companies/failures';
import type { MigrationLimits } from '../../domain/planning/limits';
import { exceedsTolerance } from '../../domain/planning/limits';
import { paceOf } from '../../domain/planning/pacing';
import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import type { CheckOutcome, ClaimedCompany, Database, DueCompany, ImportOutcome, LeaseOwner } from '../../store';
import {
  beginSlice,
  claimCompanies,
  countFailures,
  createSendIntents,
  readDueChecks,
  readLimits,
  readMigration,
  readVault,
  reclaimSent,
  recordChecks,
  recordImports,
  releaseUnsent,
  setPaused,
} from '../../store';
import type { ActivityDeps } from '../deps';
import type { OpenCircuit } from './circuit-breaker';
import { createCircuitBreaker } from './circuit-breaker';
import type { ImportContext } from './import';
import { CompanyImport } from './import';
import { verifyCompany } from './verify';
import { runWorkerPool } from './worker-pool';

/** Why a slice ended early. */
interface SliceEnd {
  readonly stop: StopReason | null;
  /** The outage that ended the slice; null if there was none. */
  readonly outage: OpenCircuit | null;
}

/** The parts in which the import and the verification differ. */
interface SliceSteps<Item, Outcome> {
  /** Returns how many companies the limits allow at once. */
  concurrencyOf(limits: MigrationLimits): number;
  /** Waits until the next group may be taken. Called before the limits are read. */
  beforeTake?(inFlight: number): Promise<void>;
  take(size: number, limits: MigrationLimits): Promise<readonly Item[]>;
  handle(item: Item): Promise<{
    readonly outcome: Outcome;
    readonly stop: StopReason | null;
    readonly deferredBy?: string;
  }>;
  write(outcomes: readonly Outcome[]): Promise<void>;
}

async function runSlice<Item, Outcome extends ImportOutcome | CheckOutcome>(
  { db, sliceTimeLimitMs }: ActivityDeps,
  migrationId: string,
  steps: SliceSteps<Item, Outcome>,
): Promise<SliceEnd> {
  const endsAt = Date.now() + sliceTimeLimitMs;
  const signal = cancellationSignal();
  const breaker = createCircuitBreaker();
  const pauseIfTooManyFailed = watchTolerance(db, migrationId);
  let concurrency = 1;
  let stop: StopReason | null = null;

  await withHeartbeats(() =>
    runWorkerPool<Item, Awaited<ReturnType<typeof steps.handle>>>({
      take: async (inFlight) => {
        await steps.beforeTake?.(inFlight);
        // Read again for every group, because limits can change during a run.
        const { limits } = await readLimits(db, migrationId);
        concurrency = steps.concurrencyOf(limits);
        const size = concurrency - inFlight;
        const isOver = Date.now() >= endsAt || signal.aborted;
        return { items: isOver || size <= 0 ? [] : await steps.take(size, limits), concurrency };
      },
      handle: (item) => steps.handle(item),
      write: async (handled) => {
        const outcomes = handled.map(({ outcome }) => outcome);
        await steps.write(outcomes);
        for (const { deferredBy = null } of handled) breaker.record(deferredBy);
        stop ??= handled.find((each) => each.stop !== null)?.stop ?? null;
        if (stop === null && (await pauseIfTooManyFailed(outcomes))) stop = 'too-many-failures';
        return stop === null && !breaker.isOpen(concurrency);
      },
    }),
  );
  return { stop, outage: breaker.report(concurrency) };
}

export interface SliceWork {
  readonly migrationId: string;
  readonly run: string;
  readonly slice: number;
  /** The only row to import; null if any row can be imported. */
  readonly onlyRow: number | null;
}

export interface SliceResult extends SliceEnd {
  readonly claimed: number;
}

/** How often a slice looks for companies whose attempt has died. It first does so when it begins. */
const RECLAIM_EVERY_MS = 1_000;

/** Claims and imports companies. */
export async function importSlice(deps: ActivityDeps, work: SliceWork): Promise<SliceResult> {
  const { db, sendWithinMs } = deps;
  const { migrationId, slice, onlyRow } = work;
  const owner = await beginSlice(db, { ...work, leaseMs: deps.leaseMs });
  const context = await createImportContext(deps, owner);
  let claimed = 0;
  /** No company is claimed before this time, because the limits set a pace. Epoch milliseconds. */
  let nextClaimAt = 0;
  let nextReclaimAt = 0;

  async function nextCompanies(size: number): Promise<readonly ClaimedCompany[]> {
    if (Date.now() >= nextReclaimAt) {
      const reclaimed = await reclaimSent(db, owner, size);
      // Reclaimed companies go first, because they were claimed before all others.
      if (reclaimed.length > 0) return reclaimed;
      await releaseUnsent(db, owner);
      nextReclaimAt = Date.now() + RECLAIM_EVERY_MS;
    }
    return claimCompanies(db, owner, size, onlyRow);
  }

  const end = await runSlice<{ company: ClaimedCompany; sendBefore: Date }, ImportOutcome>(deps, migrationId, {
    concurrencyOf: ({ companiesPerSliceAtOnce }) => companiesPerSliceAtOnce,
    beforeTake: async (inFlight) => {
      // Waits only if no company is in flight, because outcomes must be written first.
      if (inFlight === 0 && Date.now() < nextClaimAt) await sleep(nextClaimAt - Date.now());
    },
    take: async (size, limits) => {
      const pace = paceOf(limits);
      const isSurplus = onlyRow === null && slice > pace.slices;
      if (isSurplus || Date.now() < nextClaimAt) return [];
      // Read before the claim, so that the deadline is never later than the lease allows.
      const claimedAt = Date.now();
      const companies = await nextCompanies(Math.min(size, pace.companies));
      claimed += companies.length;
      nextClaimAt = claimedAt + companies.length * pace.waitMs;
      const sendBefore = new Date(claimedAt + sendWithinMs);
      return companies.map((company) => ({ company, sendBefore }));
    },
    handle: ({ company, sendBefore }) => new CompanyImport({ ...context, sendBefore }, company).run(),
    write: async (outcomes) => {
      await recordImports(db, owner, outcomes);
      heartbeat({ claimed });
    },
  });
  return { claimed, ...end };
}

async function createImportContext(deps: ActivityDeps, owner: LeaseOwner): Promise<Omit<ImportContext, 'sendBefore'>> {
  const { db, keys, service } = deps;
  const { migrationId } = owner;
  return {
    migrationId,
    platform: await platformOf(db, migrationId),
    service,
    vault: await readVault(db, keys, migrationId),
    signal: sharedSignal(),
    recordSendIntent: createSendIntents(db, owner),
  };
}

export interface CheckWork {
  readonly migrationId: string;
  /** The only row to check; null if any row can be checked. */
  readonly onlyRow: number | null;
  /** True to count and time every data set; see `Verification`. */
  readonly everyDataSet: boolean;
}

export interface CheckResult extends SliceEnd {
  /** The number of companies that are no longer syncing. */
  readonly finished: number;
}

/** Verifies every company whose next check is due, as many at once as all slices together can import. */
export async function verifySlice(deps: ActivityDeps, work: CheckWork): Promise<CheckResult> {
  const { db, service } = deps;
  const { migrationId, onlyRow, everyDataSet } = work;
  const platform = await platformOf(db, migrationId);
  const signal = sharedSignal();
  /** The rows that are being checked. The ledger lists them as due until their outcomes have been written. */
  const rowsInFlight = new Set<number>();
  let finished = 0;

  const end = await runSlice<{ company: DueCompany; syncTimeoutMs: number }, CheckOutcome>(deps, migrationId, {
    concurrencyOf: ({ slicesAtOnce, companiesPerSliceAtOnce }) => slicesAtOnce * companiesPerSliceAtOnce,
    take: async (size, { syncTimeoutMs }) => {
      const due = await readDueChecks(db, migrationId, { size, onlyRow, without: [...rowsInFlight] });
      for (const { row } of due) rowsInFlight.add(row);
      return due.map((company) => ({ company, syncTimeoutMs }));
    },
    handle: ({ company, syncTimeoutMs }) =>
      verifyCompany({ service, platform, syncTimeoutMs, everyDataSet, signal }, company),
    write: async (outcomes) => {
      await recordChecks(db, migrationId, outcomes);
      for (const { row } of outcomes) rowsInFlight.delete(row);
      finished += outcomes.filter(({ to }) => to !== 'syncing').length;
      heartbeat({ finished });
    },
  });
  return { finished, ...end };
}

/**
 * Maximum number of tried companies that the first check counts. All failed companies are counted in any case, so
 * counting more tried companies can only lower the failure rate.
 */
const SAMPLE = 1_000;

/**
 * Returns a function that pauses the migration if the limits no longer tolerate its failures, and returns whether it
 * did. After its first call, the function queries the ledger only if it has seen a failure.
 */
function watchTolerance(db: Database, migrationId: string) {
  // Initially true, because companies of other slices may have failed.
  let someFailed = true;
  return async (outcomes: readonly (ImportOutcome | CheckOutcome)[]): Promise<boolean> => {
    someFailed ||= outcomes.some(({ to }) => to === 'failed' || to === 'outcome-unknown');
    if (!someFailed) return false;
    const { limits } = await readLimits(db, migrationId);
    const sample = await countFailures(db, migrationId, SAMPLE);
    someFailed = sample.failed > 0;
    if (!exceedsTolerance(limits, sample)) return false;
    if (!exceedsTolerance(limits, await countFailures(db, migrationId))) return false;
    await setPaused(db, migrationId, true);
    return true;
  };
}

async function platformOf(db: Database, migrationId: string): Promise<Platform> {
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger, or its platform is unknown`);
  return platform;
}

/** Returns the activity's cancellation signal, and keeps Node from warning that it has many listeners. */
function sharedSignal(): AbortSignal {
  const signal = cancellationSignal();
  setMaxListeners(0, signal);
  return signal;
}

const HEARTBEAT_EVERY_MS = 5_000;

/** Sends heartbeats during the work, because a single group can take longer than the heartbeat timeout. */
async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
