/** Groups of companies: claimed, imported or looked at side by side, and written to the ledger together. */
import { cancellationSignal, heartbeat, sleep } from '@temporalio/activity';
import type { StopReason } from '../domain/failures';
import type { MigrationLimits } from '../domain/limits';
import { exceedsTolerance } from '../domain/limits';
import type { Platform } from '../domain/platforms';
import { findPlatform } from '../domain/platforms';
import type { Ahead, Claimant } from '../store';
import {
  beginSlice,
  claimGroup,
  countFailures,
  lendDue,
  lookAhead,
  noteSending,
  readLimits,
  readMigration,
  readVault,
  recordChecks,
  recordImports,
  setPaused,
  takeOverStalled,
} from '../store';
import type { Crossing } from './import-company';
import { importCompany } from './import-company';
import type { ActivityDeps } from './deps';
import { verifyCompany } from './verify-company';

/** An activity gives its slot back after this long, even if more is to be done. */
const LONGEST_MS = 5 * 60_000;
const HEARTBEAT_EVERY_MS = 5_000;

export interface SliceWork {
  readonly migrationId: string;
  readonly run: string;
  readonly slice: number;
  readonly onlyRow: number | null;
}

export interface SliceResult {
  readonly claimed: number;
  readonly stop: StopReason | null;
}

/** Claims and imports group after group until nothing can be claimed, something stops it, or its time is over. */
export async function importGroups(deps: ActivityDeps, work: SliceWork): Promise<SliceResult> {
  const { db } = deps;
  const until = Date.now() + LONGEST_MS;
  let claimed = 0;
  const claimant = await beginSlice(db, { ...work, holdForMs: deps.stalledAfterMs });
  const crossing = await openCrossing(deps, claimant);
  return alive(async () => {
    while (Date.now() < until && !crossing.signal.aborted) {
      // Before the claim, so that it is early rather than late.
      const sendBefore = new Date(Date.now() + deps.sendWithinMs);
      const startedAt = Date.now();
      // Read for every group: they may be changed while a run is under way.
      const { limits } = await readLimits(db, work.migrationId);
      if (work.onlyRow === null && work.slice > limits.slicesAtOnce) break;
      const group = await nextGroup(deps, claimant, work, limits.companiesPerSliceAtOnce);
      if (group.companies.length === 0) break;
      claimed += group.companies.length;
      const walks = await Promise.allSettled(
        group.companies.map((company) => importCompany({ ...crossing, sendBefore }, company, group.takenOver)),
      );
      // One that was broken off does not take the others' outcomes with it.
      const imported = walks.flatMap((walk) => (walk.status === 'fulfilled' ? [walk.value] : []));
      await recordImports(
        db,
        claimant,
        imported.map(({ outcome }) => outcome),
      );
      const broken = walks.find((walk) => walk.status === 'rejected');
      if (broken) throw broken.reason;
      const stop = imported.find((each) => each.stop !== null)?.stop ?? null;
      if (stop !== null) return { claimed, stop };
      if (await tooManyFailed(deps, work.migrationId)) return { claimed, stop: 'too-many-failures' };
      heartbeat({ claimed });
      await keepPace(limits, group.companies.length, startedAt);
    }
    return { claimed, stop: null };
  });
}

/** Whether the plan tolerates what has failed; if not, nothing more is claimed until somebody has decided. */
async function tooManyFailed({ db }: ActivityDeps, migrationId: string): Promise<boolean> {
  const { limits } = await readLimits(db, migrationId);
  if (!exceedsTolerance(limits, await countFailures(db, migrationId))) return false;
  await setPaused(db, migrationId, true);
  return true;
}

/** Where the plan says how many companies may be started in a minute, each slice takes its part of them. */
async function keepPace(
  { companiesPerMinute, slicesAtOnce }: MigrationLimits,
  started: number,
  startedAt: number,
): Promise<void> {
  if (companiesPerMinute === null) return;
  const takesMs = (started * slicesAtOnce * 60_000) / companiesPerMinute;
  const waitMs = startedAt + takesMs - Date.now();
  if (waitMs > 0) await sleep(Math.min(waitMs, LONGEST_MS));
}

/** Companies whose attempt died come first: they are dark already. */
async function nextGroup({ db }: ActivityDeps, claimant: Claimant, { onlyRow }: SliceWork, atOnce: number) {
  const stalled = await takeOverStalled(db, claimant, atOnce);
  if (stalled.length > 0) return { companies: stalled, takenOver: true };
  return { companies: await claimGroup(db, claimant, atOnce, onlyRow), takenOver: false };
}

async function platformOf({ db }: ActivityDeps, migrationId: string): Promise<Platform> {
  const migration = await readMigration(db, migrationId);
  const platform = migration && findPlatform(migration.platformKey);
  if (!platform) throw new Error(`migration ${migrationId} is not in the ledger`);
  return platform;
}

async function openCrossing(deps: ActivityDeps, claimant: Claimant): Promise<Omit<Crossing, 'sendBefore'>> {
  const { db, keys, service } = deps;
  const { migrationId } = claimant;
  const platform = await platformOf(deps, migrationId);
  const vault = await readVault(db, keys, migrationId);
  return {
    migrationId,
    platform,
    service,
    vault,
    signal: cancellationSignal(),
    noteSending: (row) => noteSending(db, claimant, row),
  };
}

export interface CheckWork {
  readonly migrationId: string;
  readonly onlyRow: number | null;
  /** Whether each data set is counted and timed. */
  readonly everyDataSet: boolean;
}

export interface CheckResult {
  readonly settled: number;
  readonly stop: StopReason | null;
}

/** Looks at every company whose next look is due. */
export async function checkDue(deps: ActivityDeps, work: CheckWork): Promise<CheckResult> {
  const { db, service } = deps;
  const { migrationId, onlyRow, everyDataSet } = work;
  const platform = await platformOf(deps, migrationId);
  const signal = cancellationSignal();
  const until = Date.now() + LONGEST_MS;
  let settled = 0;
  return alive(async () => {
    while (Date.now() < until && !signal.aborted) {
      const { limits } = await readLimits(db, migrationId);
      const due = await lendDue(db, migrationId, limits.companiesPerSliceAtOnce, deps.lookWithinMs, onlyRow);
      if (due.length === 0) break;
      const { syncTimeoutMs } = limits;
      const verification = { service, platform, syncTimeoutMs, everyDataSet, signal };
      const verified = await Promise.all(due.map((company) => verifyCompany(verification, company)));
      await recordChecks(
        db,
        migrationId,
        verified.map(({ outcome }) => outcome),
      );
      settled += verified.filter(({ outcome }) => outcome.to !== 'syncing').length;
      const stop = verified.find((each) => each.stop !== null)?.stop ?? null;
      if (stop !== null) return { settled, stop };
      if (await tooManyFailed(deps, migrationId)) return { settled, stop: 'too-many-failures' };
      heartbeat({ settled });
    }
    return { settled, stop: null };
  });
}

export async function whatIsAhead({ db }: ActivityDeps, migrationId: string): Promise<Ahead> {
  return lookAhead(db, migrationId);
}

/** The server takes a silent activity for dead; a group may take longer than it is patient. */
async function alive<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
